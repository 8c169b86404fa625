#include "loop/overlap.h"

#include <algorithm>
#include <numeric>

#include "tensor/dim.h"

namespace hone::loop {
namespace {

// Terms with the largest coefficients come first, so that what is left to the others soon decides.
class Search {
 public:
  Search(std::vector<OverlapTerm> terms, const std::vector<OverlapLimit>& limits, int& steps)
      : terms_(std::move(terms)), steps_(steps) {
    std::ranges::sort(terms_, [](const OverlapTerm& a, const OverlapTerm& b) {
      return std::abs(a.coefficient) > std::abs(b.coefficient);
    });
    rest_.resize(terms_.size() + 1, Rest{0, 0, 0, false});
    for (size_t i = terms_.size(); i-- > 0;) {
      const auto& [c, range, task] = terms_[i];
      const Rest& after = rest_[i + 1];
      rest_[i] = {after.low + std::min(__int128{c} * range.low, __int128{c} * range.high),
                  after.high + std::max(__int128{c} * range.low, __int128{c} * range.high),
                  std::gcd(after.step, c), after.tasks || task};
      for (const OverlapLimit& limit : limits) {
        if (std::abs(c) > limit.coefficient) continue;
        if (i > 0 && std::abs(terms_[i - 1].coefficient) <= limit.coefficient) continue;
        rest_[i].low = std::max(rest_[i].low, __int128{limit.range.low});
        rest_[i].high = std::min(rest_[i].high, __int128{limit.range.high});
      }
    }
  }

  Overlap run(int64_t target, bool differs) {
    if (find(0, target, differs)) return Overlap::kFound;
    return steps_ <= 0 ? Overlap::kUnknown : Overlap::kNone;
  }

 private:
  struct Rest {
    __int128 low, high;  // what the terms from here on can add up to
    int64_t step;        // all of it multiples of this
    bool tasks;
  };

  bool find(size_t i, __int128 target, bool differs) {
    if (--steps_ <= 0) return false;
    const Rest& rest = rest_[i];
    if (target < rest.low || target > rest.high || (!differs && !rest.tasks)) return false;
    if (i == terms_.size()) return true;  // then target = 0
    if (target % rest.step != 0) return false;
    const auto& [c, range, task] = terms_[i];
    // c * d must leave something that the others can make up.
    const Rest& after = rest_[i + 1];
    const auto [least, most] = quotients(target - after.high, target - after.low, c);
    for (int64_t d = std::max(least, range.low); d <= std::min(most, range.high); ++d) {
      if (find(i + 1, target - __int128{c} * d, differs || (task && d != 0))) return true;
      if (steps_ <= 0) return false;
    }
    return false;
  }

  // All d with low <= c * d <= high.
  static std::pair<int64_t, int64_t> quotients(__int128 low, __int128 high, int64_t c) {
    const int64_t a = saturated(c > 0 ? low : -high);
    const int64_t b = saturated(c > 0 ? high : -low);
    const int64_t step = std::abs(c);
    return {-floor_div(-a, step), floor_div(b, step)};
  }

  std::vector<OverlapTerm> terms_;
  std::vector<Rest> rest_;
  int& steps_;
};

}  // namespace

Overlap find_overlap(std::vector<OverlapTerm> terms, int64_t target, int& steps,
                     const std::vector<OverlapLimit>& limits) {
  bool differs = false;
  for (const OverlapTerm& term : terms) {
    if (term.range.empty()) return Overlap::kNone;
    if (!term.range.bounded() && (term.coefficient != 0 || !term.task)) return Overlap::kUnknown;
    differs = differs ||
              (term.task && term.coefficient == 0 && (term.range.low != 0 || term.range.high != 0));
  }
  std::erase_if(terms, [](const OverlapTerm& term) { return term.coefficient == 0; });
  return Search(std::move(terms), limits, steps).run(target, differs);
}

}  // namespace hone::loop
