// Predicted times: in the right order where the order is obvious, and within the machine's limits.
#include "cost/price.h"

#include <gtest/gtest.h>

#include "helpers/nests.h"
#include "tune/choose.h"

namespace hone::testing {
namespace {

Cpu zen3() { return *cpu_named("znver3"); }

Price chosen(Kernel kernel, const Cpu& cpu, int threads = 1) {
  const Schedule schedule = choose(kernel, cpu, {threads});
  return price(kernel, schedule, cpu, threads);
}

Price with(const Kernel& kernel, const std::string& text, const Cpu& cpu = zen3()) {
  const auto schedule = parse_schedule(text);
  EXPECT_TRUE(schedule);
  return price(kernel, *schedule, cpu);
}

// A map y = max(x + s, 0).
Kernel map_of(int64_t elements) {
  Kernel kernel;
  kernel.tensors = {{KernelTensor::Role::kIn, ElementType::kF32, elements, "x"},
                    {KernelTensor::Role::kOut, ElementType::kF32, elements, "y"}};
  Nest nest;
  nest.extents = {elements};
  nest.outputs = 1;
  const Index at = AxisId{0};
  nest.stores.push_back(
      {1, at, max(Scalar::read(ElementType::kF32, 0, {at}) + Literal(1), Literal(0))});
  kernel.nests = {nest};
  return kernel;
}

Kernel transpose_of(int64_t n) {
  Kernel kernel = map_of(n * n);
  Nest& nest = kernel.nests[0];
  nest.extents = {n, n};
  nest.outputs = 2;
  const Index row = AxisId{0}, column = AxisId{1};
  nest.stores[0] = {1, row * Dim(n) + column,
                    Scalar::read(ElementType::kF32, 0, {column * Dim(n) + row})};
  return kernel;
}

double peak(const Cpu& cpu) { return cpu.ghz * 1e9 * cpu.fma_per_cycle * cpu.lanes(4) * 2; }

TEST(Price, CountsWorkAndBytes) {
  const Price p = chosen(matmul_kernel(64, 32, 48), zen3());
  EXPECT_DOUBLE_EQ(p.flops, 2.0 * 64 * 32 * 48 + 64 * 48);
  EXPECT_DOUBLE_EQ(p.bytes, 4.0 * (64 * 32 + 32 * 48 + 64 * 48));
  EXPECT_EQ(p.seconds, std::max({p.core, p.l1, p.l2, p.l3, p.memory}));
}

TEST(Price, LargeProductsRunNearThePeakAndNeverBeyond) {
  for (const char* name : {"znver3", "skylake-avx512", "neoverse-n1"}) {
    const Cpu cpu = *cpu_named(name);
    const Price p = chosen(matmul_kernel(768, 768, 768), cpu);
    EXPECT_EQ(p.bound, "core") << name;
    EXPECT_LE(p.flops / p.seconds, peak(cpu)) << name;
    EXPECT_GE(p.flops / p.seconds, 0.7 * peak(cpu)) << name;
  }
}

TEST(Price, LargeMapsWaitForMemoryAndSmallOnesDoNot) {
  const Price large = chosen(map_of(16 << 20), zen3());
  EXPECT_EQ(large.bound, "memory");
  EXPECT_NEAR(large.seconds, large.bytes / (zen3().memory_gbps * 1e9), 1e-9);
  const Price small = chosen(map_of(2000), zen3());
  EXPECT_EQ(small.l2, 0);
  EXPECT_NE(small.bound, "memory");
  EXPECT_GT(chosen(map_of(20000), zen3()).l2, 0);
}

TEST(Price, MoreWorkTakesLonger) {
  double before = 0;
  for (const int64_t n : {32, 64, 96, 192, 384}) {
    const double now = chosen(matmul_kernel(n, n, n), zen3()).seconds;
    EXPECT_GT(now, before) << n;
    before = now;
  }
}

TEST(Price, RegisterTilesBeatSingleSums) {
  const Kernel kernel = matmul_kernel(96, 128, 96);
  const double tiled = with(kernel, "nest vector=1:8x2 rows=0:6 pack=1").seconds;
  EXPECT_LT(tiled, with(kernel, "nest vector=1:8x1 rows=0:2 pack=1").seconds);
  EXPECT_LT(with(kernel, "nest vector=1:8x1 rows=0:2 pack=1").seconds,
            with(kernel, "nest vector=1:8x1").seconds);
  EXPECT_LT(with(kernel, "nest vector=1:8x1").seconds, with(kernel, "nest").seconds);
}

TEST(Price, TilesThatDivideTheRowsBeatThoseThatDoNot) {
  const Kernel kernel = matmul_kernel(13, 256, 64);
  EXPECT_LT(with(kernel, "nest vector=1:8x1 rows=0:13 pack=1").seconds,
            with(kernel, "nest vector=1:8x2 rows=0:6 pack=1").seconds);
}

TEST(Price, ContiguousLanesBeatStridedOnes) {
  const Kernel kernel = transpose_of(64);
  EXPECT_LT(with(map_of(4096), "nest vector=0:8x4").seconds,
            with(kernel, "nest vector=1:8x4").seconds);
  EXPECT_LT(with(map_of(4096), "nest vector=0:8x4").seconds, with(map_of(4096), "nest").seconds);
}

// Blocks of the reduction keep the tile's part of the right operand in the first level.
TEST(Price, BlocksSaveTraffic) {
  const Kernel kernel = matmul_kernel(512, 4096, 512);
  const Price whole = with(kernel, "nest vector=1:8x2 rows=0:6 m_block=48 pack=1");
  const Price blocked = with(kernel, "nest vector=1:8x2 rows=0:6 k_block=256 m_block=48 pack=1");
  EXPECT_LT(blocked.l2, whole.l2);
}

TEST(Price, ThreadsShareTasksButNotMemory) {
  const Price one = chosen(matmul_kernel(512, 256, 512), zen3(), 1);
  const Price two = chosen(matmul_kernel(512, 256, 512), zen3(), 2);
  EXPECT_LT(two.seconds, 0.6 * one.seconds);
  EXPECT_EQ(chosen(map_of(16 << 20), zen3(), 2).memory, chosen(map_of(16 << 20), zen3(), 1).memory);
  // A single task cannot be shared.
  const Kernel kernel = matmul_kernel(12, 64, 16);
  const auto schedule = parse_schedule("nest vector=1:8x2 rows=0:6 pack=1");
  EXPECT_EQ(price(kernel, *schedule, zen3(), 1).seconds,
            price(kernel, *schedule, zen3(), 4).seconds);
}

TEST(Price, WiderVectorsAreFaster) {
  const Kernel kernel = matmul_kernel(240, 256, 256);
  Cpu narrow = zen3();
  narrow.vector_bytes = 16;
  EXPECT_LT(1.8 * chosen(kernel, zen3()).seconds, chosen(kernel, narrow).seconds);
}

// Nests that share rows read a row again from the cache, not from memory.
TEST(Price, SharedRowsComeFromMemoryOnce) {
  Kernel kernel = centered_rows_kernel(1 << 14, 1024);
  const Price p = chosen(kernel, zen3());
  EXPECT_EQ(p.bound, "memory");
  EXPECT_NEAR(p.memory, 2.0 * 4 * 1024 * (1 << 14) / (zen3().memory_gbps * 1e9), p.memory * 0.01);
}

TEST(Price, EmptyKernelsCostNothing) {
  Kernel kernel = matmul_kernel(0, 4, 4);
  EXPECT_EQ(price(kernel, plain_schedule(kernel), zen3()).seconds, 0);
}

TEST(Price, EveryScheduleOfEveryKernelHasAPrice) {
  std::mt19937_64 random(5);
  for (const NamedKernel& named : small_kernels())
    for (int i = 0; i < 20; ++i) {
      const Schedule schedule = random_schedule(named.kernel, random);
      const Price p = price(named.kernel, schedule, zen3());
      EXPECT_GT(p.seconds, 0) << named.name << "\n" << to_text(schedule);
      EXPECT_LT(p.seconds, 1e-3) << named.name << "\n" << to_text(schedule);
    }
}

}  // namespace
}  // namespace hone::testing
