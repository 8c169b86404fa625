#include "partition/pieces.h"

#include <functional>
#include <optional>

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

std::optional<Index> as_index(const Scalar& scalar) {
  if (scalar->kind == ScalarNode::Kind::kIndex) return scalar->index;
  if (scalar.is_literal() && scalar.type() == ElementType::kI64)
    if (const auto number = scalar->literal.to_int()) return Index(*number);
  return std::nullopt;
}

// axis < limit, for an axis of the op.
struct Threshold {
  size_t axis;
  int64_t limit;
};

std::optional<Threshold> threshold_of(const Scalar& condition) {
  if (condition->kind != ScalarNode::Kind::kApply) return std::nullopt;
  if (condition->fn != Fn::kLt && condition->fn != Fn::kLe) return std::nullopt;
  const auto left = as_index(condition->args[0]);
  const auto right = as_index(condition->args[1]);
  if (!left || !right) return std::nullopt;
  const Index difference = *left - *right;
  if (difference.terms().size() != 1 || !difference.offset().is_const()) return std::nullopt;
  const IndexTerm& term = difference.terms()[0];
  if (term.atom->kind != IndexAtom::Kind::kAxis || !term.coefficient.is(1) ||
      term.atom->axis.value < 0)
    return std::nullopt;
  // axis + offset < 0 (or <= 0)
  const int64_t limit = -difference.offset().value() + (condition->fn == Fn::kLe ? 1 : 0);
  return Threshold{static_cast<size_t>(term.atom->axis.value), limit};
}

Op part_of(const Op& op, size_t axis, int64_t begin, int64_t end, const Scalar& value,
           const TensorProgram& program) {
  Op part = op;
  part.extents[axis] = end - begin;
  Substitution how;
  how.axis = [&](AxisId id) { return id == axis_id(axis) ? Index(id) + Index(begin) : Index(id); };
  part.writes[0].value = substitute(value, how);
  for (Index& index : part.writes[0].at) index = substitute(index, how);
  simplify(part, program);
  return part;
}

void visit_atoms(const Index& index, const std::function<void(const IndexAtom&)>& f) {
  for (const IndexTerm& term : index.terms()) {
    f(*term.atom);
    visit_atoms(term.atom->left, f);
    visit_atoms(term.atom->right, f);
  }
}

}  // namespace

bool chooses_by_position(const Scalar& value) {
  return value->kind == ScalarNode::Kind::kApply && value->fn == Fn::kSelect &&
         threshold_of(value->args[0]).has_value();
}

std::vector<Op> split_choices(const Op& op, const TensorProgram& program) {
  const bool plain = op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
                     !op.writes[0].condition.valid();
  if (!plain || !chooses_by_position(op.writes[0].value)) return {op};
  const Scalar value = op.writes[0].value;
  const Threshold threshold = *threshold_of(value->args[0]);
  const int64_t extent = op.extents[threshold.axis];
  std::vector<Op> result;
  const auto add = [&](int64_t begin, int64_t end, const Scalar& branch) {
    if (begin >= end) return;
    for (Op& part :
         split_choices(part_of(op, threshold.axis, begin, end, branch, program), program))
      result.push_back(std::move(part));
  };
  const int64_t limit = std::min(std::max<int64_t>(threshold.limit, 0), extent);
  add(0, limit, value->args[1]);
  add(limit, extent, value->args[2]);
  return result;
}

void split_axes(Op& op, const TensorProgram& program) {
  for (int round = 0; round < 8; ++round) {
    size_t found = 0;
    int64_t inner = 0;
    const auto look = [&](const IndexAtom& atom) {
      if (atom.kind != IndexAtom::Kind::kFloorDiv && atom.kind != IndexAtom::Kind::kMod) return;
      if (!atom.divisor.is_const()) return;
      const int64_t d = atom.divisor.value();
      for (const IndexTerm& term : atom.left.terms()) {
        if (term.atom->kind != IndexAtom::Kind::kAxis || !term.coefficient.is(1)) continue;
        const int axis = term.atom->axis.value;
        if (axis < 0 || axis >= static_cast<int>(op.outputs)) continue;
        const int64_t extent = op.extents[static_cast<size_t>(axis)];
        if (d > 1 && extent > d && extent % d == 0) {
          found = static_cast<size_t>(axis);
          inner = d;
        }
      }
    };
    visit_reads(op, [&](const ScalarNode& node) {
      for (const Index& index : node.indices) visit_atoms(index, look);
    });
    if (inner == 0) return;
    Substitution how;
    how.axis = [&](AxisId id) {
      if (id.value < static_cast<int>(found)) return Index(id);
      if (id.value == static_cast<int>(found))
        return Index(id) * Dim(inner) + Index(axis_id(found + 1));
      return Index(AxisId{id.value + 1});
    };
    map_scalars(op, [&](const Scalar& scalar) { return substitute(scalar, how); });
    for (Op::Write& write : op.writes)
      for (Index& index : write.at) index = substitute(index, how);
    op.extents[found] /= inner;
    op.extents.insert(op.extents.begin() + static_cast<std::ptrdiff_t>(found) + 1, inner);
    ++op.outputs;
    simplify(op, program);
  }
}

}  // namespace hone
