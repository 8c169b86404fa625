#include "expr/vm/plan.h"
#include "expr/vm/plan_scan.h"
#include "tensor/buffer.h"

namespace hone::vm {
namespace {

// A Failure when they are negative, or too many points to count.
std::vector<int64_t> extents_of(const std::vector<Axis>& axes) {
  std::vector<int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(number(axis.extent));
  (void)checked_count(extents);
  return extents;
}

StageResult result_of(const Environment& environment, const Stage& stage, Linear address) {
  const TensorDecl& tensor = environment.expr.tensors[static_cast<size_t>(stage.result)];
  return {stage.result, compute_type(tensor.type, environment.numbers), std::move(address)};
}

PlanRef plan_map_stage(const Environment& environment, const Stage& stage, const Region* region) {
  Nest nest;
  nest.outputs = extents_of(stage.axes);
  nest.reductions = extents_of(stage.reduce);
  nest.bodies = {stage.body};
  nest.combiner = stage.combiner;
  nest.may_split = !is_arg(stage.combiner);
  nest.result_strides = row_major_strides(nest.outputs);
  if (region) {
    nest.begins = region->begin;
    for (size_t d = 0; d < nest.outputs.size(); ++d)
      nest.outputs[d] = region->end[d] - region->begin[d];
  }
  LoweredNest lowered = lower_nest(environment, nest);
  StageResult result = result_of(environment, stage, std::move(lowered.address));
  if (stage.combiner == Combiner::kNone)
    return plan_map(std::move(lowered.code), std::move(result));
  if (stage.combiner == Combiner::kSum)
    if (PlanRef contract = plan_contract(lowered.code, result)) return contract;
  return plan_reduce(std::move(lowered.code), std::move(result), stage.combiner);
}

// A scatter: its base, then its updates.
class ScatterPlan final : public Plan {
 public:
  ScatterPlan(PlanRef base, PlanRef updates)
      : base_(std::move(base)), updates_(std::move(updates)) {}
  void run(RunState& state) const override {
    base_->run(state);
    updates_->run(state);
  }
  [[nodiscard]] std::string to_string() const override {
    return base_->to_string() + updates_->to_string();
  }

 private:
  PlanRef base_, updates_;
};

PlanRef plan_scatter(const Environment& environment, const Stage& stage) {
  Nest base;
  base.outputs = extents_of(stage.axes);
  base.bodies = {stage.body};
  base.result_strides = row_major_strides(base.outputs);
  LoweredNest lowered_base = lower_nest(environment, base);

  Nest updates;
  updates.first_axis = static_cast<int>(stage.axes.size());
  updates.outputs = extents_of(stage.reduce);
  updates.bodies = {stage.update};
  updates.targets = stage.target;
  updates.may_split = false;
  LoweredNest lowered_updates = lower_nest(environment, updates);

  return std::make_unique<ScatterPlan>(
      plan_map(std::move(lowered_base.code),
               result_of(environment, stage, std::move(lowered_base.address))),
      plan_updates(std::move(lowered_updates.code), result_of(environment, stage, {}), base.outputs,
                   stage.combiner));
}

}  // namespace

PlanRef plan_stage(const Environment& environment, const Stage& stage, const Region* region) {
  switch (stage.kind) {
    case Stage::Kind::kMap:
      return plan_map_stage(environment, stage, region);
    case Stage::Kind::kScatter:
      return plan_scatter(environment, stage);
    case Stage::Kind::kScan:
      return plan_scan(environment, stage);
  }
  return nullptr;
}

}  // namespace hone::vm
