#include "ops/resize_taps.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace hone {
namespace {

// Tables beyond this are no sensible resize, but would fill the memory.
constexpr int64_t kLargestTable = int64_t{1} << 22;

// Where an output point lies in the input. Aligned corners count the output's width before it is
// rounded to whole points, as ONNX's own cases have it.
double source_of(const ResizedAxis& axis, Coordinates coordinates, double o) {
  const double input = static_cast<double>(axis.input);
  const double width = axis.scale * input;
  const double half_pixel = (o + 0.5) / axis.scale - 0.5;
  switch (coordinates) {
    case Coordinates::kHalfPixel:
      return half_pixel;
    case Coordinates::kHalfPixelSymmetric: {
      const double adjustment = static_cast<double>(axis.output) / width;
      return input / 2 * (1 - adjustment) + half_pixel;
    }
    case Coordinates::kPytorchHalfPixel:
      return axis.output == 1 ? 0 : half_pixel;
    case Coordinates::kAlignCorners:
      return width == 1 ? 0 : o * (input - 1) / (width - 1);
    case Coordinates::kAsymmetric:
      return o / axis.scale;
    case Coordinates::kTfCropAndResize: {
      const double part = axis.crop_end - axis.crop_begin;
      const double inside = axis.output == 1
                                ? part * (input - 1) / 2
                                : o * part * (input - 1) / static_cast<double>(axis.output - 1);
      return inside + axis.crop_begin * (input - 1);
    }
  }
  return 0;
}

int64_t nearest_index(double x, NearestRule rule) {
  const double low = std::floor(x);
  const double ratio = x - low;
  const auto index = static_cast<int64_t>(low);
  if (ratio == 0) return index;
  switch (rule) {
    case NearestRule::kRoundPreferFloor:
      return ratio <= 0.5 ? index : index + 1;
    case NearestRule::kRoundPreferCeil:
      return ratio < 0.5 ? index : index + 1;
    case NearestRule::kFloor:
      return index;
    case NearestRule::kCeil:
      return index + 1;
  }
  return index;
}

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double keys(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double kernel_at(const ResizeRule& rule, double x) {
  return rule.interpolation == Interpolation::kLinear ? triangle(x) : keys(x, rule.cubic_a);
}

// The window: taps from `first` on, relative to the last point strictly left of the position.
// Antialiasing widens it when the axis shrinks.
struct Window {
  int64_t first, count;
  double stretch;
};

Window window_of(const ResizeRule& rule, double scale) {
  const double stretch = rule.antialias ? std::min(scale, 1.0) : 1.0;
  const double radius = rule.interpolation == Interpolation::kLinear ? 1 : 2;
  const double first = std::floor(-radius / stretch) + 1;
  if (!(first > -static_cast<double>(kLargestTable))) throw_invalid("the scale is too small");
  const auto begin = static_cast<int64_t>(first);
  return {begin, 2 - 2 * begin, stretch};
}

void require_sensible(const ResizedAxis& axis, int64_t taps) {
  if (!(axis.scale > 0) || !std::isfinite(axis.scale))
    throw_invalid("the scale " + std::to_string(axis.scale) + " is not positive");
  if (axis.input <= 0 && axis.output > 0) throw_invalid("an axis without points cannot be resized");
  if (axis.output < 0) throw_invalid("the resized extent is negative");
  if (axis.output > kLargestTable / taps)
    throw_unsupported("the resized extent " + std::to_string(axis.output) + " is too large");
}

bool extrapolates(const ResizedAxis& axis, const ResizeRule& rule, double x) {
  return rule.coordinates == Coordinates::kTfCropAndResize &&
         !(x >= 0 && x <= static_cast<double>(axis.input - 1));
}

// Keeps positions within what integers hold; all beyond reads the edge anyway.
double limited(const ResizedAxis& axis, double x) {
  const double far = static_cast<double>(axis.input) + static_cast<double>(kLargestTable);
  return std::isnan(x) ? 0 : std::clamp(x, -far, far);
}

}  // namespace

ResizeTaps resize_taps(const ResizedAxis& axis, const ResizeRule& rule) {
  ResizeTaps taps;
  const bool nearest = rule.interpolation == Interpolation::kNearest;
  require_sensible(axis, 1);
  const Window window = nearest ? Window{0, 1, 1} : window_of(rule, axis.scale);
  require_sensible(axis, window.count);
  taps.count = window.count;
  const int64_t last = std::max<int64_t>(axis.input - 1, 0);
  for (int64_t o = 0; o < axis.output; ++o) {
    const double x = limited(axis, source_of(axis, rule.coordinates, static_cast<double>(o)));
    const bool outside = extrapolates(axis, rule, x);
    if (nearest) {
      const int64_t index = std::clamp<int64_t>(nearest_index(x, rule.nearest), 0, last);
      taps.indices.push_back(outside ? -1 : index);
      continue;
    }
    // A position on a point counts as at the right end of the cell to its left.
    const double left = std::ceil(x) - 1;
    const double ratio = x - left;
    std::vector<double> weights;
    double sum = 0;
    for (int64_t t = 0; t < window.count; ++t) {
      const double distance = static_cast<double>(window.first + t) - ratio;
      double weight = kernel_at(rule, distance * window.stretch);
      const int64_t index = static_cast<int64_t>(left) + window.first + t;
      if (rule.exclude_outside && (index < 0 || index > last)) weight = 0;
      sum += weight;
      weights.push_back(weight);
      taps.indices.push_back(outside ? -1 : std::clamp<int64_t>(index, 0, last));
    }
    const bool normalised = (rule.antialias || rule.exclude_outside) && sum != 0;
    for (size_t t = 0; t < weights.size(); ++t) {
      const double weight = normalised ? weights[t] / sum : weights[t];
      taps.weights.push_back(outside ? (t == 0 ? 1.0 : 0.0) : weight);
    }
  }
  return taps;
}

Interpolation interpolation_of(const std::string& name) {
  if (name == "nearest") return Interpolation::kNearest;
  if (name == "linear" || name == "bilinear") return Interpolation::kLinear;
  if (name == "cubic") return Interpolation::kCubic;
  throw_invalid("mode = " + name, "nearest, linear or cubic is meant");
}

Coordinates coordinates_of(const std::string& name) {
  if (name == "half_pixel") return Coordinates::kHalfPixel;
  if (name == "half_pixel_symmetric") return Coordinates::kHalfPixelSymmetric;
  if (name == "pytorch_half_pixel") return Coordinates::kPytorchHalfPixel;
  if (name == "align_corners") return Coordinates::kAlignCorners;
  if (name == "asymmetric") return Coordinates::kAsymmetric;
  if (name == "tf_crop_and_resize") return Coordinates::kTfCropAndResize;
  if (name == "tf_half_pixel_for_nn")
    throw_unsupported("coordinate_transformation_mode = " + name + " of opset 11 alone");
  throw_invalid("unknown coordinate_transformation_mode " + name);
}

NearestRule nearest_rule_of(const std::string& name) {
  if (name == "round_prefer_floor" || name.empty()) return NearestRule::kRoundPreferFloor;
  if (name == "round_prefer_ceil") return NearestRule::kRoundPreferCeil;
  if (name == "floor") return NearestRule::kFloor;
  if (name == "ceil") return NearestRule::kCeil;
  throw_invalid("unknown nearest_mode " + name);
}

}  // namespace hone
