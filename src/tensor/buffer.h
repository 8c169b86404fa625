// Tensor data in memory: dense, row-major, concrete shape. Copies share the storage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/check.h"
#include "tensor/element_type.h"
#include "tensor/type.h"

namespace hone {

// kString tensors keep their elements in `strings()`, all others in `bytes()`.
class Buffer {
 public:
  Buffer() = default;
  // Zero-initialised, 64-byte aligned. Throws a Failure when memory does not suffice.
  static Buffer allocate(ElementType type, std::vector<int64_t> dims);
  // Borrowed memory, kept alive by `owner` (a mapped file, a caller's array). Memory that is not
  // aligned for the element type is copied if small; a large one must go through `aligned()`
  // before its elements are read (weights in a mapped file are seldom read, and often misaligned).
  static Buffer borrow(ElementType type, std::vector<int64_t> dims, const void* data,
                       std::shared_ptr<const void> owner);
  static Buffer of_strings(std::vector<int64_t> dims, std::vector<std::string> values);
  template <typename T>
  static Buffer of(ElementType type, std::vector<int64_t> dims, std::span<const T> values);
  static Buffer of_ints(const std::vector<int64_t>& values);  // i64[n]
  static Buffer scalar_int(int64_t value);                    // i64[]

  [[nodiscard]] bool empty_handle() const { return type_ == ElementType::kInvalid; }
  [[nodiscard]] ElementType type() const { return type_; }
  [[nodiscard]] const std::vector<int64_t>& dims() const { return dims_; }
  [[nodiscard]] int rank() const { return static_cast<int>(dims_.size()); }
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] size_t byte_size() const { return static_cast<size_t>(count_) * size_of(type_); }
  [[nodiscard]] TensorType tensor_type() const { return {type_, to_shape(dims_)}; }

  [[nodiscard]] const std::byte* data() const { return data_; }
  // Only for buffers made by `allocate` whose storage is not shared.
  [[nodiscard]] std::byte* mutable_data();
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, byte_size()}; }
  [[nodiscard]] bool is_aligned() const;
  [[nodiscard]] Buffer aligned() const;  // itself, or a copy whose elements are aligned
  template <typename T>
  [[nodiscard]] std::span<const T> as() const {
    HONE_CHECK(sizeof(T) == size_of(type_), "element size differs");
    HONE_CHECK(is_aligned(), "misaligned elements are read");
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(count_)};
  }
  template <typename T>
  [[nodiscard]] std::span<T> as_mutable() {
    HONE_CHECK(sizeof(T) == size_of(type_), "element size differs");
    return {reinterpret_cast<T*>(mutable_data()), static_cast<size_t>(count_)};
  }
  [[nodiscard]] const std::vector<std::string>& strings() const;

  // The same data under another shape of equal count.
  [[nodiscard]] Buffer reshaped(std::vector<int64_t> dims) const;
  // One element as a number of another kind (any type but strings and complex numbers); floats
  // become integers as in `convert`.
  [[nodiscard]] double as_double(int64_t i) const;
  [[nodiscard]] int64_t as_int(int64_t i) const;

  // Same type, dims and bits.
  friend bool operator==(const Buffer& a, const Buffer& b);
  [[nodiscard]] uint64_t content_hash() const;

 private:
  ElementType type_ = ElementType::kInvalid;
  std::vector<int64_t> dims_;
  int64_t count_ = 0;
  const std::byte* data_ = nullptr;
  std::byte* writable_ = nullptr;
  std::shared_ptr<const void> owner_;
};

template <typename T>
Buffer Buffer::of(ElementType type, std::vector<int64_t> dims, std::span<const T> values) {
  Buffer buffer = allocate(type, std::move(dims));
  HONE_CHECK(static_cast<int64_t>(values.size()) == buffer.count(), "value count differs");
  std::copy(values.begin(), values.end(), buffer.as_mutable<T>().begin());
  return buffer;
}

// How a float becomes a power of two, the attribute `round_mode` of ONNX Cast; kF8E8M0 only.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };

// Conversion of every numeric element type to another, with the rules of ONNX Cast (round to
// nearest even, floats to integers toward zero, saturation for 8-bit floats when asked). A float
// out of an integer's range gives what the cast instruction of x86 does. Strings and complex
// numbers are a Failure.
[[nodiscard]] Buffer convert(const Buffer& buffer, ElementType to, bool saturate = true,
                             PowerRounding rounding = PowerRounding::kUp);

// Number formats narrower than float.
[[nodiscard]] float decode_float(ElementType type, uint16_t bits);
[[nodiscard]] uint16_t encode_float(ElementType type, float value, bool saturate = true,
                                    PowerRounding rounding = PowerRounding::kUp);

// Product of dims, or a Failure when negative, or over 2^62.
[[nodiscard]] int64_t checked_count(const std::vector<int64_t>& dims);

}  // namespace hone
