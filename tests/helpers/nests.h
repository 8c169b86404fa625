// Small kernels as nests, and a way to run them by the interpreter of loop IR.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lower/lower.h"

namespace hone::testing {

struct NamedKernel {
  std::string name;
  Kernel kernel;
};

// Contractions, windows, grouped and depthwise ones, pooling, reductions, maps with tails, guards
// and tables; operands are f32, weights constant.
[[nodiscard]] std::vector<NamedKernel> small_kernels();
// c[m, n] = sum_k a[m, k] * b[k, n], then max(0, .).
[[nodiscard]] Kernel matmul_kernel(int64_t m, int64_t k, int64_t n, bool constant_right = true);
// y[row, x] = x - max of the row, in two nests that share the row.
[[nodiscard]] Kernel centered_rows_kernel(int64_t rows, int64_t columns);

// One nest with random axes, strides, quotients, remainders and guards.
[[nodiscard]] Kernel random_nest(std::mt19937_64& random);

[[nodiscard]] Schedule plain_schedule(const Kernel& kernel);
// A schedule of a kernel with one nest that satisfies what lowering asks for.
[[nodiscard]] Schedule random_schedule(const Kernel& kernel, std::mt19937_64& random);

// Lowers, verifies and interprets, the last task first. Operands are small integers, so that sums
// are exact in any order. The elements of all outputs; nothing where something is wrong, which
// fails the test.
[[nodiscard]] std::vector<float> run_kernel(const Kernel& kernel, const Schedule& schedule);

}  // namespace hone::testing
