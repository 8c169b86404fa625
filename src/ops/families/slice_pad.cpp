// Boxes of a tensor: cut out with steps, or enlarged at the borders.
#include <algorithm>
#include <limits>

#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// Bounds of this size mean "to the end" whatever the extent is.
constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

// A slice's bound as a position: negative ones count from the end.
Dim position_of(Builder& b, const Dim& bound, const Dim& extent) {
  if (bound.is_const()) {
    const int64_t value = std::clamp(bound.value(), -(int64_t{1} << 62), int64_t{1} << 62);
    if (!extent.is_const() && value >= kFar) return extent;
    if (!extent.is_const() && value <= -kFar) return -1;
    return value < 0 ? extent + Dim(value) : Dim(value);
  }
  if (is_at_most(bound, -1)) return bound + extent;
  // Nothing to do where it is provably not negative; else a condition of this expression.
  if (!is_at_most(0, bound)) b.require_equal(max(bound, Dim(0)), bound, "a bound of a slice");
  return bound;
}

struct Cut {
  Dim start;
  Dim size;
};

// The positions start + step * i of a slice, clamped to the extent D:
//   step > 0: start in [0, ..), end in (.., D];   step < 0: start in [0, D - 1], end in [-1, ..)
Cut cut_of(Builder& b, const Dim& extent, const Dim& start, const Dim& end, int64_t step) {
  const Dim to = position_of(b, end, extent);
  if (step > 0) {
    if (!extent.is_const() && start.is_const() && start.value() < 0 && start.value() > -kFar &&
        is_at_most(extent, to)) {
      const Dim tail = min(Dim(-start.value()), extent);  // the last elements
      return {extent - tail, ceil_div(tail, step)};
    }
    const Dim from = max(position_of(b, start, extent), Dim(0));
    return {from, max(ceil_div(min(to, extent) - from, step), Dim(0))};
  }
  const bool at_end = start.is(-1) || (start.is_const() && start.value() >= kFar);
  const Dim from =
      at_end ? extent - Dim(1) : min(max(position_of(b, start, extent), Dim(0)), extent - Dim(1));
  return {from, max(ceil_div(from - max(to, Dim(-1)), -step), Dim(0))};
}

// y[.., i, ..] = x[.., start + step * i, ..]
TensorExpr define_slice(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x", "starts", "ends", "axes", "steps"})[0];
  const auto starts = dims_by_opset(c, "starts", 1, 10);
  const auto ends = dims_by_opset(c, "ends", 2, 10);
  if (!starts || !ends) throw_invalid("starts or ends are not given");
  const size_t count = starts->size();
  std::vector<int64_t> axes_given(count);
  for (size_t k = 0; k < count; ++k) axes_given[k] = static_cast<int64_t>(k);
  if (const auto given = ints_by_opset(c, "axes", 3, 10); given && !(given->empty() && count > 0))
    axes_given = *given;
  std::vector<int64_t> steps(count, 1);
  if (c.opset() >= 10 && c.has(4)) steps = c.ints_value(4);
  if (ends->size() != count || axes_given.size() != count || steps.size() != count)
    throw_invalid("starts, ends, axes and steps differ in length");
  (void)c.axes(axes_given, x.rank());  // distinct and in range

  Shape shape = x.shape();
  std::vector<Dim> first(shape.size(), Dim(0));
  std::vector<int64_t> stride(shape.size(), 1);
  for (size_t k = 0; k < count; ++k) {
    if (steps[k] == 0) throw_invalid("a step is 0");
    // A longer step than any extent is as good, and cannot overflow.
    const int64_t step = std::clamp<int64_t>(steps[k], -(int64_t{1} << 40), int64_t{1} << 40);
    const auto axis = static_cast<size_t>(c.axis(axes_given[k], x.rank()));
    const Cut cut = cut_of(b, x.shape()[axis], (*starts)[k], (*ends)[k], step);
    first[axis] = cut.start;
    stride[axis] = step;
    shape[axis] = cut.size;
  }
  const Axes axes = b.axes("i", shape);
  std::vector<Index> at;
  for (size_t d = 0; d < axes.size(); ++d)
    at.push_back(shape[d].is(1) ? Index(first[d]) : Index(axes[d]) * stride[d] + Index(first[d]));
  return b.finish({b.map("y", axes, x.at(at))});
}

struct Border {
  Dim before, after;
};

std::vector<Border> borders_of(const OpContext& c, int rank) {
  const auto pads = dims_by_opset(c, c.opset() < 2 ? "paddings" : "pads", 1, 11);
  if (!pads) throw_invalid("no pads are given");
  std::vector<int64_t> axes;
  for (int d = 0; d < rank; ++d) axes.push_back(d);
  if (c.opset() >= 18 && c.has(3)) axes = c.ints_value(3);
  (void)c.axes(axes, rank);  // distinct and in range
  if (pads->size() != 2 * axes.size())
    throw_invalid("pads has " + std::to_string(pads->size()) + " elements for " +
                  std::to_string(axes.size()) + " axes");
  std::vector<Border> borders(static_cast<size_t>(rank));
  for (size_t k = 0; k < axes.size(); ++k)
    borders[static_cast<size_t>(c.axis(axes[k], rank))] = {(*pads)[k], (*pads)[axes.size() + k]};
  return borders;
}

// A border that is negative cuts elements away; the mode then fills from what is left.
Dim positive_part(Builder& b, const Dim& pad) {
  if (pad.is_const()) return std::max<int64_t>(pad.value(), 0);
  if (!is_at_most(0, pad)) b.require_equal(max(pad, Dim(0)), pad, "a symbolic pad");
  return pad;
}

// Where position t of an unbounded axis finds its value in a tensor of extent D:
//   edge: min(max(t, 0), D - 1)     wrap: t mod D
//   reflect: min(m, P - m) with m = t mod P and P = 2 (D - 1)
Index folded(const std::string& mode, const Index& t, const Dim& extent) {
  const Dim last = extent - Dim(1);
  if (extent.is(0)) throw_invalid("an empty dimension cannot be padded by mode " + mode);
  if (extent.is(1)) return 0;
  if (mode == "edge") return min(max(t, Index(0)), Index(last));
  if (mode == "wrap") return mod(t, extent);
  const Dim period = last * Dim(2);
  const Index m = mod(t, period);
  return min(m, Index(period) - m);
}

// y[i..] = x[i - before..], with the mode's value outside of x
TensorExpr define_pad(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto operands = c.declare(b, {"x", "pads", "value", "axes"});
  const Operand& x = operands[0];
  const std::string mode = c.string_attribute("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    throw_invalid("unknown mode \"" + mode + "\"", "constant, edge, reflect or wrap");
  const std::vector<Border> borders = borders_of(c, x.rank());
  Shape shape;
  for (size_t d = 0; d < borders.size(); ++d) {
    shape.push_back(x.shape()[d] + borders[d].before + borders[d].after);
    if (shape[d].is_const() && shape[d].value() < 0)
      throw_invalid("more is cut away than dimension " + std::to_string(d) + " has");
  }
  const Axes axes = b.axes("i", shape);
  std::vector<Index> at;
  for (size_t d = 0; d < borders.size(); ++d) {
    const auto& [before, after] = borders[d];
    Index t = Index(axes[d]) - Index(before);
    if (mode != "constant" && !(before.is(0) && after.is(0))) {
      const Dim front = positive_part(b, before);
      const Dim back = positive_part(b, after);
      const Dim cut = front - before;  // removed in front
      const Dim extent = shape[d] - front - back;
      if (!front.is(0) || !back.is(0))
        t = folded(mode, Index(axes[d]) - Index(front), extent) + Index(cut);
    }
    at.push_back(t);
  }
  if (mode != "constant") return b.finish({b.map("y", axes, x.at(at))});
  Scalar value = Scalar::literal(x.type(), c.literal_attribute("value", 0));
  if (c.opset() >= 11 && c.has(2)) {
    if (operands[2].type() != x.type()) throw_invalid("the value's type is not that of the input");
    value = single_element(operands[2]);
  }
  return b.finish({b.map("y", axes, Scalar::read_or(x.type(), x.id(), at, value))});
}

}  // namespace

void register_slice_pad(OperatorTable& table) {
  table.add({.name = "Slice",
             .doc = "Every step-th position from start to before end, on chosen axes.",
             .inputs = "x, starts?, ends?, axes?, steps?",
             .attributes = "starts: ints, ends: ints, axes: ints",
             .define = define_slice,
             .infer = same_rank,
             .example = "Slice(x: f32[6, 5], starts: i64[2] = [1, -1], ends: i64[2] = [5, 0], "
                        "axes: i64[2] = [0, 1], steps: i64[2] = [2, -1])"});
  table.add({.name = "Pad",
             .doc = "Enlarges a tensor at its borders by a constant, edge, reflection or wrapping.",
             .inputs = "x, pads?, value?, axes?",
             .attributes = "mode: string = \"constant\", pads: ints, value: float = 0",
             .define = define_pad,
             .infer = same_rank,
             .example = "Pad(x: f32[3, 4], pads: i64[4] = [1, 0, 2, -1]) {mode = \"reflect\"}"});
}

}  // namespace hone
