#include "driver/pipeline.h"

#include <algorithm>

#include "graph/infer.h"
#include "support/check.h"

namespace hone {
namespace {

struct Pass {
  std::string name;
  PassReport (*run)(Graph&, const OptimizeOptions&);
};

const std::vector<Pass>& passes() {
  static const std::vector<Pass> kPasses = {
      {"remove_dead_code", [](Graph& g, const OptimizeOptions&) { return remove_dead_code(g); }},
      {"forward_identities",
       [](Graph& g, const OptimizeOptions&) { return forward_identities(g); }},
      {"fold_constants",
       [](Graph& g, const OptimizeOptions& o) { return fold_constants(g, o.fold); }},
      {"merge_common_nodes",
       [](Graph& g, const OptimizeOptions&) { return merge_common_nodes(g); }},
  };
  return kPasses;
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : passes()) names.push_back(pass.name);
  return names;
}

Result<OptimizeReport> optimize(Model& model, const OptimizeOptions& options) {
  const std::vector<std::string> names = pass_names();
  for (const std::string& name : options.disabled) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::string known;
    for (const std::string& pass : names) known += (known.empty() ? "" : ", ") + pass;
    return fail(ErrorKind::kInvalid, "--disable", "there is no pass " + name, "one of: " + known);
  }
  OptimizeReport report;
  for (const std::string& name : names) report.passes.push_back({name, 0, 0});
  for (bool changed = true; changed && report.rounds < options.max_rounds; ++report.rounds) {
    changed = false;
    for (size_t i = 0; i < passes().size(); ++i) {
      const Pass& pass = passes()[i];
      if (options.disabled.contains(pass.name)) continue;
      const PassReport step = pass.run(model.graph, options);
      report.passes[i].changed += step.changed;
      report.passes[i].seconds += step.seconds;
      changed = changed || step.changed > 0;
      const Errors problems = verify(model.graph);
      HONE_CHECK(problems.empty(), pass.name + " broke the graph: " + problems[0].to_string());
      if (options.after_pass) options.after_pass(pass.name, model.graph);
    }
    // Folded shapes may make more meanings and types known. What was right stays right.
    if (changed) {
      const Errors problems = infer(model.graph);
      HONE_CHECK(problems.empty(), "passes broke a type: " + problems[0].to_string());
    }
  }
  return report;
}

}  // namespace hone
