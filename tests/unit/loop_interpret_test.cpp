#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "helpers/random_loops.h"
#include "loop/interpret.h"
#include "loop/text.h"
#include "tensor/buffer.h"

namespace hone::loop {
namespace {

template <typename T>
std::vector<T> ramp(size_t count, double first = 0, double step = 1) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(first + step * static_cast<double>(i));
  return values;
}

// Runs all tasks; the error's text, or nothing.
std::string run(std::string_view text, const std::vector<void*>& buffers, int64_t tasks = 1,
                const std::vector<int64_t>& extents = {}) {
  const auto function = parse_function(text);
  if (!function) return function.error().to_string();
  const auto result = interpret(*function, buffers, extents, 0, tasks);
  return result ? "" : result.error().to_string();
}

TEST(LoopInterpret, VectorsAndTasks) {
  auto x = ramp<float>(32, -16);
  std::vector<float> y(32, -1);
  const auto function = *parse_function(R"(kernel relu(x: f32[32] in, y: f32[32] out)
  parallel i = 0 .. 4
    y[8*i :8] = max(x[8*i :8], f32x8(0))
)");
  const std::vector<void*> buffers = {x.data(), y.data()};
  ASSERT_TRUE(interpret(function, buffers, {}, 1, 3));
  for (size_t i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], i < 8 || i >= 24 ? -1.0F : std::max(x[i], 0.0F)) << i;
  const auto beyond = interpret(function, buffers, {}, 3, 5);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().to_string(), "relu: tasks 3 .. 5 of 4 are asked for");
}

TEST(LoopInterpret, RegisterTileOfAMatrixProduct) {
  const size_t m = 6, k = 5, n = 16;
  auto a = ramp<float>(m * k, -3, 0.37);
  auto b = ramp<float>(k * n, 2, -0.11);
  std::vector<float> c(m * n);
  ASSERT_EQ(run(R"(kernel product(a: f32[30] in, b: f32[80] in, c: f32[96] out)
  parallel t = 0 .. 2
    alloc acc: f32[48] register
    unroll i = 0 .. 3
      unroll j = 0 .. 2
        acc[i*16 + j*8 :8] = f32x8(0)
    for k = 0 .. 5
      unroll i = 0 .. 3
        unroll j = 0 .. 2
          acc[i*16 + j*8 :8] = fma(x8(a[(t*3 + i)*5 + k]), b[k*16 + j*8 :8], acc[i*16 + j*8 :8])
    unroll i = 0 .. 3
      unroll j = 0 .. 2
        c[(t*3 + i)*16 + j*8 :8] = acc[i*16 + j*8 :8]
)",
                {a.data(), b.data(), c.data()}, 2),
            "");
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      float sum = 0;
      for (size_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      EXPECT_EQ(c[i * n + j], sum);
    }
}

TEST(LoopInterpret, StridesGathersMasksAndShuffles) {
  auto x = ramp<float>(64);
  std::vector<float> y(64, -1);
  const std::vector<void*> buffers = {x.data(), y.data()};
  const std::string head = "kernel k(x: f32[64] in, y: f32[64] out; n)\n  ";
  ASSERT_EQ(run(head + "y[0 :4] = x[3 :4*5]\n", buffers, 1, {0}), "");
  EXPECT_EQ(std::vector(y.begin(), y.begin() + 4), (std::vector<float>{3, 8, 13, 18}));
  ASSERT_EQ(run(head + "y[6 :4*-2] = x[ramp(1, 2, 4)*x4(3)]\n", buffers, 1, {0}), "");
  EXPECT_EQ(std::vector(y.begin(), y.begin() + 7), (std::vector<float>{21, 8, 15, 18, 9, -1, 3}));
  ASSERT_EQ(run(head + "y[0 :4] = shuffle(x[0 :2], x[10 :2], [3, 0, 2, 2])\n", buffers, 1, {0}),
            "");
  EXPECT_EQ(std::vector(y.begin(), y.begin() + 4), (std::vector<float>{11, 0, 10, 10}));
  // Only lanes below n, at the end of the buffers: the others are neither read nor written.
  ASSERT_EQ(run(head + "y[62 :4 if ramp(0, 1, 4) < x4($n)] = x[62 :4 if ramp(0, 1, 4) < x4($n)]\n",
                buffers, 1, {2}),
            "");
  EXPECT_EQ(y[61], -1);
  EXPECT_EQ(y[63], 63);
}

TEST(LoopInterpret, ControlFlow) {
  std::vector<int64_t> y(12, 0);
  ASSERT_EQ(run(R"(kernel k(y: i64[12] out; n)
  for i = 2 .. 6
    let s = i*i
    if s%2 == 0 or i == $n
      for j = i .. + 2
        y[j] = y[j] + s/3
)",
                {y.data()}, 1, {5}),
            "");
  std::vector<int64_t> expected(12, 0);
  for (size_t i = 2; i < 6; ++i)
    if (i * i % 2 == 0 || i == 5)
      for (size_t j = i; j < i + 2; ++j) expected[j] += static_cast<int64_t>(i * i / 3);
  EXPECT_EQ(y, expected);
}

TEST(LoopInterpret, FoldsCombineHalves) {
  auto x = ramp<float>(7, 1);
  std::vector<float> y(4);
  ASSERT_EQ(run(R"(kernel k(x: f32[7] in, y: f32[4] out)
  y[0] = fold_add(x[0 :7])
  y[1] = fold_mul(x[0 :7])
  y[2] = fold_max(x[0 :7])
  y[3] = select(fold_and(x[0 :4] < f32x4(5)), fold_min(x[1 :3]), f32(9))
)",
                {x.data(), y.data()}),
            "");
  EXPECT_EQ(y, (std::vector<float>{28, 5040, 7, 2}));
}

TEST(LoopInterpret, NarrowTypesRoundWhenStoredAndWhenCast) {
  std::vector<float> x = {1.0009765625F * 3, 300, -1.5F, 0.1F};
  std::vector<uint16_t> half(4);
  std::vector<int8_t> byte(4);
  std::vector<float> y(4);
  ASSERT_EQ(run(R"(kernel k(x: f32[4] in, h: f16[4] out, b: i8[4] out, y: f32[4] out)
  h[0 :4] = to_f16(x[0 :4])
  b[0 :4] = wrap_i8(to_i32(x[0 :4]))
  y[0 :4] = to_f32(to_bf16(x[0 :4])) + to_f32(h[0 :4])
)",
                {x.data(), half.data(), byte.data(), y.data()}),
            "");
  EXPECT_EQ(byte, (std::vector<int8_t>{3, 44, -1, 0}));
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(half[i], encode_float(ElementType::kF16, x[i]));
    EXPECT_EQ(y[i], decode_float(ElementType::kBF16, encode_float(ElementType::kBF16, x[i])) +
                        decode_float(ElementType::kF16, half[i]));
  }
}

TEST(LoopInterpret, MemoryOfLocalBuffersStartsAsNan) {
  std::vector<float> y(2);
  ASSERT_EQ(run(R"(kernel k(y: f32[2] out)
  alloc t: f32[4] thread
  t[1] = f32(3)
  y[0 :2] = t[0 :2]
)",
                {y.data()}),
            "");
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 3);
}

TEST(LoopInterpret, AccessesOutsideAreNamed) {
  auto x = ramp<float>(16);
  auto at = ramp<int64_t>(4, -1, 6);
  std::vector<float> y(16);
  const std::string head = "kernel k(x: f32[16] in, at: i64[4] in, y: f32[16] out)\n  ";
  const std::vector<void*> buffers = {x.data(), at.data(), y.data()};
  EXPECT_EQ(run(head + "for i = 0 .. 3\n    y[0 :8] = x[i*6 :8]\n", buffers),
            "k: x[i*6 :8] reads element 16 of 16");
  EXPECT_EQ(run(head + "y[at[0]] = f32(0)\n", buffers), "k: y[at[0]] writes element -1 of 16");
  EXPECT_EQ(run(head + "y[0 :4] = x[at[0 :4]]\n", buffers),
            "k: x[at[0 :4]] reads element -1 of 16");
}

TEST(LoopInterpret, RandomKernelsStayInside) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Function f = random_loops(seed);
    constexpr auto count = static_cast<size_t>(kRandomLoopElements);
    auto x = ramp<float>(count, -5, 0.3);
    auto h = ramp<double>(count, 7, -0.7);
    auto n = ramp<int32_t>(count, -90);
    auto at = ramp<int64_t>(count, -70, 5);
    auto w = ramp<float>(count, 2, 0.01);
    std::vector<float> y(count);
    std::vector<int32_t> z(count);
    const std::vector<void*> buffers = {x.data(), h.data(), n.data(), at.data(),
                                        w.data(), y.data(), z.data()};
    const auto result = interpret(f, buffers, std::vector<int64_t>{3}, 0, kRandomLoopTasks);
    ASSERT_TRUE(result) << result.error().to_string() << "\n" << to_text(f);
  }
}

}  // namespace
}  // namespace hone::loop
