// What is in a model: interface, operators, work, parameters, and what hone cannot see through.
#pragma once

#include <string>
#include <vector>

#include "graph/model.h"

namespace hone {

struct OperatorCount {
  std::string op;
  size_t count = 0;
  Dim flops;  // symbolic where shapes are
};

struct OpaqueNode {
  std::string node, op, reason;
};

struct Inspection {
  std::vector<std::string> inputs, outputs;  // "input: f32[1, 3, 224, 224]"
  std::vector<OperatorCount> operators;      // most work first
  std::vector<OpaqueNode> opaque;
  size_t nodes = 0;
  Dim flops;
  int64_t parameters = 0;
  size_t parameter_bytes = 0;
};

[[nodiscard]] Inspection inspect(const Model& model);

}  // namespace hone
