// What the verifier says against what happens: random kernels are broken, verified and run.
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "helpers/random_loops.h"
#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace hone::loop {
namespace {

constexpr auto kCount = static_cast<size_t>(kRandomLoopElements);

// Arguments of a random kernel; outputs start as bytes that no kernel here computes.
struct Memory {
  std::vector<float> x = std::vector<float>(kCount), w = x, y = x;
  std::vector<double> h = std::vector<double>(kCount);
  std::vector<int32_t> n = std::vector<int32_t>(kCount), z = n;
  std::vector<int64_t> at = std::vector<int64_t>(kCount);

  Memory() {
    for (size_t i = 0; i < kCount; ++i) {
      x[i] = 0.3F * static_cast<float>(i) - 5;
      w[i] = 0.01F * static_cast<float>(i) + 2;
      h[i] = 7 - 0.7 * static_cast<double>(i);
      n[i] = static_cast<int32_t>(i) - 90;
      at[i] = static_cast<int64_t>(i) * 5 - 70;
    }
    std::memset(y.data(), 0xa5, kCount * sizeof(float));
    std::memset(z.data(), 0x5a, kCount * sizeof(int32_t));
  }
  Result<void> run(const Function& f, int64_t begin, int64_t end) {
    const std::vector<void*> buffers = {x.data(), h.data(), n.data(), at.data(),
                                        w.data(), y.data(), z.data()};
    return interpret(f, buffers, std::vector<int64_t>{3}, begin, end);
  }
  // Elements of y, then of z, that were stored to.
  [[nodiscard]] std::set<size_t> stored() const {
    const Memory fresh;
    std::set<size_t> places;
    for (size_t i = 0; i < kCount; ++i) {
      if (std::memcmp(&y[i], &fresh.y[i], sizeof(float)) != 0) places.insert(i);
      if (z[i] != fresh.z[i]) places.insert(kCount + i);
    }
    return places;
  }
};

struct Verdict {
  VerifyNotes notes;
  Errors errors;
  explicit Verdict(const Function& f) : errors(verify(f, &notes)) {}
  [[nodiscard]] bool silent() const {
    return errors.empty() && notes.unclear.empty() && notes.unchecked == 0;
  }
};

TEST(LoopVerifyRandom, BuffersThatAreTooSmallAreNoticed) {
  int failed = 0;
  int definite = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Function f = random_loops(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < f.argument_count; ++i)
      if (random() % 3 == 0)
        f.buffers[static_cast<size_t>(i)].size -= static_cast<int64_t>(random() % 100);
    const Verdict verdict(f);
    Memory memory;
    const auto result = memory.run(f, 0, kRandomLoopTasks);
    failed += result ? 0 : 1;
    definite += verdict.errors.empty() ? 0 : 1;
    if (!result) {
      EXPECT_FALSE(verdict.silent()) << result.error().to_string() << "\n" << to_text(f);
    }
    if (!verdict.errors.empty()) {
      EXPECT_FALSE(result) << verdict.errors[0].to_string() << "\n" << to_text(f);
    }
  }
  EXPECT_GT(failed, 50);
  EXPECT_GT(definite, 15);
}

TEST(LoopVerifyRandom, TasksThatOverlapAreNoticed) {
  int overlaps = 0;
  int definite = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = to_text(random_loops(seed));
    const std::string part = "t*48";
    const std::string less = "t*" + std::to_string(seed % 48);
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      if ((at + seed) % 4 != 0) text.replace(at, part.size(), less);
    const Function f = *parse_function(text);
    const Verdict verdict(f);
    std::set<size_t> all;
    bool overlap = false;
    for (int64_t task = 0; task < kRandomLoopTasks; ++task) {
      Memory memory;
      ASSERT_TRUE(memory.run(f, task, task + 1)) << text;
      for (const size_t place : memory.stored()) overlap = !all.insert(place).second || overlap;
    }
    overlaps += overlap ? 1 : 0;
    definite += verdict.errors.empty() ? 0 : 1;
    if (overlap) {
      EXPECT_FALSE(verdict.silent()) << text;
    }
    if (!verdict.errors.empty()) {
      EXPECT_TRUE(overlap) << verdict.errors[0].to_string() << "\n" << text;
    }
  }
  EXPECT_GT(overlaps, 50);
  EXPECT_GT(definite, 15);
}

}  // namespace
}  // namespace hone::loop
