// Tensor expressions as text, printed and parsed; and operator definitions by users.
#pragma once

#include <string>
#include <string_view>

#include "expr/tensor_expr.h"

namespace hone {

// (x: f32[N, K]) -> (y) {
//   m: f32[o < N] = max[k < K] x[o, k]
//   s: f32[o < N] = sum[k < K] exp(x[o, k] - m[o])
//   y: f32[o < N, i < K] = exp(x[o, i] - m[o]) / s[o]
// }
[[nodiscard]] std::string to_text(const TensorExpr& expr);
// `where` in the Error is "line:column".
[[nodiscard]] Result<TensorExpr> parse_expr(std::string_view text);

// With axis names for AxisId 0, 1, ... (missing ones print as #0, #1).
[[nodiscard]] std::string to_text(const Index& index, const std::vector<std::string>& axes);
[[nodiscard]] std::string to_text(const Scalar& scalar, const TensorExpr& expr,
                                  const std::vector<std::string>& axes);
// "2*N + H/2 - 1"
[[nodiscard]] Result<Dim> parse_dim(std::string_view text);

}  // namespace hone
