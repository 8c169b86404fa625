// Errors of the inline functions, in units of the last place, against the C library in double.
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "helpers/kernels.h"

namespace hone::testing {
namespace {

using enum ElementType;
using loop::Expr;
using loop::Function;
using loop::LoopKind;
using loop::Scope;

constexpr size_t kCount = 1 << 16;
using Floats = Aligned<float>;

Function map_kernel(Fn fn, int lanes) {
  Function f;
  f.name = "map";
  const int arity = info_of(fn).arity;
  const auto i = f.add_var("i");
  const Expr at = Expr::var(i) * lanes;
  std::vector<Expr> args;
  for (int k = 0; k < arity; ++k)
    args.push_back(Expr::load(
        kF32, f.add_buffer({"x" + std::to_string(k), kF32, kCount, Scope::kIn}), at, lanes));
  const auto out = f.add_buffer({"y", kF32, kCount, Scope::kOut});
  f.body = {make_for(LoopKind::kSerial, i, int64_t{kCount} / lanes,
                     {make_store(out, at, Expr::apply(fn, args))})};
  return f;
}

// Every class of floats: all exponents, both signs, the values around `borders`, and specials.
void fill(Floats& x, uint64_t seed, const std::vector<float>& borders) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < kCount; ++i) x[i] = std::bit_cast<float>(uint32_t(random()));
  size_t at = 0;
  for (const float special : {0.F, -0.F, 1.F, -1.F, INFINITY, -INFINITY, NAN, 1e-45F, -1e-45F,
                              0x1p-126F, 0x1.fffffep127F, -0x1.fffffep127F})
    x[at++] = special;
  for (const float border : borders)
    for (int step = -20; step <= 20; ++step)
      x[at++] = std::bit_cast<float>(std::bit_cast<int32_t>(border) + step);
  // Half of the rest where the functions bend.
  for (; at < kCount / 2; ++at) {
    const double unit = double(random() >> 11) * 0x1p-53;
    x[at] = float((unit * 2 - 1) * (at % 3 == 0 ? 100 : at % 3 == 1 ? 5 : 0.8));
  }
}

// Distance in units of the last place of the true value; 0 where both are NaN or the same.
double error_in_ulps(float got, double wanted) {
  const auto rounded = static_cast<float>(wanted);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : INFINITY;
  if (got == rounded) return 0;
  if (std::isinf(rounded) || !std::isfinite(got)) {
    // The largest finite number and infinity are neighbours.
    const bool close = std::isinf(rounded) ? std::fabs(got) == 0x1.fffffep127F
                                           : std::fabs(rounded) == 0x1.fffffep127F;
    return close && std::signbit(got) == std::signbit(rounded) ? 1 : INFINITY;
  }
  const int exponent = std::max(std::ilogb(rounded == 0 ? 1e-45F : rounded), -126);
  return std::fabs(got - wanted) / std::ldexp(1.0, exponent - 23);
}

struct MathCase {
  Fn fn;
  double bound;  // ulps; as docs/numerics.md says
  std::function<double(double, double)> truth;
  std::vector<float> borders;
};

void check(const MathCase& math, int lanes) {
  Floats x(kCount), y(kCount), out(kCount);
  fill(x, 1, math.borders);
  fill(y, 2, {});
  const bool binary = info_of(math.fn).arity == 2;
  for (size_t i = kCount / 2; binary && i < kCount; ++i) {
    x[i] = std::exp2(std::fmod(x[i], 20.F));  // powers that neither overflow nor vanish
    y[i] = float(int(i % 120) - 60) / (i % 2 == 0 ? 1 : 7.F);
  }
  std::vector<void*> buffers = {x.data()};
  if (binary) buffers.push_back(y.data());
  buffers.push_back(out.data());
  run(map_kernel(math.fn, lanes), buffers);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const double error = error_in_ulps(out[i], math.truth(x[i], y[i]));
    if (error > worst) worst = error, where = i;
  }
  EXPECT_LE(worst, math.bound) << info_of(math.fn).name << " of " << x[where] << " " << y[where]
                               << " is " << out[where] << ", not " << math.truth(x[where], y[where])
                               << ", lanes " << lanes;
}

template <double (*F)(double)>
double unary(double x, double) {
  return F(x);
}

std::vector<MathCase> cases() {
  return {
      {Fn::kExp, 2, unary<std::exp>, {88.7228394F, -87.3365448F, -103.972076F, 0.3465736F}},
      {Fn::kExpm1, 2, unary<std::expm1>, {88.7228394F, -17.5F, 0.3465736F, -0.3465736F}},
      {Fn::kLog, 1.5, unary<std::log>, {1.F, 0.707106769F, 1.41421354F, 0x1p-126F}},
      {Fn::kLog1p, 1.5, unary<std::log1p>, {-0.999999F, 1e-7F, 0.41421354F, -0.29289323F}},
      {Fn::kTanh, 5, unary<std::tanh>, {9.01F, 0.5F, 1e-3F, 9.1F}},
      {Fn::kErf, 6, unary<std::erf>, {3.92F, 1.F, 1e-3F, 3.93F}},
      {Fn::kSin, 2, unary<std::sin>, {1.57079637F, 3.14159274F, 30000.F, 29845.13F}},
      {Fn::kCos, 2, unary<std::cos>, {1.57079637F, 3.14159274F, 30000.F, 29846.7F}},
      {Fn::kPow, 1, [](double x, double y) { return std::pow(x, y); }, {}},
      {Fn::kTan, 2, unary<std::tan>, {}},
      {Fn::kAsin, 2, unary<std::asin>, {}},
      {Fn::kAcos, 2, unary<std::acos>, {}},
      {Fn::kAtan, 2, unary<std::atan>, {}},
      {Fn::kSinh, 3, unary<std::sinh>, {}},
      {Fn::kCosh, 3, unary<std::cosh>, {}},
      {Fn::kAsinh, 3, unary<std::asinh>, {}},
      {Fn::kAcosh, 3, unary<std::acosh>, {}},
      {Fn::kAtanh, 3, unary<std::atanh>, {}},
  };
}

class CodegenMath : public ::testing::TestWithParam<MathCase> {};

TEST_P(CodegenMath, StaysWithinItsBound) {
  for (const int lanes : {1, 8}) check(GetParam(), lanes);
}

INSTANTIATE_TEST_SUITE_P(All, CodegenMath, ::testing::ValuesIn(cases()), [](const auto& tested) {
  return std::string(info_of(tested.param.fn).name);
});

}  // namespace
}  // namespace hone::testing
