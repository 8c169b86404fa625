#include <cmath>
#include <optional>

#include "codegen/functions.h"
#include "codegen/polynomials.h"
#include "codegen/vector_math.h"

namespace hone {
namespace {

using namespace polynomials;

constexpr int kMantissaBits = 52;
constexpr int64_t kBias = 1023;
constexpr double kShifter = 0x1.8p52;

Reals widened(const Reals& x) {
  return x.with(x.b->CreateFPExt(x.v, x.b->like(x.v, x.b->getDoubleTy())));
}
Reals narrowed(const Reals& x) {
  return x.with(x.b->CreateFPTrunc(x.v, x.b->like(x.v, x.b->getFloatTy())));
}

// log2 of a positive normal double: 2^n m with m near 1, log2(m) by s = (m - 1) / (m + 1).
Reals log2_double(const Reals& x) {
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const Integers n = (x.bits() - kSqrtHalf) >> kMantissaBits;
  const Reals m = (x.bits() - (n << kMantissaBits)).as_float(x);
  const Reals s = (m - 1) / (m + 1);
  // n is small: its float comes by adding it to the bits of a large number.
  const Reals whole = (n + x.constant(kShifter).bits()).as_float(x) - kShifter;
  return fma(s, polynomial(s * s, kLog2Double), whole);
}

Reals exp2_double(const Reals& x) {
  const Reals inside = x.at_least(-400).at_most(400);
  const Reals shifted = inside + kShifter;
  const Reals rest = inside - (shifted - kShifter);
  const Reals scale = ((shifted.bits() << kMantissaBits) + (kBias << kMantissaBits)).as_float(x);
  return polynomial(rest, kExp2Double) * scale;
}

// x^y of a positive x in doubles, rounded once at the end; subnormal floats are normal doubles.
Reals magnitude_power(const Reals& x, const Reals& y) {
  const Reals base = widened(x);
  const Reals log = log2_double(base)
                        .or_where(base == 0, -INFINITY)
                        .or_where(base == INFINITY, INFINITY)
                        .or_where(base.is_nan(), NAN);
  return narrowed(exp2_double(widened(y) * log)).or_where(x == 1, 1);
}

Reals general_power(const Reals& x, const Reals& y) {
  Builder& b = *x.b;
  const Reals power = magnitude_power(x.magnitude(), y).or_where(y.is_nan(), NAN);
  Value* whole = y.truncated().equals(y);
  const Reals half = y * 0.5;
  Value* odd = b.CreateAnd(whole, half.truncated().differs(half));
  // Of negative numbers only whole powers exist; infinity counts as positive for others.
  const Reals signed_power = power.or_where(odd, power.with_sign_of(x));
  Value* negative = b.CreateAnd(x < 0, b.CreateFCmpOGT(x.v, x.constant(-INFINITY).v));
  Value* undefined = b.CreateAnd(negative, b.CreateNot(whole));
  return signed_power.or_where(undefined, NAN)
      .or_where(x.is_nan(), NAN)
      .or_where(b.CreateOr(y == 0, x == 1), 1);
}

// x^n by squaring, for the small exponents that models are full of.
Reals whole_power(const Reals& x, int n) {
  if (n == 1) return x;
  const Reals half = whole_power(x, n / 2);
  return n % 2 == 0 ? half * half : half * half * x;
}

// sqrt(-0) is -0, and of negative infinity the power 1/2 is infinity.
Reals root_power(const Reals& x) {
  const Reals root = x.with(x.b->unary(llvm::Intrinsic::sqrt, (x + 0).v));
  return root.or_where(x == -INFINITY, INFINITY);
}

std::optional<Reals> constant_power(const Reals& x, double y) {
  if (y == 0) return x.constant(1);
  if (y == 1 || y == 2 || y == 3 || y == 4) return whole_power(x, static_cast<int>(y));
  if (y == -1 || y == -2) return x.constant(1) / whole_power(x, static_cast<int>(-y));
  if (y == 0.5) return root_power(x);
  if (y == -0.5) return x.constant(1) / root_power(x);
  return std::nullopt;
}

}  // namespace

Reals emit_pow(const Reals& x, const Reals& y) {
  if (const llvm::APFloat* known = constant_real(y.v))
    if (const auto result = constant_power(x, known->convertToDouble())) return *result;
  if (x.v->getType()->getScalarType()->isDoubleTy())
    return x.with(x.b->call_per_lane("pow", {x.v, y.v}));
  return general_power(x, y);
}

}  // namespace hone
