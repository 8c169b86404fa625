// The expression of a resized tensor.
#pragma once

#include <optional>
#include <vector>

#include "ops/context.h"
#include "ops/resize_taps.h"

namespace hone {

// What a node asks of one axis.
struct AxisResize {
  Dim input, output;
  std::optional<double> scale{};   // none: not known before a run
  Dim step_up = 1, step_down = 1;  // the same as a fraction, in symbols if need be
  double crop_begin = 0, crop_end = 1;

  [[nodiscard]] bool cropped() const { return crop_begin != 0 || crop_end != 1; }
  [[nodiscard]] bool is_identity() const {
    return input == output && scale && *scale == 1 && !cropped();
  }
  [[nodiscard]] bool is_known() const { return input.is_const() && output.is_const() && scale; }
};

struct ResizeRequest {
  std::vector<AxisResize> axes;  // one for each axis of operand 0
  ResizeRule rule;
  Literal extrapolation;
};

// Along each axis by itself, an output point is the nearest input point or a weighted sum of a few.
// Where they lie is tabulated for known extents and computed by exact index arithmetic for symbols.
[[nodiscard]] TensorExpr resize_expr(const OpContext& c, const ResizeRequest& request);

}  // namespace hone
