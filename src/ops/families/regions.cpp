// Pooling of regions and its inverse: RoiAlign, MaxRoiPool, MaxUnpool.
#include <algorithm>
#include <cmath>

#include "ops/arithmetic.h"
#include "ops/indexing.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace hone {
namespace {

Scalar floor_of(const Scalar& x) { return Scalar::apply(Fn::kFloor, {x}); }
Scalar ceil_of(const Scalar& x) { return Scalar::apply(Fn::kCeil, {x}); }
Scalar to_int(const Scalar& x) { return Scalar::cast(ElementType::kI64, x); }

struct RoiAlign {
  ElementType type;
  Literal scale, offset;  // region corners are taken times scale, minus offset
  bool half_pixel, maximum;
  int64_t ratio;  // samples per bin and axis, 0: as many as the bin has points
};

// Samples of one axis of all regions: weights [region, bin, sample, 2] and the lower neighbours.
struct RoiAxis {
  Operand low, weight;
  Operand samples;  // [region]: how many samples a bin has
  AxisId bin, sample, side;
};

// The most samples that any region has along one axis, from the regions' contents.
int64_t most_samples(const OpContext& c, const RoiAlign& roi, size_t axis, int64_t bins) {
  if (roi.ratio > 0) return roi.ratio;
  const Buffer& regions = c.constant(1);
  double most = 0;
  for (int64_t r = 0; r < regions.count() / 4; ++r) {
    const auto corner = static_cast<int64_t>(axis == 0 ? 1 : 0) + 4 * r;
    const double size = (regions.as_double(corner + 2) - regions.as_double(corner)) *
                        std::abs(roi.scale.to_double());
    most = std::max(
        most,
        std::ceil((roi.half_pixel ? size : std::max(size, 1.0)) / static_cast<double>(bins)) + 1);
  }
  if (!(most < 1e6)) throw_invalid("a region is too large");
  return std::max<int64_t>(static_cast<int64_t>(most), 1);
}

RoiAxis roi_axis(const OpContext& c, Builder& b, const RoiAlign& roi, const Operand& regions,
                 AxisId region, size_t axis, int64_t bins) {
  const std::string name = axis == 0 ? "y" : "x";
  const Dim extent = c.dim(0, static_cast<int>(axis) + 2);
  const int64_t corner = axis == 0 ? 1 : 0;
  const auto edge = [&](int64_t which) {
    return Scalar::cast(roi.type, regions(region, which)) * roi.scale - roi.offset;
  };
  Scalar size = edge(corner + 2) - edge(corner);
  if (!roi.half_pixel) size = max(size, Literal(1));
  RoiAxis result;
  const Operand bin_size = b.map(name + "_bin", {region}, size / Literal(bins));
  result.samples =
      b.map(name + "_samples", {region},
            roi.ratio > 0 ? Scalar::literal(roi.type, roi.ratio) : ceil_of(bin_size(region)));
  result.bin = b.axis(name + "_o", bins);
  result.sample = b.axis(name + "_s", most_samples(c, roi, axis, bins));
  result.side = b.axis(name + "_side", 2);

  // The sample's position; outside [-1, extent] it counts as 0, on the rim it moves inside.
  const Axes at = {region, result.bin, result.sample};
  const Scalar step = (as_number(roi.type, Index(result.sample)) + Literal::rational(1, 2)) *
                      bin_size(region) / result.samples(region);
  const Operand position =
      b.map(name + "_position", at,
            edge(corner) + as_number(roi.type, Index(result.bin)) * bin_size(region) + step);
  const Scalar p = position.at(at);
  const Scalar inside = logical_and(less_equal(Scalar::literal(roi.type, -1), p),
                                    less_equal(p, as_number(roi.type, extent)));
  const Scalar last = as_number(roi.type, extent - 1);
  const Scalar clipped = min(max(p, Literal(0)), last);
  result.low = b.map(name + "_low", at, to_int(select(inside, floor_of(clipped), Literal(0))));
  const Scalar fraction = clipped - floor_of(clipped);
  const Scalar weight =
      select(equal(Index(result.side), Index(0)), Literal(1) - fraction, fraction);
  Axes weight_axes = at;
  weight_axes.push_back(result.side);
  result.weight = b.map(name + "_weight", weight_axes, select(inside, weight, Literal(0)));
  return result;
}

// y[r, c, i, j] = mean (or max) over samples s, t and their neighbours of weight * x[batch[r], c,
// ..]
TensorExpr define_roi_align(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_axes(c, 0, "x", 4);
  require_axes(c, 1, "rois", 2);
  require_axes(c, 2, "batch_indices", 1);
  require_class(c, 2, ElementClass::kInteger);
  RoiAlign roi;
  roi.type = accumulator_of(c.type(0));
  roi.scale = c.literal_attribute("spatial_scale", 1.0F);
  roi.half_pixel = c.opset() >= 16 && c.string_attribute("coordinate_transformation_mode",
                                                         "half_pixel") == "half_pixel";
  roi.offset = roi.half_pixel ? Literal::rational(1, 2) : Literal(0);
  roi.maximum = c.string_attribute("mode", "avg") == "max";
  roi.ratio = c.int_attribute("sampling_ratio", 0);
  const int64_t height = c.int_attribute("output_height", 1);
  const int64_t width = c.int_attribute("output_width", 1);
  if (height < 1 || width < 1 || height > (1 << 20) || width > (1 << 20) || roi.ratio > (1 << 16))
    throw_invalid("an extent of the output or sampling_ratio is out of range");
  if (c.dim(0, 2).is(0) || c.dim(0, 3).is(0)) throw_invalid("the image has no points");

  Builder b;
  const auto x = c.declare(b, {"x", "rois", "batch"});
  b.require_equal(c.dim(1, 1), Dim(4), "columns of the regions and corners");
  b.require_equal(c.dim(1, 0), c.dim(2, 0), "numbers of regions and of batch indices");
  const AxisId region = b.axis("r", c.dim(1, 0));
  const AxisId channel = b.axis("c", c.dim(0, 1));
  const RoiAxis rows = roi_axis(c, b, roi, x[1], region, 0, height);
  const RoiAxis columns = roi_axis(c, b, roi, x[1], region, 1, width);
  const auto neighbour = [&](const RoiAxis& axis, int image_axis) {
    return min(Index::value(axis.low(region, axis.bin, axis.sample)) + Index(axis.side),
               Index(c.dim(0, image_axis) - 1));
  };
  const auto weight = [&](const RoiAxis& axis) {
    return axis.weight(region, axis.bin, axis.sample, axis.side);
  };
  Scalar value = Scalar::cast(roi.type, x[0](Index::value(x[2](region)), channel,
                                             neighbour(rows, 2), neighbour(columns, 3))) *
                 weight(rows) * weight(columns);
  if (roi.ratio <= 0) {
    const auto taken = [&](const RoiAxis& axis) {
      return less(as_number(roi.type, Index(axis.sample)), axis.samples(region));
    };
    value = select(logical_and(taken(rows), taken(columns)), value,
                   roi.maximum ? lowest_of(roi.type) : Literal(0));
  }
  const Axes output = {region, channel, rows.bin, columns.bin};
  const Operand total = b.reduce("total", output, roi.maximum ? Combiner::kMax : Combiner::kSum,
                                 {rows.sample, columns.sample, rows.side, columns.side}, value);
  const Scalar count =
      max(rows.samples(region), Literal(0)) * max(columns.samples(region), Literal(0));
  const Scalar y = roi.maximum ? select(less(count, Literal(1)), Literal(0), total.at(output))
                               : total.at(output) / max(count, Literal(1));
  return b.finish({b.map("y", output, Scalar::cast(c.type(0), y))});
}

// y[r, c, i, j] = max of x[batch, c, h, w] over the points h, w in the bin (i, j) of region r, 0 if
// there is none. The region is (batch, x1, y1, x2, y2), both corners included.
TensorExpr define_max_roi_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  require_axes(c, 0, "x", 4);
  require_axes(c, 1, "rois", 2);
  const auto pooled = c.ints_attribute("pooled_shape", {});
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1 || pooled[0] > (1 << 20) ||
      pooled[1] > (1 << 20))
    throw_invalid("pooled_shape is not two positive numbers");
  const Literal scale = c.literal_attribute("spatial_scale", 1.0F);
  Builder b;
  const auto x = c.declare(b, {"x", "rois"});
  b.require_equal(c.dim(1, 1), Dim(5), "columns of the regions and 5");
  const AxisId region = b.axis("r", c.dim(1, 0));
  const AxisId channel = b.axis("c", c.dim(0, 1));
  const ElementType wide = accumulator_of(c.type(0));
  Scalar within = Scalar::literal(ElementType::kBool, 1);
  Axes bins;
  Axes points;
  for (int axis = 0; axis < 2; ++axis) {
    const std::string name = axis == 0 ? "y" : "x";
    const Dim extent = c.dim(0, axis + 2);
    const AxisId bin = b.axis(name + "_o", pooled[static_cast<size_t>(axis)]);
    const AxisId point = b.axis(name + "_i", extent);
    const auto corner = [&](int64_t which) {
      return floor_of(Scalar::cast(wide, x[1](region, which)) * scale + Literal::rational(1, 2));
    };
    const Scalar start = corner(axis == 0 ? 2 : 1);
    const Scalar size = max(corner(axis == 0 ? 4 : 3) - start + Literal(1), Literal(1));
    const Scalar step = size / Literal(pooled[static_cast<size_t>(axis)]);
    const auto limited = [&](const Scalar& value) {
      return to_int(min(max(value, Literal(0)), as_number(wide, extent)));
    };
    const Operand begin = b.map(name + "_begin", {region, bin},
                                limited(floor_of(as_number(wide, Index(bin)) * step) + start));
    const Operand end =
        b.map(name + "_end", {region, bin},
              limited(ceil_of(as_number(wide, Index(bin) + Index(1)) * step) + start));
    within = logical_and(within, less_equal(begin(region, bin), Scalar::index(point)));
    within = logical_and(within, less(Scalar::index(point), end(region, bin)));
    bins.push_back(bin);
    points.push_back(point);
  }
  const Axes output = {region, channel, bins[0], bins[1]};
  const Operand batch = b.map("batch", {region}, to_int(x[1](region, 0)));
  const Scalar value = x[0](Index::value(batch(region)), channel, points[0], points[1]);
  const Operand most =
      b.reduce("most", output, Combiner::kMax, points, select(within, value, lowest_of(c.type(0))));
  const Operand any = b.reduce("any", {region, bins[0], bins[1]}, Combiner::kOr, points, within);
  return b.finish(
      {b.map("y", output, select(any(region, bins[0], bins[1]), most.at(output), Literal(0)))});
}

// y[flat position i[n, c, o..]] = x[n, c, o..], 0 elsewhere. The positions count in the shape that
// the attributes give; output_shape may add zeros behind it.
TensorExpr define_max_unpool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_class(c, 1, ElementClass::kInteger);
  const Shape spatial = spatial_extents(c, 0);
  const size_t rank = spatial.size();
  const std::vector<Dim> kernel = required_kernel(c, rank);
  const std::vector<Dim> strides = spatial_attribute(c, "strides", rank, 1, 1);
  const std::vector<Dim> pads = spatial_attribute(c, "pads", 2 * rank, 0, 0);
  Shape shape = {c.dim(0, 0), c.dim(0, 1)};
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back((spatial[i] - 1) * strides[i] - pads[i] - pads[rank + i] + kernel[i]);
    if (shape.back().is_const() && shape.back().value() < 1)
      throw_invalid("the unpooled tensor is empty");
  }
  Builder b;
  const auto x = c.declare(b, {"x", "indices"});
  require_axes(c, 1, "the indices", static_cast<int>(rank) + 2);
  for (size_t i = 0; i < rank + 2; ++i)
    b.require_equal(c.shape(0)[i], c.shape(1)[i], "extents of the input and the indices");
  const Axes output = b.axes("o", shape);
  const Axes source = b.axes("i", c.shape(0));
  const Index flat = Index::value(x[1].at(source));
  std::vector<Index> target(shape.size());
  Dim step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    const Index place = floor_div(flat, step);
    target[i] = i == 0 ? place : mod(place, shape[i]);
    step *= shape[i];
  }
  const Operand y = b.scatter("y", output, Scalar::literal(x[0].type(), 0), Combiner::kNone, source,
                              target, x[0].at(source));
  if (!c.has(2)) return b.finish({y});
  const std::vector<Dim> wanted = c.dims_value(2);
  if (wanted.size() != shape.size()) throw_invalid("output_shape has the wrong length");
  const Axes larger = b.axes("p", wanted);
  return b.finish({b.map("padded", larger, y.at_or(to_indices(larger), 0))});
}

}  // namespace

void register_regions(OperatorTable& table) {
  table.add({.name = "RoiAlign",
             .since = 10,
             .doc = "Pools regions of an image, reading it between its points.",
             .inputs = "x, rois, batch_indices",
             .attributes = "coordinate_transformation_mode: string = \"half_pixel\", "
                           "mode: string = \"avg\", output_height: int = 1, output_width: int = 1, "
                           "sampling_ratio: int = 0, spatial_scale: float = 1",
             .define = define_roi_align,
             .example = "RoiAlign(x: f32[1, 2, 6, 6], rois: f32[3, 4], batch: i64[3] = [0, 0, 0]) "
                        "{output_height = 2, output_width = 2, sampling_ratio = 2}"});
  table.add({.name = "MaxRoiPool",
             .since = 1,
             .doc = "Maximum over the bins of regions of an image.",
             .inputs = "x, rois",
             .attributes = "pooled_shape: ints, spatial_scale: float = 1",
             .define = define_max_roi_pool,
             .example = "MaxRoiPool(x: f32[1, 2, 6, 6], rois: f32[3, 5]) {pooled_shape = [2, 2]}"});
  table.add({.name = "MaxUnpool",
             .since = 9,
             .doc = "Puts pooled maxima back to where MaxPool found them.",
             .inputs = "x, indices, output_shape?",
             .attributes = "kernel_shape: ints, pads: ints, strides: ints",
             .define = define_max_unpool,
             .example = "MaxUnpool(x: f32[1, 1, 2, 2], i: i64[1, 1, 2, 2]) "
                        "{kernel_shape = [2, 2], strides = [2, 2]}"});
}

}  // namespace hone
