// Which sums are convolutions with windows of 3x3, one step at a time.
#include <algorithm>

#include "lower/nest.h"
#include "partition/winograd.h"

namespace hone {

std::optional<Convolution3x3> as_convolution(const Op& op, const TensorProgram& program) {
  if (!op.is_plain() || op.combiner != Combiner::kSum || op.serial || !op.steps.empty() ||
      op.extents.size() != op.outputs + 3 || op.writes.size() != 1)
    return std::nullopt;
  if (op.body->kind != ScalarNode::Kind::kApply || op.body->fn != Fn::kMul ||
      op.body.type() != ElementType::kF32)
    return std::nullopt;
  const Scalar& a = op.body->args[0];
  const Scalar& b = op.body->args[1];
  if (a->kind != ScalarNode::Kind::kRead || b->kind != ScalarNode::Kind::kRead) return std::nullopt;
  const auto constant = [&](const Scalar& read) {
    return program.tensors[static_cast<size_t>(read->tensor)].kind ==
           ProgramTensor::Kind::kConstant;
  };
  if (constant(a) == constant(b)) return std::nullopt;
  const ScalarNode& x = constant(a) ? *b : *a;
  const ScalarNode& w = constant(a) ? *a : *b;
  if (x.outside && !(Scalar(x.outside).is_literal(0))) return std::nullopt;
  Convolution3x3 conv;
  conv.input = x.tensor;
  conv.weights = w.tensor;
  // Axes of the weights, each alone in its dimension.
  std::vector<size_t> of_weights;
  for (const Index& index : w.indices) {
    if (index == Index(0)) continue;
    const AxisId* axis = index.as_axis();
    if (axis == nullptr || axis->value < 0) return std::nullopt;
    of_weights.push_back(static_cast<size_t>(axis->value));
  }
  if (of_weights.size() != 4) return std::nullopt;
  int outputs = 0;
  for (const size_t axis : of_weights)
    if (axis < op.outputs) {
      conv.channel = axis;
      ++outputs;
    }
  if (outputs != 1) return std::nullopt;
  int windows = 0;
  bool reduced = false;
  for (size_t d = 0; d < x.indices.size(); ++d) {
    const Index& index = x.indices[d];
    if (!index.is_affine() || !index.offset().is_const()) return std::nullopt;
    std::vector<size_t> axes;
    for (const IndexTerm& term : index.terms()) {
      if (!term.coefficient.is(1) || term.atom->axis.value < 0) return std::nullopt;
      axes.push_back(static_cast<size_t>(term.atom->axis.value));
    }
    std::ranges::sort(axes);
    if (axes.size() == 2 && axes[0] < op.outputs && axes[1] >= op.outputs) {
      if (op.extents[axes[1]] != 3 || windows == 2) return std::nullopt;
      (windows == 0 ? conv.row : conv.column) = axes[0];
      (windows == 0 ? conv.tap_row : conv.tap_column) = axes[1];
      (windows == 0 ? conv.row_dim : conv.column_dim) = d;
      (windows == 0 ? conv.row_shift : conv.column_shift) = index.offset().value();
      ++windows;
    } else if (axes.size() == 1 && axes[0] >= op.outputs && index.offset().is(0)) {
      if (reduced) return std::nullopt;
      reduced = true;
      conv.reduced = axes[0];
      conv.channel_dim = d;
    } else if (axes.size() == 1 && index.offset().is(0)) {
      conv.batch.push_back(axes[0]);
    } else if (!axes.empty() || !index.offset().is(0)) {
      return std::nullopt;
    }
  }
  if (windows != 2 || !reduced) return std::nullopt;
  for (const size_t tap : {conv.tap_row, conv.tap_column, conv.reduced})
    if (std::ranges::find(of_weights, tap) == of_weights.end()) return std::nullopt;
  // Every output axis has its part.
  for (size_t axis = 0; axis < op.outputs; ++axis) {
    const bool known = axis == conv.row || axis == conv.column || axis == conv.channel ||
                       std::ranges::find(conv.batch, axis) != conv.batch.end();
    if (!known && op.extents[axis] != 1) return std::nullopt;
  }
  return conv;
}

}  // namespace hone
