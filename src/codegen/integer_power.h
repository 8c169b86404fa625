// base^exponent on integers, wrapping.
#pragma once

#include "codegen/builder.h"

namespace hone {

// A negative exponent gives pow() of the doubles, toward zero.
Value* emit_integer_power(Builder& b, bool is_signed, Value* base, Value* exponent);

}  // namespace hone
