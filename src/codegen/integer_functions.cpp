#include <string>

#include "codegen/functions.h"
#include "codegen/integer_power.h"
#include "support/check.h"

namespace hone {
namespace {

llvm::Constant* zero_of(const Value* value) {
  return llvm::Constant::getNullValue(value->getType());
}

// A divisor that never traps, and what to put right afterwards.
struct SafeDivisor {
  Value* divisor;
  Value* is_zero;       // null: never
  Value* is_minus_one;  // null: never
};

SafeDivisor make_safe(Builder& b, bool is_signed, Value* y) {
  if (const llvm::APInt* known = constant_integer(y);
      known != nullptr && !known->isZero() && !(is_signed && known->isAllOnes()))
    return {y, nullptr, nullptr};
  llvm::Constant* one = Builder::integer(y->getType(), 1);
  Value* is_zero = b.CreateICmpEQ(y, zero_of(y));
  Value* divisor = b.CreateSelect(is_zero, one, y);
  if (!is_signed) return {divisor, is_zero, nullptr};
  Value* is_minus_one = b.CreateICmpEQ(y, Builder::integer(y->getType(), -1));
  return {b.CreateSelect(is_minus_one, one, divisor), is_zero, is_minus_one};
}

// Toward zero; 0 where the divisor is 0.
Value* quotient(Builder& b, bool is_signed, Value* x, Value* y) {
  const SafeDivisor safe = make_safe(b, is_signed, y);
  Value* result = is_signed ? b.CreateSDiv(x, safe.divisor) : b.CreateUDiv(x, safe.divisor);
  if (safe.is_minus_one) result = b.CreateSelect(safe.is_minus_one, b.CreateNeg(x), result);
  return safe.is_zero ? b.CreateSelect(safe.is_zero, zero_of(x), result) : result;
}

// Sign of the dividend; 0 where the divisor is 0.
Value* remainder(Builder& b, bool is_signed, Value* x, Value* y) {
  const SafeDivisor safe = make_safe(b, is_signed, y);
  Value* result = is_signed ? b.CreateSRem(x, safe.divisor) : b.CreateURem(x, safe.divisor);
  // x % 1 is 0 already where the divisor was -1.
  return safe.is_zero ? b.CreateSelect(safe.is_zero, zero_of(x), result) : result;
}

// Sign of the divisor.
Value* modulo(Builder& b, bool is_signed, Value* x, Value* y) {
  Value* rest = remainder(b, is_signed, x, y);
  if (!is_signed) return rest;
  Value* differs = b.CreateICmpSLT(b.CreateXor(rest, y), zero_of(y));
  Value* wrong = b.CreateAnd(b.CreateICmpNE(rest, zero_of(rest)), differs);
  return b.CreateSelect(wrong, b.CreateAdd(rest, y), rest);
}

Value* sign(Builder& b, bool is_signed, Value* x) {
  Value* positive = b.CreateZExt(b.CreateICmpNE(x, zero_of(x)), x->getType());
  if (!is_signed) return positive;
  llvm::Constant* minus_one = Builder::integer(x->getType(), -1);
  return b.CreateSelect(b.CreateICmpSLT(x, zero_of(x)), minus_one, positive);
}

// What is left when all bits are gone, where the count is negative or too large.
Value* shift(Builder& b, Fn fn, bool is_signed, Value* x, Value* by) {
  const auto bits = static_cast<int64_t>(x->getType()->getScalarSizeInBits());
  Value* fits = b.CreateICmpULT(by, Builder::integer(by->getType(), bits));
  Value* count = b.CreateSelect(fits, by, Builder::integer(by->getType(), bits - 1));
  if (fn == Fn::kShiftRight && is_signed) return b.CreateAShr(x, count);
  Value* shifted = fn == Fn::kShiftLeft ? b.CreateShl(x, count) : b.CreateLShr(x, count);
  return b.CreateSelect(fits, shifted, zero_of(x));
}

Value* arithmetic(Builder& b, Fn fn, bool is_signed, std::span<Value* const> args) {
  switch (fn) {
    case Fn::kAdd:
      return b.CreateAdd(args[0], args[1]);
    case Fn::kSub:
      return b.CreateSub(args[0], args[1]);
    case Fn::kMul:
      return b.CreateMul(args[0], args[1]);
    case Fn::kDiv:
      return quotient(b, is_signed, args[0], args[1]);
    case Fn::kMod:
      return modulo(b, is_signed, args[0], args[1]);
    case Fn::kFmod:
      return remainder(b, is_signed, args[0], args[1]);
    case Fn::kPow:
      return emit_integer_power(b, is_signed, args[0], args[1]);
    case Fn::kMin:
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                     args[0], args[1]);
    case Fn::kMax:
      return b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                     args[0], args[1]);
    case Fn::kNeg:
      return b.CreateNeg(args[0]);
    case Fn::kAbs:
      return is_signed ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], b.getFalse())
                       : args[0];
    case Fn::kSign:
      return sign(b, is_signed, args[0]);
    case Fn::kFloor:
    case Fn::kCeil:
    case Fn::kRound:
    case Fn::kTrunc:
      return args[0];
    default:
      return nullptr;
  }
}

Value* bits_and_order(Builder& b, Fn fn, bool is_signed, std::span<Value* const> args) {
  switch (fn) {
    case Fn::kEq:
      return b.CreateICmpEQ(args[0], args[1]);
    case Fn::kLt:
      return is_signed ? b.CreateICmpSLT(args[0], args[1]) : b.CreateICmpULT(args[0], args[1]);
    case Fn::kLe:
      return is_signed ? b.CreateICmpSLE(args[0], args[1]) : b.CreateICmpULE(args[0], args[1]);
    case Fn::kBitAnd:
      return b.CreateAnd(args[0], args[1]);
    case Fn::kBitOr:
      return b.CreateOr(args[0], args[1]);
    case Fn::kBitXor:
      return b.CreateXor(args[0], args[1]);
    case Fn::kBitNot:
      return b.CreateNot(args[0]);
    case Fn::kShiftLeft:
    case Fn::kShiftRight:
      return shift(b, fn, is_signed, args[0], args[1]);
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_integer_function(Builder& b, Fn fn, bool is_signed, std::span<Value* const> args) {
  if (Value* result = arithmetic(b, fn, is_signed, args)) return result;
  if (Value* result = bits_and_order(b, fn, is_signed, args)) return result;
  check_failed(__FILE__, __LINE__, "emit_integer_function",
               "not defined on integers: " + std::string(info_of(fn).name));
}

}  // namespace hone
