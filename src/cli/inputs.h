// Inputs of a run from the command line: files, shapes, a seed.
#pragma once

#include <string>
#include <vector>

#include "cli/common.h"
#include "graph/graph.h"
#include "tensor/buffer.h"

namespace hone::cli {

struct InputArguments {
  std::vector<std::string> files;  // NAME=FILE.npy
  ShapeOptions shapes;
  uint64_t seed = 0;

  void add_to(CLI::App& app);
  // One buffer per input of the graph; those that are not given are drawn.
  [[nodiscard]] Result<std::vector<Buffer>> gather(const Graph& graph) const;
};

}  // namespace hone::cli
