#include "partition/groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone {
namespace {

constexpr int64_t kLargestRow = 1 << 16;  // elements of a local tensor

bool is_contraction(const Op& op) {
  return op.combiner == Combiner::kSum && op.body->kind == ScalarNode::Kind::kApply &&
         op.body->fn == Fn::kMul && op.body->args[0]->kind == ScalarNode::Kind::kRead &&
         op.body->args[1]->kind == ScalarNode::Kind::kRead &&
         !(op.body->args[0] == op.body->args[1]);
}

// How many of the first indices are the first axes of the op.
size_t leading_axes(const Op& op, const std::vector<Index>& at) {
  size_t count = 0;
  while (count < at.size() && count < op.outputs) {
    const AxisId* axis = at[count].as_axis();
    const bool unit = at[count] == Index(0) && op.extents[count] == 1;
    if (!unit && (axis == nullptr || axis->value != static_cast<int>(count))) break;
    ++count;
  }
  return count;
}

class Grouper {
 public:
  Grouper(const TensorProgram& program, const Storage& storage, const std::vector<Op>& ops)
      : program_(program), storage_(storage), ops_(ops), taken_(ops.size(), false) {
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const int id : read_by(ops[i])) readers_[id].push_back(i);
      for (const int id : written_by(ops[i])) writers_[id].push_back(i);
    }
  }

  std::vector<Group> run() {
    // Groups stand at the place of their last op.
    std::map<size_t, Group> at;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (taken_[i]) continue;
      Group group = grow(i);
      for (const size_t op : group.ops) taken_[op] = true;
      at[group.ops.back()] = std::move(group);
    }
    std::vector<Group> result;
    for (auto& [place, group] : at) result.push_back(std::move(group));
    return result;
  }

 private:
  static bool may_join(const Op& op) {
    return op.is_plain() && !op.serial && op.writes.size() == 1 && op.steps.empty() &&
           op.group < 0 && !(op.reduces() && is_contraction(op)) &&
           op.combiner < Combiner::kArgMaxFirst;
  }

  const ProgramTensor& tensor(int id) const { return program_.tensors[static_cast<size_t>(id)]; }

  Group grow(size_t first) {
    Group group{{first}, 0, {}};
    if (ops_[first].group >= 0) {
      for (size_t j = first + 1; j < ops_.size(); ++j)
        if (ops_[j].group == ops_[first].group) group.ops.push_back(j);
      group.shared = ops_[first].group_shared;
      find_locals(group);
      return group;
    }
    if (!may_join(ops_[first]) || !ops_[first].reduces()) {
      // Borders that are filled run as one kernel.
      if (is_fill(ops_[first])) extend_fills(group);
      return group;
    }
    size_t shared = leading_axes(ops_[first], ops_[first].writes[0].at);
    std::set<int> written = {ops_[first].writes[0].tensor};
    for (size_t j = first + 1; j < ops_.size() && j < first + 24; ++j) {
      const std::vector<int> reads = read_by(ops_[j]);
      const bool uses = std::ranges::any_of(reads, [&](int id) { return written.contains(id); });
      if (!uses) continue;
      const size_t fits =
          taken_[j] || !may_join(ops_[j]) ? 0 : shared_with(ops_[j], written, shared);
      // Whoever reads the group's results without joining it ends it: the group runs before.
      if (fits == 0 || !same_extents(ops_[first], ops_[j], fits)) break;
      shared = fits;
      group.ops.push_back(j);
      written.insert(ops_[j].writes[0].tensor);
    }
    // Only as far as the rows lie well in memory, and end with something that is worth it.
    size_t rows = 0;
    while (group.ops.size() > 1 && (rows = usable(group, shared)) == 0) group.ops.pop_back();
    if (group.ops.size() == 1) return {{first}, 0, {}};
    group.shared = rows;
    find_locals(group);
    return group;
  }

  size_t shared_with(const Op& op, const std::set<int>& written, size_t shared) const {
    size_t fits = std::min(shared, leading_axes(op, op.writes[0].at));
    visit_reads(op, [&](const ScalarNode& node) {
      if (!written.contains(node.tensor)) return;
      fits = node.outside ? 0 : std::min(fits, leading_axes(op, node.indices));
    });
    return std::min(fits, op.outputs);
  }

  static bool same_extents(const Op& a, const Op& b, size_t count) {
    return a.outputs >= count && b.outputs >= count &&
           std::equal(a.extents.begin(), a.extents.begin() + static_cast<std::ptrdiff_t>(count),
                      b.extents.begin());
  }

  // Shared axes such that every op still walks through memory inside of them; 0 if there are none.
  size_t usable(const Group& group, size_t shared) const {
    const Op& first = ops_[group.ops[0]];
    while (shared > 0 && first.extents[shared - 1] == 1) --shared;
    if (shared == 0) return 0;
    bool good = true;
    for (const size_t i : group.ops) {
      const Op& op = ops_[i];
      if (op.outputs < shared) return 0;
      visit_reads(op, [&](const ScalarNode& node) {
        const ProgramTensor& info = tensor(node.tensor);
        if (info.count() < 512 || info.kind == ProgramTensor::Kind::kConstant) return;
        if (is_written_in(group, node.tensor)) return;
        const View& view = storage_.view(node.tensor);
        for (size_t d = 0; d < node.indices.size(); ++d)
          for (size_t axis = 0; axis < shared; ++axis)
            if (op.extents[axis] > 1 && view.strides[d] == 1 && info.dims[d] > 1 &&
                node.indices[d].mentions(AxisId{static_cast<int>(axis)}))
              good = false;
      });
      int64_t row = 1;
      const ProgramTensor& out = tensor(op.writes[0].tensor);
      for (size_t d = shared; d < out.dims.size(); ++d) row *= out.dims[d];
      if (row > kLargestRow) good = false;
    }
    return good ? shared : 0;
  }

  bool is_written_in(const Group& group, int id) const {
    return std::ranges::any_of(group.ops, [&](size_t i) { return ops_[i].writes[0].tensor == id; });
  }

  void find_locals(Group& group) const {
    for (const size_t i : group.ops) {
      const int id = ops_[i].writes[0].tensor;
      if (tensor(id).is_output || storage_.view(id).root != id || is_root_of_others(id)) continue;
      const std::set<size_t> by(writers_.at(id).begin(), writers_.at(id).end());
      if (by.size() != 1) continue;
      const auto at = readers_.find(id);
      const bool inside =
          at != readers_.end() && std::ranges::all_of(at->second, [&](size_t reader) {
            return std::ranges::find(group.ops, reader) != group.ops.end();
          });
      if (inside) group.local.push_back(id);
    }
  }

  bool is_root_of_others(int id) const {
    for (size_t i = 0; i < storage_.views.size(); ++i)
      if (static_cast<int>(i) != id && storage_.views[i].root == id) return true;
    return false;
  }

  static bool is_fill(const Op& op) {
    return op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
           op.writes[0].value.is_literal() && op.steps.empty() && op.group < 0;
  }

  void extend_fills(Group& group) const {
    const int id = ops_[group.ops[0]].writes[0].tensor;
    for (size_t j = group.ops[0] + 1; j < ops_.size(); ++j) {
      if (!is_fill(ops_[j]) || ops_[j].writes[0].tensor != id) break;
      group.ops.push_back(j);
    }
  }

  const TensorProgram& program_;
  const Storage& storage_;
  const std::vector<Op>& ops_;
  std::vector<bool> taken_;
  std::map<int, std::vector<size_t>> readers_, writers_;
};

}  // namespace

std::vector<Group> group_ops(const TensorProgram& program, const Storage& storage,
                             const std::vector<Op>& ops) {
  return Grouper(program, storage, ops).run();
}

}  // namespace hone
