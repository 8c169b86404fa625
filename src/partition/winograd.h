// Convolutions with windows of 3x3 by fewer multiplications: F(m x m, 3 x 3).
//
//   V[e, p, c] = (BT d B)[e]      for each tile p of the input d
//   M[e, p, k] = sum_c V[e, p, c] * U[e, c, k],   U = (G g GT)[e], computed at compile time
//   y          = AT M A           and then whatever follows the sum
//
// The three steps run tile row by tile row as one kernel, so that V and M stay in the cache.
#pragma once

#include <optional>
#include <vector>

#include "partition/program.h"

namespace hone {

// What a convolution looks like to Winograd's algorithm.
struct Convolution3x3 {
  int input = -1, weights = -1;
  std::vector<size_t> batch;                            // output axes that only the input has
  size_t row = 0, column = 0;                           // output axes of the window's positions
  size_t channel = 0;                                   // output axis that only the weights have
  size_t reduced = 0, tap_row = 0, tap_column = 0;      // reduction axes
  size_t row_dim = 0, column_dim = 0, channel_dim = 0;  // of the input
  int64_t row_shift = 0, column_shift = 0;              // input position = output + tap + shift
};

[[nodiscard]] std::optional<Convolution3x3> as_convolution(const Op& op,
                                                           const TensorProgram& program);

// The ops that compute the same with tiles of size x size results (2 or 4), to be run as one
// group. `rows` tile rows make up an iteration.
[[nodiscard]] std::vector<Op> winograd_ops(const Op& op, const Convolution3x3& conv, int size,
                                           int64_t rows, TensorProgram& program, int group);

}  // namespace hone
