#include "expr/vm/memory.h"

#include <algorithm>
#include <cstring>

namespace hone::vm {
namespace {

template <typename Bits>
void copy_strided(Bits* to, View to_view, const Bits* from, View from_view, int64_t rows,
                  int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    Bits* __restrict t = to + r * to_view.row_stride;
    const Bits* __restrict f = from + r * from_view.row_stride;
    if (to_view.col_stride == 1 && from_view.col_stride == 1) {
      for (int64_t c = 0; c < cols; ++c) t[c] = f[c];
    } else if (to_view.col_stride == 1 && from_view.col_stride == 0) {
      std::fill(t, t + cols, *f);
    } else if (to_view.col_stride == 1 && from_view.col_stride == 2) {
      for (int64_t c = 0; c < cols; ++c) t[c] = f[2 * c];
    } else {
      for (int64_t c = 0; c < cols; ++c) t[c * to_view.col_stride] = f[c * from_view.col_stride];
    }
  }
}

}  // namespace

void copy_tile(size_t size, std::byte* to, View to_view, const std::byte* from, View from_view,
               int64_t rows, int64_t cols) {
  const bool dense = to_view.col_stride == 1 && from_view.col_stride == 1 &&
                     (rows == 1 || (to_view.row_stride == cols && from_view.row_stride == cols));
  if (dense) {
    std::memcpy(to, from, static_cast<size_t>(rows * cols) * size);
    return;
  }
  // A transposed tile is written along its rows and read along its columns, both in cache.
  with_bits(size, [&]<typename Bits>(Bits) {
    copy_strided(reinterpret_cast<Bits*>(to), to_view, reinterpret_cast<const Bits*>(from),
                 from_view, rows, cols);
  });
}

void fill(size_t size, std::byte* to, const std::byte* value, int64_t count) {
  with_bits(size, [&]<typename Bits>(Bits bits) {
    std::memcpy(&bits, value, sizeof(Bits));
    std::fill_n(reinterpret_cast<Bits*>(to), count, bits);
  });
}

void fill_outside(size_t size, std::byte* tile, const std::byte* value, const TilePart& part,
                  int64_t rows, int64_t cols) {
  const auto fill_range = [&](int64_t begin, int64_t end) {
    if (begin < end) fill(size, tile + static_cast<size_t>(begin) * size, value, end - begin);
  };
  if (part.empty()) return fill_range(0, rows * cols);
  fill_range(0, part.row_begin * cols);
  if (part.col_begin > 0 || part.col_end < cols)
    for (int64_t r = part.row_begin; r < part.row_end; ++r) {
      fill_range(r * cols, r * cols + part.col_begin);
      fill_range(r * cols + part.col_end, (r + 1) * cols);
    }
  fill_range(part.row_end * cols, rows * cols);
}

void gather(size_t size, std::byte* to, const std::byte* from, const int64_t* offsets,
            int64_t count) {
  with_bits(size, [&]<typename Bits>(Bits) {
    Bits* __restrict t = reinterpret_cast<Bits*>(to);
    const Bits* f = reinterpret_cast<const Bits*>(from);
    for (int64_t i = 0; i < count; ++i)
      if (offsets[i] >= 0) t[i] = f[offsets[i]];
  });
}

}  // namespace hone::vm
