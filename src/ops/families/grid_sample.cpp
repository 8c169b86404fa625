// Sampling at computed positions: GridSample and AffineGrid.
#include "ops/arithmetic.h"
#include "ops/sampling.h"
#include "ops/table.h"

namespace hone {
namespace {

enum class Padding : uint8_t { kZeros, kBorder, kReflection };
enum class Mode : uint8_t { kNearest, kLinear, kCubic };

Padding padding_of(const OpContext& c) {
  const std::string name = c.string_attribute("padding_mode", "zeros");
  if (name == "zeros") return Padding::kZeros;
  if (name == "border") return Padding::kBorder;
  if (name == "reflection") return Padding::kReflection;
  throw_invalid("padding_mode = " + name, "zeros, border or reflection is meant");
}

Mode mode_of(const OpContext& c) {
  const std::string name = c.string_attribute("mode", "linear");
  if (name == "nearest") return Mode::kNearest;
  if (name == "linear" || name == "bilinear") return Mode::kLinear;
  if (name == "cubic" || name == "bicubic") return Mode::kCubic;
  throw_invalid("mode = " + name, "nearest, linear or cubic is meant");
}

// From [-1, 1] to indices: the ends are the centres of the outer points (aligned corners) or
// their outer borders.
Scalar denormalise(const Scalar& g, const Dim& extent, bool aligned) {
  const Scalar d = as_number(g.type(), extent);
  if (aligned) return (g + Literal(1)) / Literal(2) * (d - Literal(1));
  return ((g + Literal(1)) * d - Literal(1)) / Literal(2);
}

// A position outside the image, mirrored at its ends until it lies inside:
// with y = |x - low|, n = floor(y / range), r = y - n range:  low + r for even n, else high - r
Scalar reflect(const Scalar& x, const Dim& extent, bool aligned) {
  const ElementType type = x.type();
  const Literal low = aligned ? Literal(0) : Literal::rational(-1, 2);
  const Scalar range = as_number(type, aligned ? max(extent - 1, Dim(1)) : extent);
  const Scalar y = abs(x - low);
  const Scalar n = Scalar::apply(Fn::kFloor, {y / range});
  const Scalar r = y - n * range;
  const Scalar half = n / Literal(2);
  const Scalar even = equal(half, Scalar::apply(Fn::kFloor, {half}));
  return select(even, r + low, range - r + low);
}

// Moves positions outside the image to where the padding reads. Cubic windows keep their position
// beside the border, whose points each neighbour then repeats.
Scalar pad_position(const Scalar& x, const Dim& extent, Mode mode, Padding padding, bool aligned) {
  const bool stays = padding == Padding::kBorder && mode == Mode::kCubic;
  if (padding == Padding::kZeros || stays) return near_box(x, extent, 2);
  const Scalar d = as_number(x.type(), extent);
  const Literal low = aligned ? Literal(0) : Literal::rational(-1, 2);
  const Literal beyond = aligned ? Literal(1) : Literal::rational(1, 2);
  const Scalar outside = logical_or(less(x, low), less(d - beyond, x));
  const Scalar moved = padding == Padding::kBorder ? min(max(x, Literal(0)), d - Literal(1))
                                                   : reflect(x, extent, aligned);
  return select(outside, moved, x);
}

// The same for the index of a neighbour. Reflection has the period 2 d, or 2 (d - 1) for aligned
// corners.
Index pad_index(const Index& i, const Dim& extent, Padding padding, bool aligned) {
  if (padding == Padding::kZeros) return i;
  if (padding == Padding::kBorder) return min(max(i, Index(0)), Index(extent - 1));
  if (!aligned) {
    const Index m = mod(i, extent * 2);
    return min(m, Index(extent * 2 - 1) - m);
  }
  const Dim period = max((extent - 1) * 2, Dim(1));
  const Index m = mod(i, period);
  return min(m, Index((extent - 1) * 2) - m);
}

Scalar read_padded(const Operand& x, const std::vector<Index>& at, Padding padding) {
  return padding == Padding::kZeros ? x.at_or(at, 0) : x.at(at);
}

// y[n, c, o..] = x interpolated at the position that grid[n, o.., :] names, last axis first
TensorExpr define_grid_sample(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  require_class(c, 1, ElementClass::kFloat);
  require_rank(c, 0, 3);
  const Shape shape = c.shape(0);
  const Shape grid_shape = c.shape(1);
  const size_t rank = shape.size() - 2;
  if (grid_shape.size() != shape.size()) throw_invalid("the grid has another rank than the input");
  const Mode mode = mode_of(c);
  const Padding padding = padding_of(c);
  const bool aligned = c.int_attribute("align_corners", 0) != 0;
  Builder b;
  const auto x = c.declare(b, {"x", "grid"});
  b.require_equal(shape[0], grid_shape[0], "batch extents of the input and the grid");
  b.require_equal(grid_shape.back(), Dim(static_cast<int64_t>(rank)),
                  "the last extent of the grid and the number of spatial axes");
  for (size_t j = 0; j < rank; ++j)
    if (shape[j + 2].is(0)) throw_invalid("an image without points cannot be sampled");

  const AxisId n = b.axis("n", shape[0]);
  const AxisId channel = b.axis("c", shape[1]);
  const Axes points = b.axes("o", {grid_shape.begin() + 1, grid_shape.end() - 1});
  Axes at = {n};
  at.insert(at.end(), points.begin(), points.end());
  Axes output = {n, channel};
  output.insert(output.end(), points.begin(), points.end());

  const ElementType wide = is_float(x[0].type()) ? accumulator_of(x[0].type()) : ElementType::kF32;
  std::vector<Index> read = {n, channel};
  Axes taps;
  Scalar weight = Scalar::literal(wide, 1);
  for (size_t j = 0; j < rank; ++j) {
    const std::string name = "p" + std::to_string(j);
    const Dim& extent = shape[j + 2];
    std::vector<Index> component(at.begin(), at.end());
    component.emplace_back(static_cast<int64_t>(rank - 1 - j));
    const Scalar g = Scalar::cast(accumulator_of(x[1].type()), x[1].at(component));
    const Scalar position = denormalise(g, extent, aligned);
    if (mode == Mode::kNearest) {
      // Limited first, so that no position leaves the range of integers.
      const Scalar rounded = Scalar::apply(
          Fn::kRound, {padding == Padding::kZeros ? near_box(position, extent, 2) : position});
      const Operand index = b.map(name, at, Scalar::cast(ElementType::kI64, rounded));
      read.push_back(pad_index(Index::value(index.at(at)), extent, padding, aligned));
      continue;
    }
    const Scalar padded = pad_position(position, extent, mode, padding, aligned);
    const Sampler sampler = mode == Mode::kLinear ? linear_sampler(b, name, at, padded)
                                                  : cubic_sampler(b, name, at, padded);
    taps.push_back(sampler.tap);
    weight = weight * Scalar::cast(wide, sampler.weight);
    read.push_back(pad_index(sampler.neighbour, extent, padding, aligned));
  }
  const Scalar value = read_padded(x[0], read, padding);
  if (mode == Mode::kNearest) return b.finish({b.map("y", output, value)});
  const Operand sum =
      b.reduce("total", output, Combiner::kSum, taps, Scalar::cast(wide, value) * weight);
  if (wide == x[0].type()) return b.finish({sum});
  return b.finish({b.map("y", output, Scalar::cast(x[0].type(), sum.at(output)))});
}

// grid[n, o.., i] = sum_j theta[n, i, j] * position_j(o) + theta[n, i, last], with the positions of
// the output's points in [-1, 1], last axis first
TensorExpr define_affine_grid(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_axes(c, 0, "theta", 3);
  const std::vector<Dim> size = c.dims_value(1);
  if (size.size() != 4 && size.size() != 5)
    throw_invalid("size has " + std::to_string(size.size()) + " values instead of 4 or 5");
  const bool aligned = c.int_attribute("align_corners", 0) != 0;
  const size_t rank = size.size() - 2;
  const auto components = static_cast<int64_t>(rank);
  Builder b;
  const Operand theta = c.declare(b, {"theta"})[0];
  b.require_equal(c.dim(0, 0), size[0], "batch extents of theta and size");
  b.require_equal(c.dim(0, 1), Dim(components), "rows of theta and spatial axes");
  b.require_equal(c.dim(0, 2), Dim(components + 1), "columns of theta and spatial axes plus one");
  const AxisId n = b.axis("n", size[0]);
  const AxisId i = b.axis("i", Dim(components));
  const Axes points = b.axes("o", {size.begin() + 2, size.end()});
  const ElementType type = theta.type();
  Scalar sum = theta(n, i, components);
  for (size_t j = 0; j < rank; ++j) {
    const AxisId point = points[rank - 1 - j];
    const Dim& extent = size[size.size() - 1 - j];
    // -1 + 2 o / (d - 1), or -1 + (2 o + 1) / d
    const Index twice = Index(point) * Dim(2);
    const Scalar position = aligned
                                ? as_number(type, twice) / as_number(type, max(extent - 1, Dim(1)))
                                : as_number(type, twice + Index(1)) / as_number(type, extent);
    sum = sum + theta(n, i, static_cast<int64_t>(j)) * (position - Literal(1));
  }
  Axes output = {n};
  output.insert(output.end(), points.begin(), points.end());
  output.push_back(i);
  return b.finish({b.map("grid", output, sum)});
}

}  // namespace

void register_grid_sample(OperatorTable& table) {
  table.add({.name = "GridSample",
             .since = 16,
             .doc = "Reads an image at the positions of a grid, interpolating between its points.",
             .inputs = "x, grid",
             .attributes = "align_corners: int = 0, mode: string = \"linear\", "
                           "padding_mode: string = \"zeros\"",
             .define = define_grid_sample,
             .example = "GridSample(x: f32[1, 2, 4, 4], grid: f32[1, 3, 3, 2])"});
  table.add({.name = "AffineGrid",
             .since = 20,
             .doc = "The grid of positions that an affine map gives to the points of an image.",
             .inputs = "theta, size",
             .outputs = "grid",
             .attributes = "align_corners: int = 0",
             .define = define_affine_grid,
             .example = "AffineGrid(theta: f32[1, 2, 3], size: i64[4] = [1, 1, 4, 5])"});
}

}  // namespace hone
