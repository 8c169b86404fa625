#include "codegen/polynomials.h"
#include "codegen/vector_math.h"

namespace hone {
namespace {

using namespace polynomials;

// ln 2 in two parts: multiples of the first by small integers are exact.
constexpr double kLn2High = 0x1.63p-1;
constexpr double kLn2Low = -0x1.bd0106p-13;
constexpr double kLog2E = 0x1.715476p+0;
constexpr int kMantissaBits = 23, kBias = 127;

// Adding this rounds to an integer, which then stands in the lowest bits of the sum.
constexpr double kShifter = 0x1.8p23;

struct Reduced {
  Reals n;         // an integer
  Integers power;  // the bits of 2^n
  Reals rest;      // x - n * step * ln 2
};

// x = n * step * ln 2 + rest
Reduced reduce(const Reals& x, double step) {
  const Reals shifted = fma(x, kLog2E / step, kShifter);
  const Reals n = shifted - kShifter;
  const Reals rest = fma(n, -step * kLn2Low, fma(n, -step * kLn2High, x));
  // The shift leaves n modulo 2^9, and the bias completes the exponent.
  const Integers power = (shifted.bits() << kMantissaBits) + (int64_t{kBias} << kMantissaBits);
  return {n, power, rest};
}

Reals odd_rational(const Reals& x, std::span<const float> top, std::span<const float> bottom) {
  const Reals square = x * x;
  return x * polynomial(square, top) / polynomial(square, bottom);
}

}  // namespace

// e^x = (2^n)^2 e^r: two factors, so that neither overflows nor vanishes before the result does.
Reals emit_exp(const Reals& x) {
  const Reals inside = x.at_least(-105).at_most(89);
  const Reduced r = reduce(inside, 2);
  const Reals tail = fma(r.rest, polynomial(r.rest, kExp), x.constant(1));
  const Reals e = fma(tail, r.rest, x.constant(1));
  const Reals scale = r.power.as_float(x);
  return e * scale * scale;
}

// e^x - 1 = 2^n (e^r - 1) + 2^n - 1, halved on the way, because 2^n may overflow before e^x does.
Reals emit_expm1(const Reals& x) {
  const Reals inside = x.at_least(-40).at_most(89);
  const Reduced r = reduce(inside, 1);
  const Reals e = fma(r.rest * r.rest, polynomial(r.rest, kExpm1), r.rest);
  const Reals half_scale = (r.power - (int64_t{1} << kMantissaBits)).as_float(x);
  const Reals half = fma(half_scale, e, half_scale - 0.5);
  return half + half;
}

Reals emit_tanh(const Reals& x) {
  return odd_rational(x.at_least(-9.1).at_most(9.1), kTanhTop, kTanhBottom).at_least(-1).at_most(1);
}

Reals emit_erf(const Reals& x) {
  return odd_rational(x.at_least(-3.93).at_most(3.93), kErfTop, kErfBottom).at_least(-1).at_most(1);
}

}  // namespace hone
