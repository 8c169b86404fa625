#include <cmath>

#include "codegen/functions.h"
#include "support/check.h"

namespace hone {
namespace {

using llvm::Intrinsic::ID;

bool never_nan(const Value* value) {
  const llvm::APFloat* number = constant_real(value);
  return number != nullptr && !number->isNaN();
}

// NaN wins. Zeros of either sign count as equal.
Value* extremum(Builder& b, bool largest, Value* x, Value* y) {
  if (b.target.arm)
    return b.CreateBinaryIntrinsic(largest ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x,
                                   y);
  if (never_nan(y)) std::swap(x, y);
  // x86's instruction gives the second operand when either is NaN.
  Value* takes_x = largest ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
  Value* result = b.CreateSelect(takes_x, x, y);
  if (auto* select = llvm::dyn_cast<llvm::Instruction>(result); select && never_nan(x))
    select->setHasNoSignedZeros(true);
  return never_nan(x) ? result : b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
}

Value* sign(Builder& b, Value* x) {
  llvm::Constant* zero = Builder::real(x->getType(), 0);
  llvm::Constant* one = Builder::real(x->getType(), 1);
  Value* positive = b.CreateSelect(b.CreateFCmpOGT(x, zero), one, zero);
  Value* result =
      b.CreateSelect(b.CreateFCmpOLT(x, zero), Builder::real(x->getType(), -1), positive);
  return b.CreateSelect(b.CreateFCmpUNO(x, x), x, result);
}

// Sign of the divisor.
Value* modulo(Builder& b, Value* x, Value* y) {
  llvm::Constant* zero = Builder::real(x->getType(), 0);
  Value* rest = b.CreateFRem(x, y);
  Value* differs = b.CreateXor(b.CreateFCmpOLT(rest, zero), b.CreateFCmpOLT(y, zero));
  Value* wrong = b.CreateAnd(b.CreateFCmpUNE(rest, zero), differs);
  return b.CreateSelect(wrong, b.CreateFAdd(rest, y), rest);
}

Value* magnitude(Builder& b, Value* x) { return b.unary(llvm::Intrinsic::fabs, x); }

Value* comparison(Builder& b, Fn fn, std::span<Value* const> args) {
  switch (fn) {
    case Fn::kEq:
      return b.CreateFCmpOEQ(args[0], args[1]);
    case Fn::kLt:
      return b.CreateFCmpOLT(args[0], args[1]);
    case Fn::kLe:
      return b.CreateFCmpOLE(args[0], args[1]);
    case Fn::kIsNan:
      return b.CreateFCmpUNO(args[0], args[0]);
    case Fn::kIsInf:
      return b.CreateFCmpOEQ(magnitude(b, args[0]), Builder::real(args[0]->getType(), INFINITY));
    default:
      return nullptr;
  }
}

Value* rounding(Builder& b, Fn fn, Value* x) {
  switch (fn) {
    case Fn::kFloor:
      return b.unary(llvm::Intrinsic::floor, x);
    case Fn::kCeil:
      return b.unary(llvm::Intrinsic::ceil, x);
    case Fn::kRound:
      return b.unary(llvm::Intrinsic::rint, x);
    case Fn::kTrunc:
      return b.unary(llvm::Intrinsic::trunc, x);
    default:
      return nullptr;
  }
}

// A product and a sum may become one instruction that rounds once.
Value* contractible(Builder& b, Fn fn, Value* x, Value* y) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  llvm::FastMathFlags flags;
  flags.setAllowContract();
  b.setFastMathFlags(flags);
  if (fn == Fn::kMul) return b.CreateFMul(x, y);
  return fn == Fn::kAdd ? b.CreateFAdd(x, y) : b.CreateFSub(x, y);
}

Value* arithmetic(Builder& b, Fn fn, std::span<Value* const> args) {
  switch (fn) {
    case Fn::kAdd:
    case Fn::kSub:
    case Fn::kMul:
      return contractible(b, fn, args[0], args[1]);
    case Fn::kDiv:
      return b.CreateFDiv(args[0], args[1]);
    case Fn::kNeg:
      return b.CreateFNeg(args[0]);
    case Fn::kAbs:
      return magnitude(b, args[0]);
    case Fn::kMin:
      return extremum(b, false, args[0], args[1]);
    case Fn::kMax:
      return extremum(b, true, args[0], args[1]);
    case Fn::kMod:
      return modulo(b, args[0], args[1]);
    case Fn::kFmod:
      return b.CreateFRem(args[0], args[1]);
    case Fn::kSign:
      return sign(b, args[0]);
    case Fn::kSqrt:
      return b.unary(llvm::Intrinsic::sqrt, args[0]);
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_float_function(Builder& b, Fn fn, std::span<Value* const> args) {
  for (const auto emit : {arithmetic, comparison, emit_transcendental})
    if (Value* result = emit(b, fn, args)) return result;
  if (Value* result = rounding(b, fn, args[0])) return result;
  check_failed(__FILE__, __LINE__, "emit_float_function", "not defined on floats");
}

}  // namespace hone
