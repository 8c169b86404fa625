// Small kernels as machine code, against plain loops.
#include <cmath>

#include <gtest/gtest.h>

#include "helpers/kernels.h"

namespace hone::testing {
namespace {

using enum ElementType;
using loop::Block;
using loop::Expr;
using loop::Function;
using loop::LoopKind;
using loop::make_alloc;
using loop::make_for;
using loop::make_if;
using loop::make_let;
using loop::make_store;
using loop::Scope;

Expr f32(double value, int lanes = 1) {
  return Expr::number({kF32, lanes}, Literal::of_double(value));
}

// y = 2 x + y over n elements of an open extent, eight at a time, the tail under a mask.
Function saxpy() {
  Function f;
  f.name = "saxpy";
  f.extents = {"n"};
  const auto x = f.add_buffer({"x", kF32, 1000, Scope::kIn});
  const auto y = f.add_buffer({"y", kF32, 1000, Scope::kOut});
  const auto i = f.add_var("i");
  const Expr at = Expr::var(i) * 8;
  const Expr mask = Expr::apply(Fn::kLt, {Expr::ramp(at, 1, 8), Expr::extent(0)});
  const Expr value = Expr::fma(f32(2, 8), Expr::load(kF32, x, at, 8, 1, mask),
                               Expr::load(kF32, y, at, 8, 1, mask));
  f.body = {make_for(LoopKind::kParallel, i, (Expr::extent(0) + 7) / 8,
                     {make_store(y, at, value, 1, mask)})};
  return f;
}

TEST(CodegenKernels, SaxpyKeepsElementsBehindTheTail) {
  for (const int64_t n : {0, 1, 7, 8, 9, 100, 1000}) {
    Aligned<float> x(1000), y(1000);
    for (size_t i = 0; i < 1000; ++i) x[i] = float(i), y[i] = 0.5F * float(i);
    run(saxpy(), {x.data(), y.data()}, (n + 7) / 8, {n});
    for (size_t i = 0; i < 1000; ++i)
      ASSERT_EQ(y[i], int64_t(i) < n ? 2.5F * float(i) : 0.5F * float(i)) << n << " " << i;
  }
}

}  // namespace
}  // namespace hone::testing
