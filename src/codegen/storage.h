// How elements lie in memory, and the values that code computes with.
#pragma once

#include "codegen/builder.h"

namespace hone {

// Narrow floats compute in f32, sub-byte integers in a byte; see docs/numerics.md.
[[nodiscard]] ElementType compute_element(ElementType type);
// The type of a value in registers: i1 for bool.
[[nodiscard]] llvm::Type* value_type(llvm::LLVMContext& context, ElementType type, int lanes = 1);
// The type of the bytes of an element.
[[nodiscard]] llvm::Type* storage_type(llvm::LLVMContext& context, ElementType type, int lanes = 1);

// From bytes in memory to a value, and back; a value that the type does not hold is rounded, or its
// upper bits are dropped.
Value* decode(Builder& b, ElementType type, Value* stored);
Value* encode(Builder& b, ElementType type, Value* value);

// The value nearest to `value` that the type holds: decode(encode(value)). `saturate`: what is too
// large becomes the largest number, if the type is an 8-bit float.
Value* narrow(Builder& b, ElementType type, Value* value, bool saturate);

}  // namespace hone
