// Runs a graph on the reference engine, node by node, in any domain of numbers.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "expr/evaluate.h"
#include "graph/graph.h"

namespace hone {

struct InterpretOptions {
  EvaluateOptions evaluate;
  std::function<void(size_t done, size_t all)> progress;  // may be null
  std::function<bool()> cancelled;                        // may be null
  const std::map<std::string, Buffer>* outer = nullptr;   // values of the graph around this one
  bool allow_absent_inputs = false;                       // bodies of functions
};

// Inputs in the order of graph.inputs() (an empty handle takes the input's default), given in
// their native types; outputs in order, in the domain's storage types.
[[nodiscard]] Result<std::vector<Buffer>> interpret(const Graph& graph,
                                                    std::span<const Buffer> inputs,
                                                    const InterpretOptions& options = {});

// One node on given operands (empty handle: absent).
[[nodiscard]] Result<std::vector<Buffer>> interpret_node(const Graph& graph, const Node& node,
                                                         std::span<const Buffer> operands,
                                                         const InterpretOptions& options);

}  // namespace hone
