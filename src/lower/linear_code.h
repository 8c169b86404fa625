// y = M x for a small constant matrix M, as few operations on values of any kind (registers,
// tiles).
#pragma once

#include <string>
#include <vector>

#include "expr/literal.h"

namespace hone {

using LiteralMatrix = std::vector<std::vector<Literal>>;  // rows

// factor * value[a] + sign * value[b]: one addition, multiplication or fused multiply-add.
struct LinearStep {
  Literal factor;  // not 0
  int a = -1;
  int sign = 0;  // 1, -1, or 0: no b
  int b = -1;
  friend bool operator==(const LinearStep&, const LinearStep&) = default;
};

// Values are the inputs, then the results of the steps in order.
struct LinearCode {
  int inputs = 0;
  std::vector<LinearStep> steps;
  std::vector<int> outputs;  // values, one per row of the matrix

  [[nodiscard]] int multiplications() const;  // steps with a factor other than 1 and -1
};

// Terms that several rows have in common up to a factor are computed once, the most frequent first
// (Paar's greedy algorithm): rows f(x), f(-x) share their even and odd parts. No row or column may
// be all zero.
[[nodiscard]] LinearCode linear_code(const LiteralMatrix& matrix);

// "t4 = 1/2*x1 + x3" and so on, one step a line.
[[nodiscard]] std::string to_text(const LinearCode& code);

// Runs the steps: step(factor, a, sign, b) makes a value; b is the same as a where sign is 0.
template <typename T, typename Step>
std::vector<T> run(const LinearCode& code, std::vector<T> values, Step&& step) {
  values.reserve(values.size() + code.steps.size());
  for (const LinearStep& s : code.steps) {
    const T& a = values[static_cast<size_t>(s.a)];
    const T& b = values[static_cast<size_t>(s.sign == 0 ? s.a : s.b)];
    values.push_back(step(s.factor, a, s.sign, b));
  }
  std::vector<T> results;
  for (const int value : code.outputs) results.push_back(values[static_cast<size_t>(value)]);
  return results;
}

}  // namespace hone
