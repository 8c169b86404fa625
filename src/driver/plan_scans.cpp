// Scans, unrolled: every step of one gets steps of the plan.
#include "driver/planner.h"

namespace hone {

int Planner::twin(int id) {
  const auto index = static_cast<size_t>(id);
  ProgramTensor copy = tensor(id);
  copy.is_output = false;
  program_.tensors.push_back(std::move(copy));
  View view = storage_.views[index];
  view.root = static_cast<int>(storage_.views.size());
  storage_.views.push_back(std::move(view));
  storage_.elements.push_back(storage_.elements[static_cast<size_t>(storage_.view(id).root)]);
  return static_cast<int>(storage_.views.size()) - 1;
}

Result<void> Planner::add_scan(const Op::Scan& scan, const std::vector<int64_t>& outer_steps,
                               const Renaming& outer) {
  const auto renamed = [&](int id) {
    const auto at = outer.find(id);
    return at == outer.end() ? id : at->second;
  };
  std::vector<std::pair<int, int>> versions;
  for (const Op::Scan::Carried& carried : scan.carried)
    versions.emplace_back(carried.next, twin(carried.next));
  for (int64_t s = 0; s < scan.extent; ++s) {
    Renaming renaming = outer;
    for (size_t i = 0; i < scan.carried.size(); ++i) {
      const Op::Scan::Carried& carried = scan.carried[i];
      const auto version = [&](int64_t step) {
        return step % 2 == 0 ? versions[i].first : versions[i].second;
      };
      renaming[carried.state] = s == 0 ? renamed(carried.init) : version(s - 1);
      renaming[carried.next] = version(s);
    }
    std::vector<int64_t> steps = {s};
    steps.insert(steps.end(), outer_steps.begin(), outer_steps.end());
    if (Result<void> added = add_ops(scan.ops, steps, renaming); !added) return added;
  }
  for (size_t i = 0; i < scan.carried.size(); ++i) {
    const Op::Scan::Carried& carried = scan.carried[i];
    const int last = scan.extent == 0             ? renamed(carried.init)
                     : (scan.extent - 1) % 2 == 0 ? versions[i].first
                                                  : versions[i].second;
    if (Result<void> added = add_copy(last, renamed(carried.final)); !added) return added;
  }
  return {};
}

Result<void> Planner::add_copy(int from, int to) {
  Op op;
  op.label = "final state";
  op.extents = tensor(to).dims;
  op.outputs = op.extents.size();
  std::vector<Index> at;
  for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
  op.writes.push_back({to, at, Scalar::read(tensor(from).type, from, at)});
  std::vector<Op> ops;
  ops.push_back(std::move(op));
  return add_ops(ops, {}, {});
}

}  // namespace hone
