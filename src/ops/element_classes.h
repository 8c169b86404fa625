// Classes of element types that operators accept, and the types that they compute in.
#pragma once

#include "ops/context.h"

namespace hone {

enum class ElementClass : uint8_t {
  kAny,
  kComputable,  // all but strings and complex numbers
  kNumber,      // floats and integers of 8 bits and more
  kSigned,      // floats and signed integers
  kFloat,       // f32, f64, f16, bf16
  kAnyFloat,    // the 8-bit and 4-bit floats too
  kInteger,
  kBool,
};

[[nodiscard]] bool belongs(ElementType type, ElementClass to);
// Operand i has a type of the class: kInvalid otherwise, kUnsupported for strings and complex ones.
void require_class(const OpContext& c, size_t i, ElementClass wanted);
// All present operands have the type of the first one.
void require_same_types(const OpContext& c);
void require_rank(const OpContext& c, size_t i, int at_least);

// The type that sums of many elements are kept in: f32 for the narrower floats, else the type.
[[nodiscard]] ElementType accumulator_of(ElementType type);
// A dimension as a number of a type.
[[nodiscard]] Scalar number(ElementType type, const Dim& value);
[[nodiscard]] inline Scalar number(const Scalar& like, const Literal& value) {
  return Scalar::literal(like.type(), value);
}

}  // namespace hone
