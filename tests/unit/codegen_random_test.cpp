// Random kernels as machine code against the interpreter of loop IR.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "helpers/kernels.h"
#include "helpers/random_loops.h"
#include "loop/interpret.h"
#include "loop/text.h"

namespace hone::testing {
namespace {

constexpr auto kElements = static_cast<size_t>(kRandomLoopElements);

// The arguments of random_loops.
struct Arguments {
  Aligned<float> x{kElements}, w{kElements}, y{kElements};
  Aligned<double> h{kElements};
  Aligned<int32_t> n{kElements}, z{kElements};
  Aligned<int64_t> at{kElements};

  explicit Arguments(uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return double(int64_t(random() % 4001) - 2000) / 256; };
    for (size_t i = 0; i < kElements; ++i) {
      x[i] = float(number());
      w[i] = float(number());
      y[i] = float(number());
      h[i] = number();
      n[i] = int32_t(random() % 100) - 50;
      z[i] = int32_t(random() % 100);
      at[i] = int64_t(random() % 1000) - 300;
    }
  }
  std::vector<void*> pointers() {
    return {x.data(), h.data(), n.data(), at.data(), w.data(), y.data(), z.data()};
  }
};

bool close(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  return a == b || std::fabs(a - b) <= 1e-4F * std::max(std::fabs(a), std::fabs(b)) + 1e-4F;
}

// One module for many kernels: their names are made distinct.
TEST(CodegenRandom, AgreesWithTheInterpreter) {
  constexpr uint64_t kSeeds = 40;
  std::vector<loop::Function> kernels;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    kernels.push_back(random_loops(seed));
    kernels.back().name = "k" + std::to_string(seed);
  }
  const auto module = JitModule::compile(kernels, host_cpu());
  ASSERT_TRUE(module) << module.error().to_string();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const loop::Function& kernel = kernels[seed];
    Arguments wanted(seed), got(seed);
    const std::vector<int64_t> extents = {3};
    const auto done = loop::interpret(kernel, wanted.pointers(), extents, 0, kRandomLoopTasks);
    ASSERT_TRUE(done) << done.error().to_string();
    Aligned<std::byte> scratch(static_cast<size_t>(loop::scratch_bytes(kernel)));
    (*module)->find(kernel.name)(got.pointers().data(), extents.data(), 0, kRandomLoopTasks,
                                 scratch.data());
    for (size_t i = 0; i < kElements; ++i) {
      ASSERT_TRUE(close(got.y[i], wanted.y[i]))
          << seed << ": y[" << i << "] is " << got.y[i] << ", not " << wanted.y[i] << "\n"
          << loop::to_text(kernel);
      ASSERT_EQ(got.z[i], wanted.z[i]) << seed << ": z[" << i << "]\n" << loop::to_text(kernel);
    }
  }
}

}  // namespace
}  // namespace hone::testing
