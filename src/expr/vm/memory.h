// Moving elements between strided memory and dense tiles. Sizes are those of one element: 1, 2, 4
// or 8 bytes; strides count elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hone::vm {

// Calls f(Bits{}) with the unsigned type of that size.
template <typename F>
void with_bits(size_t size, F&& f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

struct View {
  int64_t row_stride, col_stride;
};

// to[r, c] = from[r, c] for r < rows, c < cols
void copy_tile(size_t size, std::byte* to, View to_view, const std::byte* from, View from_view,
               int64_t rows, int64_t cols);
void fill(size_t size, std::byte* to, const std::byte* value, int64_t count);

// The part of a dense tile [rows, cols] where a read stays inside its tensor.
struct TilePart {
  int64_t row_begin, row_end, col_begin, col_end;
  [[nodiscard]] bool empty() const { return row_begin >= row_end || col_begin >= col_end; }
  [[nodiscard]] bool all(int64_t rows, int64_t cols) const {
    return row_begin <= 0 && col_begin <= 0 && row_end >= rows && col_end >= cols;
  }
};
// Writes `value` to what lies outside the part.
void fill_outside(size_t size, std::byte* tile, const std::byte* value, const TilePart& part,
                  int64_t rows, int64_t cols);

// to[i] = from[offsets[i]]; where the offset is negative, to[i] stays.
void gather(size_t size, std::byte* to, const std::byte* from, const int64_t* offsets,
            int64_t count);

}  // namespace hone::vm
