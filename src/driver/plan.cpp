// The steps of a plan, one after the other.
#include "driver/plan.h"

#include <set>

#include "driver/planner.h"
#include "tune/algorithms.h"

namespace hone {

Result<std::shared_ptr<Plan>> Planner::run() {
  separate_outputs();
  choose_algorithms(program_, options_.cpu, {options_.threads, options_.winograd});
  storage_ = choose_storage(program_);
  if (Result<void> added = add_ops(program_.ops, {}, {}); !added)
    return std::unexpected(std::move(added.error()));
  place_everything();
  return plan_;
}

void Planner::separate_outputs() {
  std::set<int> seen;
  for (int& output : program_.outputs) {
    if (tensor(output).kind == ProgramTensor::Kind::kResult && seen.insert(output).second) continue;
    ProgramTensor copy = tensor(output);
    copy.kind = ProgramTensor::Kind::kResult;
    copy.constant = {};
    copy.is_output = true;
    Op op;
    op.label = "copy to output";
    op.extents = copy.dims;
    op.outputs = op.extents.size();
    std::vector<Index> at;
    for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
    op.writes.push_back(
        {static_cast<int>(program_.tensors.size()), at, Scalar::read(copy.type, output, at)});
    output = static_cast<int>(program_.tensors.size());
    program_.tensors.push_back(std::move(copy));
    program_.ops.push_back(std::move(op));
  }
}

Result<void> Planner::add_ops(const std::vector<Op>& ops, const std::vector<int64_t>& steps,
                              const Renaming& renaming) {
  for (const Group& group : group_ops(program_, storage_, ops)) {
    const Op& first = ops[group.ops[0]];
    Result<void> added = first.scan                    ? add_scan(*first.scan, steps, renaming)
                         : first.host_graph != nullptr ? add_host(first, renaming)
                                                       : add_kernel(ops, group, steps, renaming);
    if (!added) return added;
  }
  return {};
}

Result<void> Planner::add_host(const Op& op, const Renaming& renaming) {
  Draft draft;
  draft.step.label = op.label;
  draft.step.host = op.host;
  draft.step.host_graph = op.host_graph;
  plan_->host_notes.push_back(op.label + ": " + op.why_host);
  const auto add = [&](int id, std::vector<TensorType>& types) {
    if (id < 0) {
      types.emplace_back();
      return;
    }
    const auto at = renaming.find(id);
    const int actual = at == renaming.end() ? id : at->second;
    types.push_back({tensor(actual).type, to_shape(tensor(actual).dims)});
    draft.arguments.push_back(argument(actual));
  };
  for (const int id : op.host_inputs) add(id, draft.step.host_inputs);
  for (const int id : op.host_outputs) add(id, draft.step.host_outputs);
  drafts_.push_back(std::move(draft));
  return {};
}

Result<std::shared_ptr<Plan>> make_plan(TensorProgram program, std::shared_ptr<const Graph> graph,
                                        const CompileOptions& options) {
  return Planner(std::move(program), std::move(graph), options).run();
}

}  // namespace hone
