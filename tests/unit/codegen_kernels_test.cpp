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

// The sum, product and extremes of a row of 20 by vectors of 8 (two full ones and a masked tail).
TEST(CodegenKernels, FoldsReduceRows) {
  for (const Fn fn : {Fn::kAdd, Fn::kMax, Fn::kMin}) {
    Function f;
    f.name = "fold";
    const auto x = f.add_buffer({"x", kF32, 20, Scope::kIn});
    const auto y = f.add_buffer({"y", kF32, 1, Scope::kOut});
    const Expr mask = Expr::apply(Fn::kLt, {Expr::ramp(16, 1, 8), Expr::broadcast(20, 8)});
    const Expr tail = Expr::load(kF32, x, 16, 8, 1, mask);
    const Expr identity =
        Expr::number({kF32, 8}, fn == Fn::kAdd ? Literal(0) : Literal::infinity(fn == Fn::kMax));
    const Expr all =
        Expr::apply(fn, {Expr::apply(fn, {Expr::load(kF32, x, 0, 8), Expr::load(kF32, x, 8, 8)}),
                         Expr::apply(Fn::kSelect, {mask, tail, identity})});
    f.body = {make_store(y, 0, Expr::fold(fn, all))};
    Aligned<float> in(20), out(1);
    for (size_t i = 0; i < 20; ++i) in[i] = float((7 * i) % 20) + 1;
    run(f, {in.data(), out.data()});
    EXPECT_EQ(out[0], fn == Fn::kAdd ? 210.F : fn == Fn::kMax ? 20.F : 1.F);
  }
}

TEST(CodegenKernels, FoldsOfOddWidths) {
  for (const int lanes : {2, 3, 5, 6, 7, 16}) {
    Function f;
    f.name = "fold";
    const auto x = f.add_buffer({"x", kI32, 16, Scope::kIn});
    const auto y = f.add_buffer({"y", kI32, 1, Scope::kOut});
    f.body = {make_store(y, 0, Expr::fold(Fn::kAdd, Expr::load(kI32, x, 0, lanes)))};
    Aligned<int32_t> in(16), out(1);
    for (int i = 0; i < 16; ++i) in[size_t(i)] = i + 1;
    run(f, {in.data(), out.data()});
    EXPECT_EQ(out[0], lanes * (lanes + 1) / 2);
  }
}

// y[i] = x[index[i]], masked where the index is negative.
TEST(CodegenKernels, GathersAndMaskedGathers) {
  Function f;
  f.name = "gather";
  const auto x = f.add_buffer({"x", kF32, 100, Scope::kIn});
  const auto index = f.add_buffer({"index", kI64, 8, Scope::kIn});
  const auto y = f.add_buffer({"y", kF32, 8, Scope::kOut});
  const Expr at = Expr::load(kI64, index, 0, 8);
  const Expr mask = Expr::apply(Fn::kNot, {Expr::apply(Fn::kLt, {at, 0})});
  f.body = {make_store(y, 0, Expr::load(kF32, x, at, 8, 1, mask))};
  Aligned<float> values(100), out(8, -1);
  Aligned<int64_t> indices(8);
  for (size_t i = 0; i < 100; ++i) values[i] = float(i) + 0.5F;
  for (int64_t i = 0; i < 8; ++i) indices[size_t(i)] = i % 3 == 2 ? -1000000 : 99 - 11 * i;
  run(f, {values.data(), indices.data(), out.data()});
  for (size_t i = 0; i < 8; ++i)
    EXPECT_EQ(out[i], i % 3 == 2 ? 0.F : float(indices[i]) + 0.5F) << i;
}

TEST(CodegenKernels, StridedLoadsAndStores) {
  for (const int64_t stride : {-3, -2, -1, 0, 1, 2, 3, 7}) {
    for (const int lanes : {2, 4, 8}) {
      Function f;
      f.name = "strided";
      const auto x = f.add_buffer({"x", kF32, 100, Scope::kIn});
      const auto y = f.add_buffer({"y", kF32, 100, Scope::kOut});
      const Expr value = Expr::load(kF32, x, 50, lanes, stride);
      f.body = {make_store(y, 50, value, stride == 0 ? 1 : stride)};
      Aligned<float> in(100), out(100, -1), wanted(100, -1);
      for (size_t i = 0; i < 100; ++i) in[i] = float(i);
      for (int i = 0; i < lanes; ++i)
        wanted[size_t(50 + i * (stride == 0 ? 1 : stride))] = float(50 + i * stride);
      run(f, {in.data(), out.data()});
      for (size_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], wanted[i]) << stride << " " << i;
    }
  }
}

// Masks of the first n lanes, known at compile time, on elements of every size.
TEST(CodegenKernels, ConstantMasks) {
  for (const ElementType type : {kI8, kF16, kF32, kF64}) {
    for (int n = 0; n <= 8; ++n) {
      Function f;
      f.name = "masked";
      const auto x = f.add_buffer({"x", type, 8, Scope::kIn});
      const auto y = f.add_buffer({"y", type, 16, Scope::kOut});
      const Expr mask = Expr::apply(Fn::kLt, {Expr::ramp(0, 1, 8), Expr::broadcast(Expr(n), 8)});
      const Expr value = Expr::load(type, x, 0, 8, 1, mask);
      f.body = {make_store(y, 0, value), make_store(y, 8, value, 1, mask)};
      const size_t bytes = size_of(type);
      Aligned<uint8_t> in(8 * bytes, 0x3c), out(16 * bytes, 0xff);
      run(f, {in.data(), out.data()});
      for (size_t i = 0; i < 8 * bytes; ++i) {
        const bool inside = i < size_t(n) * bytes;
        EXPECT_EQ(out[i], inside ? 0x3c : 0) << n;
        EXPECT_EQ(out[8 * bytes + i], inside ? 0x3c : 0xff) << n;
      }
    }
  }
}

// Masks that only a run knows, also on types that no instruction masks.
TEST(CodegenKernels, OpenMasks) {
  for (const ElementType type : {kI8, kF16, kF32, kF64}) {
    Function f;
    f.name = "masked";
    f.extents = {"n"};
    const auto x = f.add_buffer({"x", type, 8, Scope::kIn});
    const auto y = f.add_buffer({"y", type, 8, Scope::kOut});
    const Expr mask = Expr::apply(Fn::kLt, {Expr::ramp(0, 1, 8), Expr::extent(0)});
    f.body = {make_store(y, 0, Expr::load(type, x, 0, 8, 1, mask), 1, mask)};
    const size_t bytes = size_of(type);
    for (int64_t n = 0; n <= 9; ++n) {
      Aligned<uint8_t> in(8 * bytes, 0x3c), out(8 * bytes, 0xff);
      run(f, {in.data(), out.data()}, 1, {n});
      for (size_t i = 0; i < 8 * bytes; ++i)
        EXPECT_EQ(out[i], i < size_t(n) * bytes ? 0x3c : 0xff) << n;
    }
  }
}

TEST(CodegenKernels, ShufflesTransposeATile) {
  Function f;
  f.name = "transpose";
  const auto x = f.add_buffer({"x", kF32, 4, Scope::kIn});
  const auto y = f.add_buffer({"y", kF32, 4, Scope::kOut});
  const Expr a = Expr::load(kF32, x, 0, 2), c = Expr::load(kF32, x, 2, 2);
  f.body = {make_store(y, 0, Expr::shuffle(a, c, {0, 2})),
            make_store(y, 2, Expr::shuffle(a, c, {1, 3}))};
  Aligned<float> in(4), out(4);
  for (size_t i = 0; i < 4; ++i) in[i] = float(i);
  run(f, {in.data(), out.data()});
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], 1);
  EXPECT_EQ(out[3], 3);
}

// Lets, conditions, scratch memory, and tasks that begin somewhere.
TEST(CodegenKernels, TasksUseTheirScratch) {
  Function f;
  f.name = "tasks";
  const auto y = f.add_buffer({"y", kI64, 10, Scope::kOut});
  const auto first = f.add_buffer({"first", kI64, 3, Scope::kThread});
  const auto second = f.add_buffer({"second", kI64, 3, Scope::kThread});
  const auto t = f.add_var("t"), i = f.add_var("i"), twice = f.add_var("twice");
  const Expr task = Expr::var(t), at = Expr::var(i);
  const Expr sum = Expr::apply(
      Fn::kAdd, {Expr::load(kI64, first, 2), Expr::load(kI64, second, Expr::var(t) % 3)});
  const Expr odd = Expr::apply(Fn::kEq, {task % 2, 1});
  f.body = {make_for(
      LoopKind::kParallel, t, 10,
      {make_alloc(first, {make_alloc(second, {make_for(LoopKind::kSerial, i, 3,
                                                       {make_let(twice, (task + at) * 2),
                                                        make_store(first, at, Expr::var(twice)),
                                                        make_store(second, at, at * 100)}),
                                              make_if(odd, {make_store(y, task, sum)})})})})};
  Aligned<int64_t> out(10, -1);
  Aligned<std::byte> scratch(static_cast<size_t>(loop::scratch_bytes(f)));
  const auto module = jit(f);
  ASSERT_NE(module, nullptr);
  void* buffers[] = {out.data()};
  module->find("tasks")(buffers, nullptr, 2, 8, scratch.data());
  for (int64_t k = 0; k < 10; ++k)
    EXPECT_EQ(out[size_t(k)], k % 2 == 1 && k >= 2 && k < 8 ? 2 * (k + 2) + 100 * (k % 3) : -1);
  EXPECT_EQ(module->find("other"), nullptr);
}

}  // namespace
}  // namespace hone::testing
