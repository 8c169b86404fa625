// Which input points, with which weights, make up each output point of a resized axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };
enum class Coordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
};
enum class NearestRule : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct ResizeRule {
  Interpolation interpolation = Interpolation::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  NearestRule nearest = NearestRule::kRoundPreferFloor;
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

struct ResizedAxis {
  int64_t input = 0, output = 0;
  double scale = 1;
  double crop_begin = 0, crop_end = 1;  // the part of the input that is resized (kTfCropAndResize)
};

// Output point o is the sum over t < count of weights[o * count + t] * input[indices[o * count +
// t]]. An index of -1 stands for the extrapolation value. No weights: all are 1.
struct ResizeTaps {
  int64_t count = 1;
  std::vector<int64_t> indices;
  std::vector<double> weights;
};

// Throws a Failure where the extents make no sense.
[[nodiscard]] ResizeTaps resize_taps(const ResizedAxis& axis, const ResizeRule& rule);

// The names of ONNX; a Failure for others.
[[nodiscard]] Interpolation interpolation_of(const std::string& name);
[[nodiscard]] Coordinates coordinates_of(const std::string& name);
[[nodiscard]] NearestRule nearest_rule_of(const std::string& name);

}  // namespace hone
