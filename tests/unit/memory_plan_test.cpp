#include "driver/memory_plan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace hone {
namespace {

int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The most bytes that are alive at one step.
int64_t peak(const std::vector<Lifetime>& buffers) {
  int64_t most = 0;
  for (const Lifetime& moment : buffers) {
    int64_t alive = 0;
    for (const Lifetime& buffer : buffers)
      if (buffer.first <= moment.first && moment.first <= buffer.last)
        alive += rounded(buffer.bytes);
    most = std::max(most, alive);
  }
  return most;
}

void expect_no_overlap(const std::vector<Lifetime>& buffers, int64_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Lifetime& a = buffers[i];
    ASSERT_EQ(a.offset % 64, 0);
    ASSERT_GE(a.offset, 0);
    ASSERT_LE(a.offset + a.bytes, total);
    for (size_t k = 0; k < i; ++k) {
      const Lifetime& b = buffers[k];
      const bool both_alive = a.first <= b.last && b.first <= a.last;
      const bool apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
      ASSERT_TRUE(!both_alive || apart) << "buffers " << k << " and " << i;
    }
  }
}

TEST(MemoryPlan, BuffersThatLiveTogetherLieApart) {
  std::mt19937_64 random(1);
  const auto draw = [&](int64_t most) { return static_cast<int64_t>(random() % uint64_t(most)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> buffers(static_cast<size_t>(1 + draw(40)));
    int64_t sum = 0;
    for (Lifetime& buffer : buffers) {
      buffer.bytes = draw(4) == 0 ? draw(100) : draw(100000);
      buffer.first = static_cast<int>(draw(30));
      buffer.last = buffer.first + static_cast<int>(draw(round % 12 + 1));
      sum += rounded(buffer.bytes);
    }
    const int64_t least = peak(buffers);
    const int64_t total = place_buffers(buffers);
    expect_no_overlap(buffers, total);
    EXPECT_LE(total, sum);
    EXPECT_GE(total, least);
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int step = 0; step < 10; ++step) chain.push_back({1000, step, step + 1});
  EXPECT_EQ(place_buffers(chain), 2 * 1024);
}

TEST(MemoryPlan, TheArenaIsAsLargeAsThePeakInSimpleCases) {
  // A value that lives long, beside short ones.
  std::vector<Lifetime> residual = {{640, 0, 5}, {1280, 1, 2}, {1280, 3, 4}, {64, 2, 3}};
  const int64_t least = peak(residual);
  EXPECT_EQ(place_buffers(residual), least);
  // One after the other, of all sizes.
  std::vector<Lifetime> apart = {{64, 0, 0}, {6400, 1, 1}, {128, 2, 2}};
  EXPECT_EQ(place_buffers(apart), 6400);
  // All at once.
  std::vector<Lifetime> together = {{1, 0, 9}, {65, 3, 3}, {64, 2, 4}};
  EXPECT_EQ(place_buffers(together), 64 + 128 + 64);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  std::vector<Lifetime> none;
  EXPECT_EQ(place_buffers(none), 0);
  std::vector<Lifetime> empty = {{0, 0, 3}};
  EXPECT_EQ(place_buffers(empty), 0);
}

}  // namespace
}  // namespace hone
