// Kernels, each built once for all steps with the same code.
#include <algorithm>

#include "driver/planner.h"
#include "loop/verify.h"
#include "support/check.h"
#include "tune/choose.h"

namespace hone {
namespace {

double flops_of(const Scalar& scalar) {
  double flops = 0;
  visit(scalar, [&](const ScalarNode& node) {
    if (node.kind == ScalarNode::Kind::kApply) flops += info_of(node.fn).flops;
  });
  return flops;
}

double flops_of(const Op& op) {
  double points = 1;
  double results = 1;
  for (size_t i = 0; i < op.extents.size(); ++i) {
    points *= static_cast<double>(op.extents[i]);
    if (i < op.outputs) results *= static_cast<double>(op.extents[i]);
  }
  double total = op.reduces() ? points * (1 + flops_of(op.body)) : 0;
  for (const Op::Write& write : op.writes)
    total += results * (flops_of(write.value) + flops_of(write.inner));
  return total;
}

}  // namespace

const Planner::Built& Planner::build(Kernel& kernel) {
  const Schedule schedule = choose(kernel, options_.cpu, {options_.threads});
  const std::string key = to_text(kernel) + to_text(schedule);
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  const auto number = static_cast<int>(plan_->kernels.size());
  Lowered lowered = lower(kernel, schedule, "kernel_" + std::to_string(number));
  if (const Errors problems = loop::verify(lowered.function); !problems.empty())
    throw Failure{{ErrorKind::kUnsupported, "kernel " + std::to_string(number),
                   "is not correct: " + problems[0].to_string(),
                   "this is an error of hone: please report it"}};
  Built built;
  built.number = number;
  built.arguments = std::move(lowered.arguments);
  built.packed = std::move(lowered.packed);
  const loop::Expr tasks = task_count(lowered.function);
  HONE_CHECK(tasks.is_integer(), "shapes are known");
  built.tasks = tasks->integer;
  plan_->scratch_bytes = std::max(plan_->scratch_bytes, scratch_bytes(lowered.function));
  if (options_.dump) {
    options_.dump("kernels", "# kernel_" + std::to_string(number) + "\n" + key);
  }
  plan_->kernels.push_back(std::move(lowered.function));
  plan_->schedules.push_back(to_text(schedule));
  return built_.emplace(key, std::move(built)).first->second;
}

Result<void> Planner::add_kernel(const std::vector<Op>& ops, const Group& group,
                                 const std::vector<int64_t>& steps, const Renaming& renaming) {
  std::vector<const Op*> members;
  for (const size_t i : group.ops) members.push_back(&ops[i]);
  PlacedKernel placed = kernel_of(program_, storage_, members, group.shared, group.local);
  const Built& built = build(placed.kernel);
  Draft draft;
  draft.step.kernel = built.number;
  draft.step.tasks = built.tasks;
  draft.step.extents = steps;
  for (const Op* op : members) {
    if (draft.step.label.find(op->label) == std::string::npos)
      draft.step.label += (draft.step.label.empty() ? "" : " + ") + op->label;
    draft.step.flops += flops_of(*op);
  }
  for (const int number : built.arguments) {
    draft.arguments.push_back(argument_of(number, placed, built, renaming));
    if (number >= 0) {
      const KernelTensor& info = placed.kernel.tensors[static_cast<size_t>(number)];
      draft.step.bytes +=
          static_cast<double>(info.elements) * static_cast<double>(size_of(info.type));
    }
  }
  if (built.tasks > 0) drafts_.push_back(std::move(draft));
  return {};
}

Planner::Argument Planner::argument_of(int number, const PlacedKernel& placed, const Built& built,
                                       const Renaming& renaming) {
  if (number < 0) return table_argument(placed.kernel.tables[static_cast<size_t>(-1 - number)]);
  int root = placed.roots[static_cast<size_t>(number)];
  if (const auto at = renaming.find(root); at != renaming.end())
    root = storage_.view(at->second).root;
  const auto packed = std::ranges::find(built.packed, number, &PackedConstant::tensor);
  if (packed == built.packed.end()) return argument(root);
  const std::string key = "tensor " + std::to_string(root) + " for kernel " +
                          std::to_string(built.number) + " argument " + std::to_string(number);
  if (const auto known = constant_numbers_.find(key); known != constant_numbers_.end())
    return {-1, known->second};
  return {-1, constant(key, pack(*packed, tensor(root).constant.aligned()))};
}

}  // namespace hone
