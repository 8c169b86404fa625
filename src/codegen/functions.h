// Scalar functions as LLVM IR, lane by lane, with the meaning that expr/vm/scalar_ops.h gives them.
#pragma once

#include <span>

#include "codegen/builder.h"
#include "expr/scalar.h"

namespace hone {

// Every Fn but the casts. `type` is the element type of the last argument.
Value* emit_function(Builder& b, Fn fn, ElementType type, std::span<Value* const> args);
// kCast (saturate) and kCastWrap.
Value* emit_cast(Builder& b, ElementType from, ElementType to, bool saturate, Value* value);
// The same where the value is a float within the range of i32, or NaN (whose result is then any).
Value* emit_small_cast(Builder& b, ElementType to, Value* value);
// All lanes of a vector, combined.
Value* emit_fold(Builder& b, Fn fn, ElementType type, Value* vector);

// The parts of emit_function, by class of type.
Value* emit_float_function(Builder& b, Fn fn, std::span<Value* const> args);
Value* emit_integer_function(Builder& b, Fn fn, bool is_signed, std::span<Value* const> args);
Value* emit_bool_function(Builder& b, Fn fn, std::span<Value* const> args);
// Exponentials, logarithms and their kin; null for other functions.
Value* emit_transcendental(Builder& b, Fn fn, std::span<Value* const> args);

// The number that all lanes of a constant have, if it is one.
[[nodiscard]] const llvm::APFloat* constant_real(const Value* value);
[[nodiscard]] const llvm::APInt* constant_integer(const Value* value);

}  // namespace hone
