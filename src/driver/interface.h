// Inputs and outputs of a model, and the shapes for which it is compiled.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {

using InputShapes = std::map<std::string, std::vector<int64_t>>;

struct InterfaceValue {
  std::string name;
  TensorType type;
  Buffer default_value;  // of an input that may be left out
};

// The inputs, with some shapes and symbolic dimensions fixed. Only tensors of numbers are taken.
[[nodiscard]] Result<std::vector<InterfaceValue>> fixed_inputs(
    const Graph& graph, const InputShapes& shapes, const std::map<std::string, int64_t>& symbols);
[[nodiscard]] std::vector<InterfaceValue> outputs_of(const Graph& graph);

// The shapes as numbers; an error names the first dimension that is open.
[[nodiscard]] Result<InputShapes> concrete_shapes(const std::vector<InterfaceValue>& inputs);

// "x, y, z"
[[nodiscard]] std::string names_of(const std::vector<InterfaceValue>& values);

}  // namespace hone
