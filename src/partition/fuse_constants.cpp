// What depends only on constants is computed now.
#include <algorithm>

#include "lower/rewrite.h"
#include "partition/fuser.h"

namespace hone {

void Fuser::fold_constants() {
  std::vector<Op> kept;
  for (Op& op : ops_) {
    if (!fold(op)) kept.push_back(std::move(op));
  }
  ops_ = std::move(kept);
}

bool Fuser::fold(const Op& op) {
  if (!op.is_plain() || op.serial || op.writes.size() != 1 || !op.steps.empty()) return false;
  const int result = op.writes[0].tensor;
  if (is_pinned(result) || !is_identity(op.writes[0].at, op.outputs)) return false;
  // What a scatter starts from is not constant: updates follow.
  const auto writes = [&](const Op& other) {
    return &other != &op && std::ranges::count(written_by(other), result) > 0;
  };
  if (std::ranges::any_of(ops_, writes)) return false;
  const std::vector<int> reads = read_by(op);
  int64_t bytes = 0;
  for (const int id : reads) {
    if (!is_constant(id) || tensor(id).type == ElementType::kString) return false;
    bytes += tensor(id).count() * 4;
  }
  if (tensor(result).count() * 4 > std::max<int64_t>(bytes * 2, 1 << 20)) return false;
  Result<Buffer> value = evaluate(program_, op);
  if (!value) return false;
  tensor(result).kind = ProgramTensor::Kind::kConstant;
  tensor(result).constant = *std::move(value);
  return true;
}

void Fuser::extract_constants(Op& op) {
  if (!op.is_plain() || op.serial) return;
  const int64_t points = points_of(op);
  Rewriter rewrite([&](const Scalar& scalar) { return extracted(op, scalar, points); });
  map_scalars(op, [&](const Scalar& scalar) { return rewrite(scalar); });
}

Scalar Fuser::extracted(const Op& op, const Scalar& scalar, int64_t points) {
  if (scalar->kind != ScalarNode::Kind::kApply) return {};
  bool constant = true;
  int reads = 0;
  std::set<int> axes;
  const auto note_axes = [&](const Index& index) {
    for (int axis = -4; axis < static_cast<int>(op.extents.size()); ++axis)
      if (index.mentions(AxisId{axis})) axes.insert(axis);
  };
  visit(scalar, [&](const ScalarNode& node) {
    note_axes(node.index);
    for (const Index& index : node.indices) note_axes(index);
    if (node.kind != ScalarNode::Kind::kRead) return;
    ++reads;
    constant = constant && node.tensor >= 0 && is_constant(node.tensor) && !node.outside;
  });
  if (!constant || reads == 0 || (!axes.empty() && *axes.begin() < 0)) return {};
  int64_t elements = 1;
  for (const int axis : axes) elements *= op.extents[static_cast<size_t>(axis)];
  if (elements * 8 > points || elements > (1 << 20)) return {};
  return precomputed(op, scalar, {axes.begin(), axes.end()});
}

Scalar Fuser::precomputed(const Op& op, const Scalar& scalar, const std::vector<int>& axes) {
  Op part;
  Substitution how;
  how.axis = [&](AxisId axis) {
    const auto at = std::ranges::find(axes, axis.value);
    return Index(axis_id(static_cast<size_t>(at - axes.begin())));
  };
  std::vector<Index> identity;
  std::vector<Index> indices;
  for (size_t i = 0; i < axes.size(); ++i) {
    part.extents.push_back(op.extents[static_cast<size_t>(axes[i])]);
    identity.emplace_back(axis_id(i));
    indices.emplace_back(AxisId{axes[i]});
  }
  part.outputs = axes.size();
  part.writes.push_back({-1, identity, substitute(scalar, how)});
  Result<Buffer> value = evaluate(program_, part);
  if (!value) return {};
  ProgramTensor constant;
  constant.kind = ProgramTensor::Kind::kConstant;
  constant.name = "folded";
  constant.type = scalar.type();
  constant.dims = part.extents;
  constant.constant = *std::move(value);
  program_.tensors.push_back(std::move(constant));
  return Scalar::read(scalar.type(), static_cast<int>(program_.tensors.size()) - 1,
                      std::move(indices));
}

}  // namespace hone
