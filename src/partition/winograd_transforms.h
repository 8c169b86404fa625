// The linear transforms of Winograd's algorithm: of values known when a kernel runs, and of
// weights.
#pragma once

#include <cstdint>
#include <vector>

#include "expr/scalar.h"
#include "lower/linear_code.h"
#include "tensor/buffer.h"

namespace hone {

using ScalarGrid = std::vector<std::vector<Scalar>>;

// C g CT, where the code stands for C.
[[nodiscard]] ScalarGrid transform(const LinearCode& code, const ScalarGrid& grid);

// U[e, c, k] from w, whose strides along k, c and the taps are given.
[[nodiscard]] Buffer transformed_weights(const Buffer& weights, int64_t channels, int64_t outputs,
                                         const int64_t (&strides)[4], const LiteralMatrix& filter);

}  // namespace hone
