// Maps after a reduction, into it.
#include <algorithm>

#include "lower/rewrite.h"
#include "partition/fuser.h"

namespace hone {

bool Fuser::fuse_epilogues() {
  bool changed = false;
  for (size_t e = 0; e < ops_.size(); ++e) {
    if (!is_map(ops_[e])) continue;
    // The latest of the reductions that it reads.
    const std::vector<std::vector<size_t>> users = readers();
    for (size_t r = e; r-- > 0;) {
      if (!may_extend(ops_[r], ops_[e], users)) continue;
      extend(r, e);
      --e;
      changed = true;
      break;
    }
  }
  return changed;
}

bool Fuser::may_extend(const Op& reduction, const Op& map,
                       const std::vector<std::vector<size_t>>& users) {
  if (!reduction.is_plain() || !reduction.reduces() || reduction.writes.size() != 1 ||
      reduction.steps != map.steps)
    return false;
  const Op::Write& write = reduction.writes[0];
  if (is_pinned(write.tensor) || users[static_cast<size_t>(write.tensor)].size() != 1) return false;
  const std::vector<int> reads = read_by(map);
  if (std::ranges::find(reads, write.tensor) == reads.end()) return false;
  if (size_of_scalar(write.value) + size_of_scalar(map.writes[0].value) > 150) return false;
  return axes_between(reduction, map).has_value();
}

std::optional<std::vector<Index>> Fuser::axes_between(const Op& reduction, const Op& map) {
  const Op::Write& write = reduction.writes[0];
  std::vector<Index> axes(map.outputs, Index(0));
  std::vector<bool> found(map.outputs, false);
  bool first = true;
  bool same = true;
  std::vector<Index> at;
  visit_reads(map, [&](const ScalarNode& node) {
    if (node.tensor != write.tensor) return;
    if (node.outside) same = false;
    if (first)
      at = node.indices;
    else
      same = same && std::ranges::equal(at, node.indices);
    first = false;
  });
  if (!same) return std::nullopt;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t extent = tensor(write.tensor).dims[d];
    const AxisId* outer = write.at[d].as_axis();
    const AxisId* axis = at[d].as_axis();
    if (axis == nullptr || axis->value < 0) {
      if (extent == 1) continue;
      return std::nullopt;
    }
    const auto number = static_cast<size_t>(axis->value);
    if (found[number] || map.extents[number] != extent) return std::nullopt;
    if (outer == nullptr) return std::nullopt;
    axes[number] = *outer;
    found[number] = true;
  }
  for (size_t i = 0; i < map.outputs; ++i)
    if (!found[i] && map.extents[i] != 1) return std::nullopt;
  return axes;
}

void Fuser::extend(size_t r, size_t e) {
  Op joined = std::move(ops_[r]);
  Op& map = ops_[e];
  const Op::Write inner = joined.writes[0];
  const std::vector<Index> axes = *axes_between(joined, map);
  Substitution how;
  how.axis = [&](AxisId axis) {
    return axis.value < 0 ? Index(axis) : axes[static_cast<size_t>(axis.value)];
  };
  Op::Write write = map.writes[0];
  Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
    const bool read = scalar->kind == ScalarNode::Kind::kRead && scalar->tensor == inner.tensor;
    return read ? inner.value : Scalar();
  });
  // First the map's own axes, then what it reads of the reduction.
  write.value = rewrite(substitute(write.value, how));
  for (Index& index : write.at) index = substitute(index, how);
  joined.writes = {std::move(write)};
  if (joined.label != map.label) join_labels_after(map, joined);
  simplify(joined, program_);
  ops_[e] = std::move(joined);
  ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(r));
}

void Fuser::join_labels_after(const Op& from, Op& to) {
  if (to.label.find(from.label) == std::string::npos) to.label += " + " + from.label;
}

}  // namespace hone
