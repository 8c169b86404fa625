// Which element types generated code can load, compute with and store.
#pragma once

#include "tensor/element_type.h"

namespace hone {

// Narrow floats compute as f32 and sub-byte integers as i8 or u8, as in the evaluator. Complex
// numbers and strings have no native code.
[[nodiscard]] constexpr bool can_emit(ElementType type) {
  return type != ElementType::kInvalid && type < ElementType::kC64;
}

}  // namespace hone
