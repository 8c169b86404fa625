// Types, shapes and meanings of all nodes, read off their tensor expressions.
#pragma once

#include "graph/graph.h"

namespace hone {

// Operands of a node as an operator definition sees them.
[[nodiscard]] std::vector<OperandInfo> operands_of(const Graph& graph, const Node& node);

// Sets type, dims, meaning and why_opaque of everything in order. Recorded types fill in where an
// expression is missing; dimensions that nobody knows become fresh symbols. A node that is wrong
// for its inputs is an error; all of them are returned.
[[nodiscard]] Errors infer(Graph& graph);

}  // namespace hone
