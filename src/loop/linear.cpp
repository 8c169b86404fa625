#include "loop/linear.h"

#include <numeric>

namespace hone::loop {
namespace {

int64_t multiply_add(int64_t a, int64_t b, int64_t factor) {
  return saturated(__int128{a} + __int128{b} * factor);
}

}  // namespace

int64_t Linear::coefficient(int atom) const {
  for (const auto& [id, coefficient] : terms)
    if (id == atom) return coefficient;
  return 0;
}

Linear constant(int64_t value) { return {value, {}}; }

Linear atom(int atom, int64_t coefficient) {
  return coefficient == 0 ? Linear{} : Linear{0, {{atom, coefficient}}};
}

Linear sum(const Linear& a, const Linear& b, int64_t factor) {
  Linear result{multiply_add(a.offset, b.offset, factor), {}};
  result.terms.reserve(a.terms.size() + b.terms.size());
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    const bool from_left =
        right == b.terms.end() || (left != a.terms.end() && left->first <= right->first);
    const bool from_right =
        left == a.terms.end() || (right != b.terms.end() && right->first <= left->first);
    const int id = from_left ? left->first : right->first;
    const int64_t coefficient =
        multiply_add(from_left ? left->second : 0, from_right ? right->second : 0, factor);
    if (coefficient != 0) result.terms.emplace_back(id, coefficient);
    if (from_left) ++left;
    if (from_right) ++right;
  }
  return result;
}

Linear scaled(const Linear& a, int64_t factor) { return sum(Linear{}, a, factor); }

int64_t step_of(const Linear& linear) {
  int64_t step = 0;
  for (const auto& [id, coefficient] : linear.terms) step = std::gcd(step, coefficient);
  return std::max<int64_t>(step, 1);
}

}  // namespace hone::loop
