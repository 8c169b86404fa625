// Tensor expressions as text, printed and parsed. The grammar: expr/syntax.h.
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
//
// Indices: axes and dimensions with + - *, / (floor-div), % (mod), min( , ), max( , ); t[i] of an
//   `itable t = [0, 0, 1]`; idx[u], or value(scalar), for what only a run knows.
// Scalars: reads x[i, j], or x[i - 1 | 0] with the value outside the box; infix + - * / < <= == and
//   or; calls exp(a), max(a, b), select(c, a, b), not(c); casts f32(a), without saturation
//   wrap_f8e4m3fn(a); at(i + 1), an index as i64; $alpha:f32, a parameter; w[i] of a `table w =
//   [1/2, 3p-20]`. Numbers are exact and take the type of their partner or place; where neither
//   gives one they show it: f32(1/3).
// Scatter: y: f32[i < N] = x[i] scatter add[u < M] [idx[u]] <- upd[u]
//   with set, add, mul, min, max, and, or.
// Scan: every statement defines a tensor, except next:
//   scan t < T {
//     carry h: f32[H] = h0                   the state, and the tensor it starts from
//     h1: f32[i < H] = tanh(h[i] + x[t, i])
//     final hN = h                           the state after the last step
//     collect hs = h1                        h1 of all steps, stacked
//     next h = h1
//   }
//
// Names are made unique and, where they must be, put in backquotes: `batch size`. Tensors are
// numbered in the order of the text; for expressions that are numbered so (the Builder's are),
// parse_expr(to_text(e)) == e.
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
