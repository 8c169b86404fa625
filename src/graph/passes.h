// Clean-up of graphs that never changes a result: each pass says what it did.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

struct PassReport {
  std::string pass;
  size_t changed = 0;  // nodes removed, merged or folded
  double seconds = 0;
};

// Removes nodes whose results nobody reads.
PassReport remove_dead_code(Graph& graph);
// Merges nodes with the same operator, attributes and inputs, and equal small constants.
PassReport merge_common_nodes(Graph& graph);
// Replaces Identity and inference-time Dropout by their input, where names of I/O allow it.
PassReport forward_identities(Graph& graph);

struct FoldOptions {
  size_t max_bytes = 1 << 20;   // never makes a constant larger than this ...
  double max_growth = 1.0;      // ... or than this factor of the bytes it replaces, if more
  bool keep_dequantize = true;  // DequantizeLinear of constants stays: it saves memory
  double max_steps = 1e9;       // evaluations of a scalar; whoever runs the model has more time
};
// Evaluates nodes whose inputs are all constant.
PassReport fold_constants(Graph& graph, const FoldOptions& options = {});

}  // namespace hone
