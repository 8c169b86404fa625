// A model: a graph and what its file says about it, kept so that export gives it back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

struct Model {
  Graph graph;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;  // domain -> version
  std::string producer_name, producer_version, domain, doc;
  int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> functions;  // FunctionProtos that remain (not inlined), as bytes
  std::string unknown_fields;          // what the reader did not interpret, as bytes
};

}  // namespace hone
