// Bounds of index expressions over boxes of axes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/tensor_expr.h"

namespace hone::vm {

struct Interval {
  int64_t low, high;  // inclusive
};

// The number of a dimension that is known by now; a Failure otherwise.
[[nodiscard]] int64_t number(const Dim& dim);
[[nodiscard]] std::vector<int64_t> numbers(const Shape& shape);

// What the axes of a stage run over.
struct AxisRanges {
  const TensorExpr& expr;  // for its tables
  int first_axis = 0;      // AxisId of axes[0]
  std::vector<Interval> axes;
  std::vector<Interval> steps;  // of enclosing scans, innermost first
};
// Nothing where the index depends on data.
[[nodiscard]] std::optional<Interval> range_of(const Index& index, const AxisRanges& ranges);

}  // namespace hone::vm
