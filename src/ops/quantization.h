// Scales and zero points of quantised tensors, for operators that quantise or compute on them.
#pragma once

#include "ops/context.h"

namespace hone {

// How a scale's elements belong to those of x: one for all, one for each place of an axis, or one
// for each block of places along the axis.
class Granularity {
 public:
  // Of operand `scale` for operand `x`; a zero point after it must have the same shape.
  Granularity(const OpContext& c, size_t x, size_t scale);
  // The element of a scale or zero point that belongs to x[axes..].
  [[nodiscard]] Scalar read(const Operand& parameter, const Axes& axes) const;
  // States what the shapes must satisfy.
  void require_shapes(Builder& b, const OpContext& c, size_t x, size_t parameter) const;

 private:
  enum class Kind : uint8_t { kTensor, kAxis, kBlock } kind_;
  int axis_ = 0;
  Dim block_ = 0;
};

// round(value) + zero_point, clamped to the range of an integer type and cast to it; a float type
// takes value + zero_point, rounded by the cast. An invalid zero point is 0.
[[nodiscard]] Scalar quantize_to(ElementType type, const Scalar& value, const Scalar& zero_point,
                                 bool saturate = true);

}  // namespace hone
