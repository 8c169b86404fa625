// From an element type to the C++ type that kernels compute in.
#pragma once

#include <type_traits>

#include "expr/vm/scalar_ops.h"
#include "support/check.h"
#include "tensor/element_type.h"

namespace hone::vm {

// Calls f(T{}) for the compute type; f returns the same type for all.
template <typename F>
auto with_type(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32:
      return f(float{});
    case ElementType::kF64:
      return f(double{});
    case ElementType::kField:
      return f(Field{});
    case ElementType::kI8:
      return f(int8_t{});
    case ElementType::kI16:
      return f(int16_t{});
    case ElementType::kI32:
      return f(int32_t{});
    case ElementType::kI64:
      return f(int64_t{});
    case ElementType::kU8:
      return f(uint8_t{});
    case ElementType::kU16:
      return f(uint16_t{});
    case ElementType::kU32:
      return f(uint32_t{});
    case ElementType::kU64:
      return f(uint64_t{});
    case ElementType::kBool:
      return f(Bool{});
    default:
      break;
  }
  check_failed(__FILE__, __LINE__, "with_type", "not a compute type");
}

template <typename T>
inline constexpr bool kIsBool = std::is_same_v<T, Bool>;
template <typename T>
inline constexpr bool kIsField = std::is_same_v<T, Field>;

}  // namespace hone::vm
