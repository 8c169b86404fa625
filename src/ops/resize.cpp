#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/arithmetic.h"

namespace hone {
namespace {

// The position of an output point in the input as a fraction.
struct Position {
  Index numerator;
  Dim denominator;
};

// With u / v the scale:
//   asymmetric      o v / u
//   half pixel      (o + 1/2) v / u - 1/2           = ((2 o + 1) v - u) / (2 u)
//   align corners   o (D - 1) / (D u / v - 1)       = o (D - 1) v / (D u - v)
Position position_of(const AxisResize& axis, const ResizeRule& rule, const Index& o) {
  const Dim& u = axis.step_up;
  const Dim& v = axis.step_down;
  const Index half_pixel = (o * Dim(2) + Index(1)) * v - Index(u);
  switch (rule.coordinates) {
    case Coordinates::kAsymmetric:
      return {o * v, max(u, Dim(1))};
    case Coordinates::kAlignCorners:
      return {o * ((axis.input - 1) * v), max(axis.input * u - v, Dim(1))};
    case Coordinates::kHalfPixel:
      return {half_pixel, max(u * 2, Dim(1))};
    case Coordinates::kPytorchHalfPixel:  // 0 for a single point
      return {half_pixel * min(axis.output - 1, Dim(1)), max(u * 2, Dim(1))};
    case Coordinates::kHalfPixelSymmetric:
      if (axis.input * u == axis.output * v) return {half_pixel, max(u * 2, Dim(1))};
      break;
    case Coordinates::kTfCropAndResize:
      break;
  }
  throw_unknown("the extent of a resized axis is not known");
}

Index nearest_index(const Position& at, NearestRule rule) {
  const Index twice = at.numerator * Dim(2);
  const Dim denominator = at.denominator * 2;
  const Index half(at.denominator);
  switch (rule) {
    case NearestRule::kFloor:
      return floor_div(at.numerator, at.denominator);
    case NearestRule::kCeil:
      return Index(0) - floor_div(Index(0) - at.numerator, at.denominator);
    case NearestRule::kRoundPreferCeil:
      return floor_div(twice + half, denominator);
    case NearestRule::kRoundPreferFloor:
      return Index(0) - floor_div(half - twice, denominator);
  }
  return {};
}

Index clamped(const Index& index, const Dim& extent) {
  return min(max(index, Index(0)), Index(extent - 1));
}

// The weight of the neighbour at `offset` from the left one, `ratio` being the distance to that.
Scalar weight_of(const Scalar& ratio, const Scalar& offset, const ResizeRule& rule) {
  const Scalar distance = abs(offset - ratio);
  if (rule.interpolation == Interpolation::kLinear) return Literal(1) - distance;
  const double a = rule.cubic_a;
  const auto literal = [](double value) { return Literal::of_double(value); };
  const Scalar near =
      (distance * literal(a + 2) - literal(a + 3)) * distance * distance + Literal(1);
  const Scalar far =
      (((distance - Literal(5)) * distance + Literal(8)) * distance - Literal(4)) * literal(a);
  return select(less_equal(distance, Literal(1)), near, far);
}

// What one output point of an axis is made of.
struct Taps {
  AxisId tap;
  Index index;
  Scalar weight;
  bool leaves = false;  // the index may be -1: extrapolate
};

Taps computed_taps(Builder& b, const AxisResize& axis, const ResizeRule& rule, ElementType type,
                   AxisId o, const std::string& name) {
  if (rule.exclude_outside || (rule.antialias && !(axis.scale && *axis.scale >= 1)))
    throw_unknown("the extent of a resized axis is not known");
  const bool linear = rule.interpolation == Interpolation::kLinear;
  const Position at = position_of(axis, rule, o);
  Taps taps;
  taps.tap = b.axis("t", linear ? 2 : 4);
  const Index offset = linear ? Index(taps.tap) : Index(taps.tap) - Index(1);
  const Scalar ratio =
      as_number(type, mod(at.numerator, at.denominator)) / as_number(type, at.denominator);
  const Operand weights =
      b.map(name + "_weight", {o, taps.tap}, weight_of(ratio, as_number(type, offset), rule));
  taps.index = clamped(floor_div(at.numerator, at.denominator) + offset, axis.input);
  taps.weight = weights(o, taps.tap);
  return taps;
}

ResizeTaps table_of(const AxisResize& axis, const ResizeRule& rule) {
  ResizeTaps taps = resize_taps(
      {axis.input.value(), axis.output.value(), *axis.scale, axis.crop_begin, axis.crop_end}, rule);
  if (taps.indices.empty()) {  // nothing is read, but a table has entries
    taps.indices.assign(static_cast<size_t>(taps.count), 0);
    taps.weights.assign(static_cast<size_t>(taps.count), 1.0);
  }
  return taps;
}

bool extrapolates(const ResizeTaps& taps) {
  return std::find(taps.indices.begin(), taps.indices.end(), -1) != taps.indices.end();
}

Taps tabulated_taps(Builder& b, const AxisResize& axis, const ResizeRule& rule, ElementType type,
                    AxisId o, const std::string& name) {
  const ResizeTaps table = table_of(axis, rule);
  std::vector<Literal> weights;
  for (const double weight : table.weights) weights.push_back(Literal::of_double(weight));
  Taps taps;
  taps.tap = b.axis("t", table.count);
  taps.leaves = extrapolates(table);
  const Index entry = Index(o) * Dim(table.count) + Index(taps.tap);
  taps.index = Index::table(b.index_table(name + "_index", table.indices), entry);
  taps.weight = Scalar::table(type, b.literal_table(name + "_weight", weights), entry);
  return taps;
}

// y[.., o, ..] = sum_t weight[o, t] * x[.., index[o, t], ..] along one axis
Operand interpolate(Builder& b, const Operand& x, size_t axis, const ResizeRequest& request) {
  const AxisResize& how = request.axes[axis];
  const std::string name = "axis" + std::to_string(axis);
  Shape shape = x.shape();
  shape[axis] = how.output;
  const Axes output = b.axes("o", shape);
  const auto make = how.is_known() || how.cropped() ? tabulated_taps : computed_taps;
  if (how.cropped() && !how.is_known()) throw_unknown("the extent of a cropped axis is not known");
  const Taps taps = make(b, how, request.rule, x.type(), output[axis], name);
  std::vector<Index> read(output.begin(), output.end());
  read[axis] = taps.index;
  const Scalar value = taps.leaves ? x.at_or(read, request.extrapolation) : x.at(read);
  return b.reduce("along" + std::to_string(axis), output, Combiner::kSum, {taps.tap},
                  value * taps.weight);
}

// Back to the type of the input: integers are rounded and kept in range.
Scalar narrowed(const Scalar& value, ElementType type) {
  if (is_float(type)) return Scalar::cast(type, value);
  Scalar y = Scalar::apply(Fn::kRound, {value});
  if (bits_of(type) <= 32) {
    const int64_t low = is_unsigned_int(type) ? 0 : -(int64_t{1} << (bits_of(type) - 1));
    y = min(max(y, Literal(low)), Literal(low + (int64_t{1} << bits_of(type)) - 1));
  }
  return Scalar::cast(type, y);
}

TensorExpr interpolated(const OpContext& c, const ResizeRequest& request) {
  require_class(c, 0, ElementClass::kNumber);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType type = x.type();
  const ElementType wide = is_float(type) ? accumulator_of(type) : ElementType::kF64;
  const Axes axes = b.axes("i", c.shape(0));
  Operand value = x;
  if (wide != type) value = b.map("wide", axes, Scalar::cast(wide, x.at(axes)));
  for (size_t i = 0; i < request.axes.size(); ++i)
    if (!request.axes[i].is_identity()) value = interpolate(b, value, i, request);
  if (wide == type && value.id() != x.id()) return b.finish({value});
  const Axes output = b.axes("o", Shape(value.shape()));
  return b.finish({b.map("y", output, narrowed(value.at(output), type))});
}

// The input point of an output point as plain arithmetic, for whole factors: o / f when the axis
// grows f times, o * f when it shrinks.
std::optional<Index> whole_factor(const AxisResize& axis, const ResizeRule& rule, const Index& o) {
  if (!axis.scale || axis.cropped()) return std::nullopt;
  const double scale = *axis.scale;
  const bool asymmetric = rule.coordinates == Coordinates::kAsymmetric;
  const bool half_pixel = rule.coordinates == Coordinates::kHalfPixel ||
                          rule.coordinates == Coordinates::kHalfPixelSymmetric;
  if (scale >= 1 && scale == std::floor(scale)) {
    const Dim factor(static_cast<int64_t>(scale));
    if (!(axis.input * factor == axis.output)) return std::nullopt;
    if ((asymmetric && rule.nearest == NearestRule::kFloor) ||
        (half_pixel && rule.nearest == NearestRule::kRoundPreferFloor))
      return floor_div(o, factor);
    return std::nullopt;
  }
  const double inverse = 1 / scale;
  if (asymmetric && inverse == std::floor(inverse) && scale * inverse == 1 && inverse < 1e6)
    return o * Dim(static_cast<int64_t>(inverse));
  return std::nullopt;
}

TensorExpr nearest(const OpContext& c, const ResizeRequest& request) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  Shape shape;
  for (const AxisResize& axis : request.axes) shape.push_back(axis.output);
  const Axes output = b.axes("o", shape);
  std::vector<Index> read(output.begin(), output.end());
  bool leaves = false;
  for (size_t i = 0; i < read.size(); ++i) {
    const AxisResize& axis = request.axes[i];
    if (axis.is_identity()) continue;
    if (const auto plain = whole_factor(axis, request.rule, read[i])) {
      read[i] = *plain;
    } else if (axis.is_known()) {
      const ResizeTaps taps = table_of(axis, request.rule);
      leaves |= extrapolates(taps);
      read[i] =
          Index::table(b.index_table("axis" + std::to_string(i) + "_index", taps.indices), read[i]);
    } else {
      if (axis.cropped()) throw_unknown("the extent of a cropped axis is not known");
      const Position at = position_of(axis, request.rule, read[i]);
      read[i] = clamped(nearest_index(at, request.rule.nearest), axis.input);
    }
  }
  return b.finish({b.map("y", output, leaves ? x.at_or(read, request.extrapolation) : x.at(read))});
}

}  // namespace

TensorExpr resize_expr(const OpContext& c, const ResizeRequest& request) {
  return request.rule.interpolation == Interpolation::kNearest ? nearest(c, request)
                                                               : interpolated(c, request);
}

}  // namespace hone
