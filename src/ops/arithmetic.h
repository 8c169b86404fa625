// Small pieces that the families of contractions, windows and quantized operators share.
#pragma once

#include <string_view>
#include <vector>

#include "ops/element_classes.h"

namespace hone {

// An index as a number of `type`: a literal where it is known.
[[nodiscard]] Scalar as_number(ElementType type, const Index& value);
// The smallest value of an integer type, or minus infinity: the neutral element of max.
[[nodiscard]] Literal lowest_of(ElementType type);

// Throws unless operand `i` is of one of `types`; `what` names it in the message.
void require_type(const OpContext& c, size_t i, std::string_view what,
                  const std::vector<ElementType>& types);
// Throws unless operand `i` has exactly that many axes.
void require_axes(const OpContext& c, size_t i, std::string_view what, int rank);

// value * multiplier + zero_point, rounded to the nearest even integer and clipped to the range of
// the zero point's type. `value` is an i32 accumulator; the product is taken in f64.
[[nodiscard]] Scalar requantize(const Scalar& value, const Scalar& multiplier,
                                const Scalar& zero_point);

}  // namespace hone
