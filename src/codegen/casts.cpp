#include "codegen/functions.h"
#include "codegen/storage.h"

namespace hone {
namespace {

using enum ElementType;

// Toward zero; what no i64 holds becomes the nearest one, NaN 0.
Value* to_i64(Builder& b, Value* x) {
  llvm::Type* to = b.integers_like(x, 64);
  return b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {to, x->getType()}, {x});
}

Value* to_u64(Builder& b, Value* x) {
  llvm::Type* to = b.integers_like(x, 64);
  Value* large = b.CreateIntrinsic(llvm::Intrinsic::fptoui_sat, {to, x->getType()}, {x});
  Value* is_large = b.CreateFCmpOGE(x, Builder::real(x->getType(), 0x1p63));
  return b.CreateSelect(is_large, large, to_i64(b, x));
}

// The lowest 32 bits of to_i64 by instructions for 32 bits, because few machines have vector ones
// for 64: x modulo 2^32 is exact in f32.
Value* low_word(Builder& b, Value* x) {
  llvm::Type* real = x->getType();
  llvm::Type* word = b.integers_like(x, 32);
  Value* whole = b.unary(llvm::Intrinsic::trunc, x);
  Value* wraps = b.unary(llvm::Intrinsic::rint, b.CreateFMul(whole, Builder::real(real, 0x1p-32)));
  Value* rest = b.CreateFSub(whole, b.CreateFMul(wraps, Builder::real(real, 0x1p32)));
  // 2^31 itself wraps to -2^31.
  Value* top = b.CreateFCmpOGE(rest, Builder::real(real, 0x1p31));
  rest = b.CreateSelect(top, Builder::real(real, -0x1p31), rest);
  Value* result = b.CreateFreeze(b.CreateFPToSI(rest, word));
  Value* above = b.CreateFCmpOGE(x, Builder::real(real, 0x1p63));
  Value* below = b.CreateFCmpULT(x, Builder::real(real, -0x1p63));  // or NaN
  result = b.CreateSelect(above, Builder::integer(word, -1), result);
  return b.CreateSelect(below, Builder::integer(word, 0), result);
}

Value* float_to_integer(Builder& b, ElementType to, Value* x) {
  if (to == kU64) return to_u64(b, x);
  if (to == kI64) return to_i64(b, x);
  const bool by_words = x->getType()->getScalarType()->isFloatTy() && Builder::lanes_of(x) > 1;
  Value* wide = by_words ? low_word(b, x) : to_i64(b, x);
  return b.CreateTrunc(wide, b.like(x, value_type(b.getContext(), to)));
}

Value* convert(Builder& b, ElementType from, ElementType to, Value* x) {
  if (from == to) return x;
  llvm::Type* type = b.like(x, value_type(b.getContext(), to));
  if (to == kBool) {
    llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
    return is_float(from) ? b.CreateFCmpUNE(x, zero) : b.CreateICmpNE(x, zero);
  }
  if (is_float(from)) return is_float(to) ? b.CreateFPCast(x, type) : float_to_integer(b, to, x);
  const bool is_signed = is_signed_int(from);
  if (is_float(to)) return is_signed ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type);
  return b.CreateIntCast(x, type, is_signed);
}

}  // namespace

Value* emit_cast(Builder& b, ElementType from, ElementType to, bool saturate, Value* value) {
  Value* converted = convert(b, compute_element(from), compute_element(to), value);
  return narrow(b, to, converted, saturate);
}

Value* emit_small_cast(Builder& b, ElementType to, Value* value) {
  Value* word = b.CreateFreeze(b.CreateFPToSI(value, b.integers_like(value, 32)));
  Value* result = b.CreateSExtOrTrunc(word, b.like(value, value_type(b.getContext(), to)));
  return narrow(b, to, result, true);
}

}  // namespace hone
