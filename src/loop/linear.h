// Linear functions of integers, and intervals. Numbers that no kernel needs count as unbounded.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace hone::loop {

inline constexpr int64_t kFar = int64_t{1} << 60;  // this far from 0: no bound known

[[nodiscard]] inline int64_t saturated(__int128 value) {
  return value > kFar ? kFar : value < -kFar ? -kFar : static_cast<int64_t>(value);
}

struct Interval {
  int64_t low = -kFar, high = kFar;

  [[nodiscard]] bool empty() const { return low > high; }
  [[nodiscard]] bool bounded() const { return low > -kFar && high < kFar; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
[[nodiscard]] inline Interval intersect(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
[[nodiscard]] inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// offset + sum of coefficient * atom; sorted by atom, no coefficient is 0.
struct Linear {
  int64_t offset = 0;
  std::vector<std::pair<int, int64_t>> terms;

  [[nodiscard]] bool is_constant() const { return terms.empty(); }
  [[nodiscard]] int64_t coefficient(int atom) const;
  friend auto operator<=>(const Linear&, const Linear&) = default;
};
[[nodiscard]] Linear constant(int64_t value);
[[nodiscard]] Linear atom(int atom, int64_t coefficient = 1);
// a + factor * b
[[nodiscard]] Linear sum(const Linear& a, const Linear& b, int64_t factor = 1);
[[nodiscard]] Linear scaled(const Linear& a, int64_t factor);
// All values are the offset plus a multiple of this.
[[nodiscard]] int64_t step_of(const Linear& linear);

}  // namespace hone::loop
