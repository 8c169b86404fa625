// The way of a model from file to file. Every pass has a name, can be switched off by it, is
// timed, and is followed by a verifier.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/model.h"
#include "graph/passes.h"

namespace hone {

struct OptimizeOptions {
  std::set<std::string> disabled;  // passes that are left out
  FoldOptions fold;
  int max_rounds = 8;  // the passes are repeated until nothing changes
  std::function<void(const std::string& pass, const Graph&)> after_pass;  // dumps; may be null
};

struct OptimizeReport {
  std::vector<PassReport> passes;  // summed over the rounds, in order
  int rounds = 0;
};

// Names of all passes, in order.
[[nodiscard]] std::vector<std::string> pass_names();

// An unknown name in `disabled` is an error.
[[nodiscard]] Result<OptimizeReport> optimize(Model& model, const OptimizeOptions& options = {});

}  // namespace hone
