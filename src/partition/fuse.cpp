// The order in which ops are joined, and what joining needs to know of an op.
#include "partition/fuse.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "lower/nest.h"
#include "partition/fuser.h"

namespace hone {

int64_t Fuser::points_of(const Op& op) {
  return std::accumulate(op.extents.begin(), op.extents.end(), int64_t{1}, std::multiplies<>());
}

int Fuser::size_of_scalar(const Scalar& scalar) {
  int nodes = 0;
  visit(scalar, [&](const ScalarNode&) { ++nodes; });
  return nodes;
}

bool Fuser::is_identity(const std::vector<Index>& at, size_t outputs) {
  if (at.size() != outputs) return false;
  for (size_t i = 0; i < at.size(); ++i) {
    const AxisId* axis = at[i].as_axis();
    if (axis == nullptr || axis->value != static_cast<int>(i)) return false;
  }
  return true;
}

bool Fuser::is_map(const Op& op) {
  return op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
         !op.writes[0].condition.valid() && is_identity(op.writes[0].at, op.outputs);
}

bool Fuser::is_view(const Op& op) {
  return is_map(op) && op.writes[0].value->kind == ScalarNode::Kind::kRead &&
         !op.writes[0].value->outside;
}

void Fuser::run() {
  for (Op& op : ops_) simplify(op, program_);
  fold_constants();
  for (int round = 0; round < 4; ++round) {
    bool changed = inline_maps();
    changed = fuse_epilogues() || changed;
    if (!changed) break;
  }
  share_expensive();
  for (Op& op : ops_) {
    extract_constants(op);
    simplify(op, program_);
  }
  remove_dead();
}

std::vector<std::vector<size_t>> Fuser::readers() {
  std::vector<std::vector<size_t>> result(program_.tensors.size());
  for (size_t i = 0; i < ops_.size(); ++i)
    for (const int id : read_by(ops_[i])) result[static_cast<size_t>(id)].push_back(i);
  return result;
}

void Fuser::remove_dead() {
  std::set<int> needed = pinned_;
  for (size_t i = 0; i < program_.tensors.size(); ++i)
    if (program_.tensors[i].is_output) needed.insert(static_cast<int>(i));
  std::vector<Op> kept;
  for (size_t i = ops_.size(); i-- > 0;) {
    const std::vector<int> written = written_by(ops_[i]);
    if (std::ranges::none_of(written, [&](int id) { return needed.contains(id); })) continue;
    for (const int id : read_by(ops_[i])) needed.insert(id);
    kept.push_back(std::move(ops_[i]));
  }
  std::ranges::reverse(kept);
  ops_ = std::move(kept);
}

namespace {

// Tensors that a scan passes from step to step or reads from around it.
void fuse_scans(TensorProgram& program, std::vector<Op>& ops) {
  for (Op& op : ops) {
    if (!op.scan) continue;
    std::set<int> pinned;
    for (const Op::Scan::Carried& carried : op.scan->carried)
      pinned.insert({carried.next, carried.final, carried.state, carried.init});
    for (const Op& inner : op.scan->ops)
      for (const Op::Write& write : inner.writes) {
        // What other ops read later.
        for (const Op& other : ops)
          if (&other != &op) {
            const std::vector<int> reads = read_by(other);
            if (std::ranges::find(reads, write.tensor) != reads.end()) pinned.insert(write.tensor);
          }
        if (program.tensors[static_cast<size_t>(write.tensor)].is_output)
          pinned.insert(write.tensor);
      }
    Fuser(program, op.scan->ops, pinned).run();
    fuse_scans(program, op.scan->ops);
  }
}

}  // namespace

Result<void> fuse(TensorProgram& program) {
  Fuser(program, program.ops, {}).run();
  fuse_scans(program, program.ops);
  return {};
}

}  // namespace hone
