// Inputs to try a model with: seeded random ones, and boundary cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone {

enum class InputStyle : uint8_t {
  kNormal,  // floats from N(0, 1); integers within what their readers allow
  kZeros,
  kOnes,
  kLarge,  // floats up to 100 in magnitude
  kTiny,   // floats around 1e-4, alternating signs
};

struct InputOptions {
  InputStyle style = InputStyle::kNormal;
  uint64_t seed = 0;
  std::map<std::string, std::vector<int64_t>> shapes;  // per input; else symbols are 1
  std::map<std::string, int64_t> symbols;              // values of symbolic dimensions
};

// One buffer per graph input; empty handles for inputs that have a default. Integer inputs that
// select rows of a tensor stay below its extent, as the graph's expressions say.
[[nodiscard]] Result<std::vector<Buffer>> make_inputs(const Graph& graph,
                                                      const InputOptions& options);

}  // namespace hone
