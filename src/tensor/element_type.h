// Element types of tensors, by name, size and class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hone {

// The order is fixed: tables index by it.
enum class ElementType : uint8_t {
  kInvalid,
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0,
  kI4,
  kU4,
  kI2,
  kU2,
  kF4E2M1,  // stored one element a byte, unpacked
  kC64,
  kC128,
  kString,  // carried through, never computed with
  kField,   // F_p, p = 2^61 - 1; only inside the evaluator
};
inline constexpr int kElementTypeCount = static_cast<int>(ElementType::kField) + 1;

// "f32", "i64", "bool", "f8e4m3fn", ...
[[nodiscard]] std::string_view name_of(ElementType type);
[[nodiscard]] std::optional<ElementType> element_type_of(std::string_view name);

// Bytes of one element in a Buffer (sub-byte types take one byte; strings 0).
[[nodiscard]] size_t size_of(ElementType type);
// Bits of one element in an ONNX file (4 for kI4, ...).
[[nodiscard]] int bits_of(ElementType type);

[[nodiscard]] constexpr bool is_float(ElementType t) {
  return (t >= ElementType::kF32 && t <= ElementType::kBF16) ||
         (t >= ElementType::kF8E4M3FN && t <= ElementType::kF8E8M0) || t == ElementType::kF4E2M1;
}
[[nodiscard]] constexpr bool is_signed_int(ElementType t) {
  return (t >= ElementType::kI8 && t <= ElementType::kI64) || t == ElementType::kI4 ||
         t == ElementType::kI2;
}
[[nodiscard]] constexpr bool is_unsigned_int(ElementType t) {
  return (t >= ElementType::kU8 && t <= ElementType::kU64) || t == ElementType::kU4 ||
         t == ElementType::kU2;
}
[[nodiscard]] constexpr bool is_integer(ElementType t) {
  return is_signed_int(t) || is_unsigned_int(t);
}

}  // namespace hone
