#include <cmath>

#include "codegen/polynomials.h"
#include "codegen/vector_math.h"

namespace hone {
namespace {

using namespace polynomials;

constexpr double kLn2High = 0x1.63p-1;
constexpr double kLn2Low = -0x1.bd0106p-13;
constexpr int kMantissaBits = 23;
constexpr int64_t kSqrtHalf = 0x3f3504f3;  // the bits of sqrt(1/2)

// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for a normal positive x.
struct Split {
  Integers n;
  Reals f;
};

Split split(const Reals& x) {
  const Integers n = (x.bits() - kSqrtHalf) >> kMantissaBits;
  return {n, (x.bits() - (n << kMantissaBits)).as_float(x) - 1};
}

// n ln 2 + log(1 + f) + correction
Reals log_of(const Reals& n, const Reals& f, const Reals* correction) {
  const Reals square = f * f;
  Reals tail = square * f * polynomial(f, kLog);
  tail = fma(n, kLn2Low, tail);
  tail = fma(square, -0.5, tail);
  if (correction != nullptr) tail = tail + *correction;
  return fma(n, kLn2High, tail + f);
}

// What the formula does not give: zero, negative numbers, infinity and NaN.
Reals with_special_cases(const Reals& result, const Reals& x) {
  const Reals high = result.or_where(x == INFINITY, INFINITY);
  const Reals zero = high.or_where(x == 0, -INFINITY);
  return zero.or_where(x.b->CreateFCmpULT(x.v, x.constant(0).v), NAN);
}

}  // namespace

Reals emit_log(const Reals& x) {
  Value* subnormal = x < 0x1p-126;
  const Reals normal = x.or_where(subnormal, x * 0x1p23);
  const Split s = split(normal);
  const Reals n = s.n.to_float(x) - x.constant(0).or_where(subnormal, 23);
  return with_special_cases(log_of(n, s.f, nullptr), x);
}

// log(u) with u = 1 + x rounded, and the part of x that the rounding lost.
Reals emit_log1p(const Reals& x) {
  const Reals u = x + 1;
  // Exact: the larger of 1 and x comes first.
  const Reals lost = (x.constant(1) - (u - x)).or_where(x < 1, x - (u - 1));
  const Split s = split(u);
  const Reals correction = lost / u;
  const Reals result = log_of(s.n.to_float(x), s.f, &correction);
  // u is 1 for tiny x, whose logarithm is x itself; this also keeps the sign of zero.
  return with_special_cases(result, u).or_where(x.magnitude() < 0x1p-25, x);
}

}  // namespace hone
