// Floats of 16 and fewer bits, by integer instructions. tensor/float_formats.cpp is the reference.
#pragma once

#include "codegen/builder.h"

namespace hone {

// Codes are integers of 16 bits (f16, bf16) or 8 bits, values are f32.
Value* decode_small_float(Builder& b, ElementType type, Value* code);
Value* encode_small_float(Builder& b, ElementType type, Value* value, bool saturate);

}  // namespace hone
