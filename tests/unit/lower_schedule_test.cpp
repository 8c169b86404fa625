// Whatever schedule a kernel is lowered with, it computes the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/nests.h"
#include "machine/cpu.h"
#include "tune/choose.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kSchedules = 60;  // per kernel

TEST(Schedule, TextReadsBack) {
  std::mt19937_64 random(3);
  for (const NamedKernel& named : small_kernels())
    for (int i = 0; i < 20; ++i) {
      Schedule schedule = random_schedule(named.kernel, random);
      schedule.nests.push_back(schedule.nests[0]);
      schedule.nests[1].lanes = 1 + i;
      const auto read = parse_schedule(to_text(schedule));
      ASSERT_TRUE(read) << read.error().to_string();
      // Lanes and rows mean nothing without their axis, and are not written.
      for (NestSchedule& nest : schedule.nests) {
        if (nest.vector_axis < 0) nest.lanes = nest.vectors = 1;
        if (nest.row_axis < 0) nest.rows = 1;
      }
      ASSERT_EQ(*read, schedule) << to_text(schedule);
    }
}

TEST(Schedule, TextOfMistakesIsRefused) {
  const auto error = [](std::string_view text) {
    const auto read = parse_schedule(text);
    return read ? std::string() : read.error().to_string();
  };
  EXPECT_THAT(error("nest vector=3:8x2\nvector=1"), HasSubstr("line 2"));
  EXPECT_THAT(error("nest vector=3:8"), HasSubstr("cannot read 'vector=3:8'"));
  EXPECT_THAT(error("nest rows=2:"), HasSubstr("cannot read 'rows=2:'"));
  EXPECT_THAT(error("nest pack=1,,2"), HasSubstr("cannot read 'pack=1,,2'"));
  EXPECT_THAT(error("nest speed=11"), HasSubstr("cannot read 'speed=11'"));
  EXPECT_THAT(error("nest unroll=4x"), HasSubstr("cannot read 'unroll=4x'"));
}

class ScheduleOf : public ::testing::TestWithParam<size_t> {};

TEST_P(ScheduleOf, AnyScheduleGivesTheSameResults) {
  const NamedKernel named = small_kernels()[GetParam()];
  const std::vector<float> wanted = run_kernel(named.kernel, plain_schedule(named.kernel));
  ASSERT_FALSE(wanted.empty());
  std::mt19937_64 random(GetParam());
  for (int i = 0; i < kSchedules; ++i) {
    const Schedule schedule = random_schedule(named.kernel, random);
    ASSERT_EQ(run_kernel(named.kernel, schedule), wanted) << named.name << "\n"
                                                          << to_text(schedule);
  }
}

// Vectors of 16 floats too, which may not be executable here.
TEST_P(ScheduleOf, ChosenSchedulesGiveTheSameResults) {
  const NamedKernel named = small_kernels()[GetParam()];
  const std::vector<float> wanted = run_kernel(named.kernel, plain_schedule(named.kernel));
  for (const char* name : {"x86-64-v2", "x86-64-v3", "skylake-avx512", "neoverse-n1"})
    for (const int threads : {1, 3}) {
      const auto cpu = cpu_named(name);
      ASSERT_TRUE(cpu);
      Kernel kernel = named.kernel;
      const Schedule schedule = choose(kernel, *cpu, {threads});
      ASSERT_EQ(run_kernel(kernel, schedule), wanted) << named.name << " on " << name << "\n"
                                                      << to_text(schedule);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ScheduleOf, ::testing::Range(size_t{0}, small_kernels().size()),
                         [](const auto& suite) {
                           std::string name = small_kernels()[suite.param].name;
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

// Nests with random accesses: quotients, remainders and guards that lanes run into.
TEST(Schedule, RandomNestsGiveTheSameResults) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) {
    const Kernel kernel = random_nest(random);
    const std::vector<float> wanted = run_kernel(kernel, plain_schedule(kernel));
    for (int k = 0; k < 4; ++k) {
      const Schedule schedule = random_schedule(kernel, random);
      ASSERT_EQ(run_kernel(kernel, schedule), wanted) << to_text(kernel) << to_text(schedule);
    }
  }
}

// Blocks of rows whose last one is shorter than a tile.
TEST(Schedule, TilesStayWithinTheirBlocks) {
  const auto cpu = cpu_named("x86-64-v3");
  ASSERT_TRUE(cpu);
  for (int64_t rows = 1; rows < 30; ++rows) {
    const Kernel kernel = matmul_kernel(rows, 5, 20);
    const std::vector<float> wanted = run_kernel(kernel, plain_schedule(kernel));
    for (const char* text : {"nest vector=1:8x2 rows=0:6 m_block=12 prefetch=1 pack=1",
                             "nest vector=1:8x2 rows=0:6 m_block=6 n_block=16 k_block=2 pack=1",
                             "nest vector=1:16x1 rows=0:4 m_block=8 pack=1"}) {
      const auto schedule = parse_schedule(text);
      ASSERT_TRUE(schedule);
      ASSERT_EQ(run_kernel(kernel, *schedule), wanted) << rows << " rows: " << text;
    }
  }
}

TEST(Schedule, NestsThatShareRowsPassValues) {
  const Kernel kernel = centered_rows_kernel(5, 43);
  const std::vector<float> wanted = run_kernel(kernel, plain_schedule(kernel));
  ASSERT_FALSE(wanted.empty());
  for (const char* text :
       {"nest vector=1:8x4\nnest vector=1:8x4", "nest vector=1:16x2\nnest vector=1:4x3",
        "nest\nnest vector=1:16x1", "nest vector=1:5x2\nnest"}) {
    const auto schedule = parse_schedule(text);
    ASSERT_TRUE(schedule);
    EXPECT_EQ(run_kernel(kernel, *schedule), wanted) << text;
  }
}

}  // namespace
}  // namespace hone::testing
