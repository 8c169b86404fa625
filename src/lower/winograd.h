// Winograd's minimal filtering (Arithmetic Complexity of Computations, 1980; Lavin and Gray 2016):
// m neighbouring results of a filter with r taps by m + r - 1 multiplications,
//
//   y = AT [(G g) . (BT d)],   y[i] = sum_k d[i + k] * g[k]
//
// and in two dimensions y = AT [(G g GT) . (BT d B)] A. It is the transpose of Toom's and Cook's
// product of polynomials, which evaluates at m + r - 2 points and at infinity.
#pragma once

#include <vector>

#include "lower/linear_code.h"

namespace hone {

struct WinogradMatrices {
  int results = 0;       // m
  int taps = 0;          // r
  LiteralMatrix output;  // AT: m x (m + r - 1)
  LiteralMatrix filter;  // G: (m + r - 1) x r
  LiteralMatrix input;   // BT: square
};

// All divisions go to G, which is applied at compile time: the rows of BT are the polynomials
// prod_{i != j} (x - a_i), the columns of AT are powers of the a_j. Points are distinct, and such
// that all entries are literals: rationals, or pairs +-sqrt(rational).
[[nodiscard]] WinogradMatrices winograd_matrices(int results, int taps,
                                                 const std::vector<Literal>& points);

// F(m, 3) for m = 2: points 0, 1, -1; m = 4: 0, +-sqrt(1/2), +-sqrt(2), which round less than
// 0, +-1, +-2.
[[nodiscard]] WinogradMatrices winograd_matrices(int results);

}  // namespace hone
