#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/memory.h"
#include "runtime/pool.h"

namespace {

struct PoolDeleter {
  void operator()(hone_pool* pool) const { hone_pool_destroy(pool); }
};
using Pool = std::unique_ptr<hone_pool, PoolDeleter>;

// How often each task was done, and by how many threads at most.
struct Tally {
  explicit Tally(size_t tasks) : done(tasks) {}
  std::vector<std::atomic<int>> done;
  std::atomic<int> wrong_thread = 0;
  int threads = 0;
};

void count_tasks(void* data, int64_t begin, int64_t end, int thread) {
  auto& tally = *static_cast<Tally*>(data);
  if (thread < 0 || thread >= tally.threads) ++tally.wrong_thread;
  for (int64_t i = begin; i < end; ++i) ++tally.done[static_cast<size_t>(i)];
}

void expect_each_once(hone_pool* pool, int threads, size_t tasks) {
  Tally tally(tasks);
  tally.threads = threads;
  hone_pool_run(pool, static_cast<int64_t>(tasks), count_tasks, &tally);
  EXPECT_EQ(tally.wrong_thread, 0);
  for (size_t i = 0; i < tasks; ++i) ASSERT_EQ(tally.done[i], 1) << "task " << i << " of " << tasks;
}

TEST(RuntimePool, DoesEachTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const Pool pool(hone_pool_create(threads));
    ASSERT_NE(pool, nullptr);
    for (const size_t tasks : {1, 2, 3, 5, 7, 8, 64, 1000})
      expect_each_once(&*pool, threads, tasks);
  }
}

TEST(RuntimePool, DoesNothingWithoutTasks) {
  const Pool pool(hone_pool_create(2));
  expect_each_once(&*pool, 2, 0);
}

TEST(RuntimePool, ManyShortJobsInARow) {
  const Pool pool(hone_pool_create(2));
  Tally tally(3);
  tally.threads = 2;
  constexpr int kJobs = 20000;
  for (int i = 0; i < kJobs; ++i) hone_pool_run(&*pool, 3, count_tasks, &tally);
  for (const auto& done : tally.done) EXPECT_EQ(done, kJobs);
}

// Results of one job are read by the next, on other threads.
TEST(RuntimePool, AJobSeesWhatTheOneBeforeWrote) {
  struct State {
    std::vector<int64_t> values = std::vector<int64_t>(37);
    std::vector<int64_t> next = std::vector<int64_t>(37);
  } state;
  std::iota(state.values.begin(), state.values.end(), 0);
  const auto rotate = [](void* data, int64_t begin, int64_t end, int) {
    auto& s = *static_cast<State*>(data);
    for (int64_t i = begin; i < end; ++i)
      s.next[static_cast<size_t>(i)] = s.values[static_cast<size_t>((i + 1) % 37)];
  };
  const Pool pool(hone_pool_create(4));
  for (int i = 0; i < 37 * 20; ++i) {
    hone_pool_run(&*pool, 37, rotate, &state);
    std::swap(state.values, state.next);
  }
  for (size_t i = 0; i < 37; ++i) EXPECT_EQ(state.values[i], static_cast<int64_t>(i));
}

TEST(RuntimePool, WakesSleepingThreads) {
  const Pool pool(hone_pool_create(2));
  const auto slow = [](void* data, int64_t begin, int64_t end, int) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * (end - begin)));
    *static_cast<std::atomic<int64_t>*>(data) += end - begin;
  };
  std::atomic<int64_t> done = 0;
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than threads stay awake
    hone_pool_run(&*pool, 4, slow, &done);
    EXPECT_EQ(done, 4 * (i + 1));
  }
}

TEST(RuntimePool, HelpsAThreadThatIsBehind) {
  struct State {
    std::atomic<int> by_caller = 0, all = 0;
  } state;
  // The caller's share is quick, that of the other thread slow: the caller takes some of it.
  const auto uneven = [](void* data, int64_t begin, int64_t end, int thread) {
    auto& s = *static_cast<State*>(data);
    if (thread != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2 * (end - begin)));
    s.all += static_cast<int>(end - begin);
    if (thread == 0) s.by_caller += static_cast<int>(end - begin);
  };
  const Pool pool(hone_pool_create(2));
  hone_pool_run(&*pool, 100, uneven, &state);
  EXPECT_EQ(state.all, 100);
  EXPECT_GT(state.by_caller, 50);
}

TEST(RuntimePool, HandsOutMoreTasksThanThereAreTickets) {
  constexpr int64_t kTasks = (int64_t{1} << 32) + 12345;
  const auto add = [](void* data, int64_t begin, int64_t end, int) {
    *static_cast<std::atomic<int64_t>*>(data) += end - begin;
  };
  std::atomic<int64_t> done = 0;
  const Pool pool(hone_pool_create(3));
  hone_pool_run(&*pool, kTasks, add, &done);
  EXPECT_EQ(done, kTasks);
}

TEST(RuntimeMemory, IsAligned) {
  EXPECT_EQ(hone_memory_get(0), nullptr);
  EXPECT_EQ(hone_memory_get(SIZE_MAX), nullptr);
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{5} << 20, (size_t{2} << 20) + 1}) {
    auto* memory = static_cast<char*>(hone_memory_get(bytes));
    ASSERT_NE(memory, nullptr);
    const size_t unit = bytes < (size_t{2} << 20) ? 64 : size_t{2} << 20;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % unit, 0U) << bytes;
    memory[0] = memory[bytes - 1] = 1;
    hone_memory_put(memory, bytes);
  }
}

}  // namespace
