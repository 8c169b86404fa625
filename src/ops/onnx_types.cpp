#include "ops/onnx_types.h"

#include <array>

namespace hone {
namespace {

using enum ElementType;

// Indexed by ONNX's number; 0 is UNDEFINED.
constexpr std::array kByNumber = {
    kInvalid,    kF32,    kU8,         kI8,  kU16, kI16,    kI32,    kI64,  kString,
    kBool,       kF16,    kF64,        kU32, kU64, kC64,    kC128,   kBF16, kF8E4M3FN,
    kF8E4M3FNUZ, kF8E5M2, kF8E5M2FNUZ, kU4,  kI4,  kF4E2M1, kF8E8M0, kU2,   kI2};

}  // namespace

std::optional<ElementType> element_type_of_onnx(int64_t number) {
  if (number <= 0 || number >= static_cast<int64_t>(kByNumber.size())) return std::nullopt;
  return kByNumber[static_cast<size_t>(number)];
}

int64_t onnx_number(ElementType type) {
  for (size_t i = 0; i < kByNumber.size(); ++i)
    if (kByNumber[i] == type) return static_cast<int64_t>(i);
  return 0;
}

}  // namespace hone
