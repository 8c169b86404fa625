// Resize and Upsample.
#include "ops/resize.h"

#include <algorithm>
#include <cmath>

#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

std::vector<double> doubles_of(const Buffer& buffer) {
  std::vector<double> result;
  for (int64_t i = 0; i < buffer.count(); ++i) result.push_back(buffer.as_double(i));
  return result;
}

bool is_given(const OpContext& c, size_t i) {
  return c.has(i) && !(c.rank(i) == 1 && c.dim(i, 0).is(0));
}

void require_scale(double scale) {
  if (!(scale > 0) || scale > 1e9)
    throw_invalid("the scale " + std::to_string(scale) + " is out of range");
}

// An axis resized by a factor: floor(input * scale) points. A float is a fraction of whole numbers,
// so that a symbol can be scaled exactly.
void apply_scale(AxisResize& axis, double scale) {
  require_scale(scale);
  axis.scale = scale;
  if (scale == 1) return;
  if (axis.input.is_const()) {
    const double output = static_cast<double>(axis.input.value()) * scale;
    if (output > 1e12) throw_invalid("the resized extent is out of range");
    axis.output = static_cast<int64_t>(output);
    return;
  }
  int exponent = 0;
  const double mantissa = std::frexp(scale, &exponent);
  auto numerator = static_cast<int64_t>(std::ldexp(mantissa, 24));  // exact: scales are floats
  exponent -= 24;
  while (numerator % 2 == 0 && exponent < 0) {
    numerator /= 2;
    ++exponent;
  }
  if (exponent < -40) throw_invalid("the scale is too small");
  axis.step_up = int64_t{1} << std::max(exponent, 0);
  axis.step_up *= Dim(numerator);
  axis.step_down = int64_t{1} << std::max(-exponent, 0);
  axis.output = floor_div(axis.input * axis.step_up, axis.step_down);
}

void apply_size(AxisResize& axis, const Dim& size) {
  axis.output = size;
  axis.step_up = size;
  axis.step_down = axis.input;
  if (size == axis.input) {
    axis.scale = 1;
    return;
  }
  axis.scale.reset();
  if (axis.input.is(0)) throw_invalid("an axis without points cannot be resized");
  if (size.is(0)) return;  // nothing is computed, at any scale
  const Dim factor = floor_div(size, axis.input);
  if (axis.input.is_const() && size.is_const()) {
    axis.scale = static_cast<double>(size.value()) / static_cast<double>(axis.input.value());
    require_scale(*axis.scale);
  } else if (factor.is_const() && factor * axis.input == size) {
    axis.scale = static_cast<double>(factor.value());
    axis.step_up = factor;
    axis.step_down = 1;
  }
}

// One factor for all resized axes, so that the image keeps its proportions.
void keep_aspect_ratio(std::vector<AxisResize*>& resized, bool not_larger) {
  if (resized.empty()) return;
  std::vector<double> scales;
  for (const AxisResize* axis : resized) {
    if (!axis->scale || !axis->input.is_const())
      throw_unknown("keep_aspect_ratio_policy needs known extents");
    scales.push_back(*axis->scale);
  }
  const double scale = not_larger ? *std::min_element(scales.begin(), scales.end())
                                  : *std::max_element(scales.begin(), scales.end());
  for (AxisResize* axis : resized) {
    axis->scale = scale;
    axis->output = static_cast<int64_t>(scale * static_cast<double>(axis->input.value()) + 0.5);
  }
}

ResizeRequest plain_request(const OpContext& c) {
  ResizeRequest request;
  for (const Dim& extent : c.shape(0)) request.axes.push_back({extent, extent, 1.0});
  request.rule.interpolation = interpolation_of(c.string_attribute("mode", "nearest"));
  return request;
}

void apply_scales(ResizeRequest& request, const std::vector<double>& scales,
                  const std::vector<int>& axes) {
  if (scales.size() != axes.size())
    throw_invalid("there are " + std::to_string(scales.size()) + " scales for " +
                  std::to_string(axes.size()) + " axes");
  for (size_t i = 0; i < axes.size(); ++i)
    apply_scale(request.axes[static_cast<size_t>(axes[i])], scales[i]);
}

void apply_sizes(ResizeRequest& request, const std::vector<Dim>& sizes,
                 const std::vector<int>& axes, const std::string& policy) {
  if (sizes.size() != axes.size())
    throw_invalid("there are " + std::to_string(sizes.size()) + " sizes for " +
                  std::to_string(axes.size()) + " axes");
  std::vector<AxisResize*> resized_axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i].is_const() && sizes[i].value() < 0) throw_invalid("a size is negative");
    AxisResize& axis = request.axes[static_cast<size_t>(axes[i])];
    apply_size(axis, sizes[i]);
    resized_axes.push_back(&axis);
  }
  if (policy == "stretch" || policy.empty()) return;
  if (policy != "not_larger" && policy != "not_smaller")
    throw_invalid("unknown keep_aspect_ratio_policy " + policy);
  keep_aspect_ratio(resized_axes, policy == "not_larger");
}

// Each output point is made of input points along every axis by itself: of the nearest one, or of
// a few with weights. Where they lie is tabulated (see resize_taps.h).
TensorExpr define_resize(OpContext& c) {
  const int rank = c.rank(0);
  ResizeRequest request = plain_request(c);
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (c.opset() < 11) {
    request.rule.coordinates = Coordinates::kAsymmetric;
    request.rule.nearest = NearestRule::kFloor;
    apply_scales(request, doubles_of(c.constant(1)), axes);
    return resize_expr(c, request);
  }
  ResizeRule& rule = request.rule;
  rule.coordinates =
      coordinates_of(c.string_attribute("coordinate_transformation_mode", "half_pixel"));
  rule.nearest = nearest_rule_of(c.string_attribute("nearest_mode", "round_prefer_floor"));
  rule.cubic_a = c.float_attribute("cubic_coeff_a", -0.75F);
  rule.exclude_outside = c.int_attribute("exclude_outside", 0) != 0;
  rule.antialias = c.int_attribute("antialias", 0) != 0;
  request.extrapolation = c.literal_attribute("extrapolation_value", 0);
  if (const auto given = c.ints_attribute("axes", {}); !given.empty()) {
    axes.clear();
    for (const int64_t axis : given) axes.push_back(c.axis(axis, rank));
    (void)c.axes(given, rank);  // none twice
  }
  if (is_given(c, 3)) {
    apply_sizes(request, c.dims_value(3), axes,
                c.string_attribute("keep_aspect_ratio_policy", "stretch"));
  } else if (is_given(c, 2)) {
    apply_scales(request, doubles_of(c.constant(2)), axes);
  } else {
    throw_invalid("neither scales nor sizes are given");
  }
  if (rule.coordinates == Coordinates::kTfCropAndResize) {
    const std::vector<double> crop = doubles_of(c.constant(1));
    if (crop.size() != 2 * axes.size()) throw_invalid("roi needs two values for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisResize& axis = request.axes[static_cast<size_t>(axes[i])];
      axis.crop_begin = crop[i];
      axis.crop_end = crop[axes.size() + i];
    }
  }
  return resize_expr(c, request);
}

TensorExpr define_upsample(OpContext& c) {
  ResizeRequest request = plain_request(c);
  request.rule.coordinates = Coordinates::kAsymmetric;
  request.rule.nearest = NearestRule::kFloor;
  std::vector<int> axes;
  for (int i = 0; i < c.rank(0); ++i) axes.push_back(i);
  std::vector<double> scales;
  if (c.opset() >= 9) {
    scales = doubles_of(c.constant(1));
  } else {
    for (const float scale : c.floats_attribute("scales", {})) scales.push_back(scale);
  }
  apply_scales(request, scales, axes);
  return resize_expr(c, request);
}

}  // namespace

void register_resize(OperatorTable& table) {
  table.add({.name = "Resize",
             .since = 10,
             .doc = "Resizes a tensor along its axes by nearest, linear or cubic interpolation.",
             .inputs = "x, roi?, scales?, sizes?",
             .attributes =
                 "antialias: int = 0, axes: ints, "
                 "coordinate_transformation_mode: string = \"half_pixel\", "
                 "cubic_coeff_a: float = -0.75, exclude_outside: int = 0, "
                 "extrapolation_value: float = 0, "
                 "keep_aspect_ratio_policy: string = \"stretch\", mode: string = \"nearest\", "
                 "nearest_mode: string = \"round_prefer_floor\"",
             .define = define_resize,
             .example = "Resize(x: f32[1, 1, 2, 3], roi: f32[0] = [], "
                        "scales: f32[4] = [1, 1, 2, 1.5]) {mode = \"linear\"}"});
  table.add({.name = "Upsample",
             .since = 7,
             .doc = "Enlarges a tensor along its axes (deprecated in favour of Resize).",
             .inputs = "x, scales?",
             .attributes = "mode: string = \"nearest\", scales: floats",
             .define = define_upsample,
             .example = "Upsample(x: f32[1, 1, 2, 2], scales: f32[4] = [1, 1, 2, 3])"});
}

}  // namespace hone
