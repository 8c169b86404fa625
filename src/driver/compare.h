// Do two models give the same answers? Interface first, then outputs on random and boundary
// inputs, computed in float64.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/inputs.h"
#include "expr/evaluate.h"
#include "graph/model.h"

namespace hone {

// Largest difference of one output over all trials.
struct OutputDifference {
  std::string output;
  double max_absolute = 0;
  double max_relative = 0;  // relative to the largest magnitude of the reference output
  std::string worst;        // "trial 'zeros', element 17: 0.5 and 0.25"
  bool non_finite = false;  // infinities or NaNs that do not agree
};

struct Comparison {
  Errors interface;  // differences of inputs and outputs
  std::vector<OutputDifference> outputs;
  int trials = 0;
};

struct CompareOptions {
  int random_trials = 2;
  bool boundary_trials = true;  // zeros, ones, large, tiny
  uint64_t seed = 0;
  InputOptions inputs;  // shapes and symbols
  Domain domain = Domain::kDouble;
  std::function<void(const std::string& what, size_t done, size_t all)> progress;
  std::function<bool()> cancelled;
};

[[nodiscard]] Result<Comparison> compare(const Model& a, const Model& b,
                                         const CompareOptions& options = {});

// Adds the differences of two buffers to `into`; both may be of any numeric type.
void add_difference(const Buffer& reference, const Buffer& other, const std::string& trial,
                    OutputDifference& into);

}  // namespace hone
