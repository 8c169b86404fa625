// What a reduction and a map after it both compute at a price, such as the exponentials of a
// softmax: computed once.
#include <algorithm>

#include "lower/rewrite.h"
#include "partition/fuser.h"

namespace hone {

void Fuser::share_expensive() {
  for (size_t r = 0; r < ops_.size(); ++r) {
    if (!ops_[r].is_plain() || !ops_[r].reduces() || ops_[r].extents.size() != ops_[r].outputs + 1)
      continue;
    for (size_t m = r + 1; m < ops_.size() && m < r + 16; ++m)
      if (is_map(ops_[m]) && share(r, m)) break;
  }
}

bool Fuser::share(size_t r, size_t m) {
  const Op& reduction = ops_[r];
  const Op& map = ops_[m];
  if (reduction.writes.size() != 1 || reduction.steps != map.steps) return false;
  const std::vector<int> reads = read_by(map);
  if (std::ranges::find(reads, reduction.writes[0].tensor) == reads.end()) return false;
  const std::optional<std::vector<Index>> axes = axes_in_map(reduction, map);
  if (!axes) return false;
  Substitution how;
  how.axis = [&](AxisId axis) {
    return axis.value < 0 ? Index(axis) : (*axes)[static_cast<size_t>(axis.value)];
  };
  // The largest expensive part of the body that the map has too.
  Scalar part;
  visit(reduction.body, [&](const ScalarNode& node) {
    if (part.valid() || node.kind != ScalarNode::Kind::kApply || info_of(node.fn).flops < 4) return;
    const Scalar candidate(find_node(reduction.body, &node));
    const Scalar wanted = substitute(candidate, how);
    visit(map.writes[0].value, [&](const ScalarNode& other) {
      if (!part.valid() && other.kind == ScalarNode::Kind::kApply && other.fn == node.fn &&
          Scalar(find_node(map.writes[0].value, &other)) == wanted)
        part = candidate;
    });
  });
  if (!part.valid()) return false;
  insert_shared(r, m, part, substitute(part, how), *axes);
  return true;
}

std::shared_ptr<const ScalarNode> Fuser::find_node(const Scalar& in, const ScalarNode* wanted) {
  if (&*in == wanted) return in.node();
  for (const Scalar& arg : in->args)
    if (auto found = find_node(arg, wanted)) return found;
  return nullptr;
}

std::optional<std::vector<Index>> Fuser::axes_in_map(const Op& reduction, const Op& map) {
  std::vector<Index> at;
  visit_reads(map, [&](const ScalarNode& node) {
    if (node.tensor == reduction.writes[0].tensor) at = node.indices;
  });
  const std::vector<Index>& write = reduction.writes[0].at;
  std::vector<Index> axes(reduction.extents.size(), Index(0));
  std::vector<bool> used(map.outputs, false);
  for (size_t d = 0; d < write.size(); ++d) {
    const AxisId* inner = write[d].as_axis();
    const AxisId* outer = at[d].as_axis();
    if (inner == nullptr) continue;
    if (outer == nullptr || outer->value < 0) {
      if (reduction.extents[static_cast<size_t>(inner->value)] != 1) return std::nullopt;
      continue;
    }
    axes[static_cast<size_t>(inner->value)] = *outer;
    used[static_cast<size_t>(outer->value)] = true;
  }
  std::optional<size_t> rest;
  for (size_t axis = 0; axis < map.outputs; ++axis) {
    if (used[axis] || map.extents[axis] == 1) continue;
    if (rest) return std::nullopt;
    rest = axis;
  }
  if (!rest || map.extents[*rest] != reduction.extents.back()) return std::nullopt;
  axes.back() = axis_id(*rest);
  return axes;
}

void Fuser::insert_shared(size_t r, size_t m, const Scalar& in_body, const Scalar& in_map,
                          const std::vector<Index>& axes) {
  const Op& map = ops_[m];
  Op shared;
  shared.label = map.label;
  shared.extents = map.extents;
  shared.outputs = map.outputs;
  shared.steps = map.steps;
  ProgramTensor info;
  info.name = "shared";
  info.type = in_map.type();
  info.dims = map.extents;
  const auto id = static_cast<int>(program_.tensors.size());
  program_.tensors.push_back(std::move(info));
  std::vector<Index> at;
  for (size_t i = 0; i < map.outputs; ++i) at.emplace_back(axis_id(i));
  shared.writes.push_back({id, at, in_map});
  // Where the reduction reads it: the map's axes in terms of its own.
  std::vector<Index> from(map.outputs, Index(0));
  for (size_t i = 0; i < axes.size(); ++i)
    if (const AxisId* axis = axes[i].as_axis()) from[static_cast<size_t>(axis->value)] = axis_id(i);
  const auto replace = [&](const Scalar& part, const Scalar& by) {
    return Rewriter([&](const Scalar& scalar) { return scalar == part ? by : Scalar(); });
  };
  ops_[m].writes[0].value =
      replace(in_map, Scalar::read(in_map.type(), id, at))(ops_[m].writes[0].value);
  ops_[r].body = replace(in_body, Scalar::read(in_map.type(), id, from))(ops_[r].body);
  ops_.insert(ops_.begin() + static_cast<std::ptrdiff_t>(r), std::move(shared));
}

}  // namespace hone
