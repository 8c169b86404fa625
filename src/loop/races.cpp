#include "loop/races.h"

#include <array>
#include <numeric>

#include "loop/text.h"
#include "tensor/dim.h"

namespace hone::loop {
namespace {

// Of all searches for one buffer.
constexpr int kMaxSteps = 50000;

// Terms with the largest coefficients come first, so that what is left to the others soon decides.
class Search {
 public:
  Search(std::vector<OverlapTerm> terms, int& steps) : terms_(std::move(terms)), steps_(steps) {
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

class Races {
 public:
  Races(const Function& function, const IndexSpace& space, const std::vector<TaskAccess>& accesses)
      : function_(function), space_(space) {
    for (int id = 0; id < space.size(); ++id)
      if (space[id].parallel) digits_.push_back(id);
    for (const TaskAccess& access : accesses) add(access);
  }

  // The first definite race, or else the first pair of which nothing can be said.
  void run(RaceReport& report) {
    std::string unclear;
    int pairs = 0;
    for (size_t i = 0; i < accesses_.size(); ++i)
      for (size_t j = 0; j <= i; ++j) {
        const TaskAccess& a = accesses_[i];
        const TaskAccess& b = accesses_[j];
        const Overlap overlap = a.writes || b.writes ? check(a, b) : Overlap::kNone;
        if (overlap == Overlap::kFound) return report.definite.push_back(describe(a, b, true));
        if (overlap == Overlap::kUnknown && ++pairs == 1) unclear = describe(a, b, false);
      }
    if (pairs > 1) unclear += ", and " + std::to_string(pairs - 1) + " more pairs";
    if (pairs > 0) report.unclear.push_back(unclear);
  }

 private:
  void add(const TaskAccess& original) {
    TaskAccess access = original;
    access.place = space_.resolve(access.place);
    for (const auto& [id, range] : access.narrowed)
      if (space_[id].split) access.exact = false;
    for (const auto& [id, coefficient] : access.place.terms)
      access.exact = access.exact && space_[id].exact;
    for (const TaskAccess& known : accesses_)
      if (known.place == access.place && known.narrowed == access.narrowed &&
          known.writes == access.writes && known.exact == access.exact)
        return;
    accesses_.push_back(std::move(access));
  }

  static bool is_narrowed(const TaskAccess& access, int id) {
    return std::ranges::any_of(access.narrowed,
                               [id](const auto& pair) { return pair.first == id; });
  }
  [[nodiscard]] Interval range_in(const TaskAccess& access, int id) const {
    for (const auto& [narrowed, range] : access.narrowed)
      if (narrowed == id) return range;
    return space_[id].range;
  }

  // Digits of the task with their coefficients in both places. Those of a number that both places
  // use as a whole are that number again, whose range is tighter.
  struct Digit {
    int id;
    int64_t in_a, in_b;
  };
  [[nodiscard]] std::vector<Digit> digits_in(const TaskAccess& a, const TaskAccess& b) const {
    std::vector<Digit> digits;
    for (const int id : digits_)
      if (!space_[id].split)
        digits.push_back({id, a.place.coefficient(id), b.place.coefficient(id)});
    for (size_t i = digits_.size(); i-- > 0;) {
      const int whole = digits_[i];
      if (!space_[whole].split) continue;
      const auto [quotient, by] = space_[whole].parts.terms[0];
      const int remainder = space_[whole].parts.terms[1].first;
      const auto at = [&](int id) { return std::ranges::find(digits, id, &Digit::id); };
      const auto high = at(quotient);
      const auto low = at(remainder);
      if (high == digits.end() || low == digits.end()) continue;
      if (high->in_a != by * low->in_a || high->in_b != by * low->in_b) continue;
      if (std::ranges::any_of(std::array{quotient, remainder},
                              [&](int id) { return is_narrowed(a, id) || is_narrowed(b, id); }))
        continue;
      low->id = whole;
      digits.erase(high);
    }
    return digits;
  }

  // kFound only if the accesses certainly happen.
  Overlap check(const TaskAccess& a, const TaskAccess& b) {
    bool exact = a.exact && b.exact;
    std::vector<OverlapTerm> terms;
    const auto add_inner = [&](const TaskAccess& access, int id, int64_t coefficient) {
      terms.push_back({coefficient, range_in(access, id), false});
      exact = exact && !space_[id].of_task;
    };
    for (const auto& [digit, in_a, in_b] : digits_in(a, b)) {
      const Interval left = range_in(a, digit);
      const Interval right = range_in(b, digit);
      // in_a * p - in_b * q = (in_a - in_b) * p + in_b * (p - q)
      terms.push_back({in_b, {left.low - right.high, left.high - right.low}, true});
      if (in_a == in_b) continue;
      terms.push_back({in_a - in_b, left, false});
      exact = false;
    }
    for (const auto& [id, c] : a.place.terms)
      if (!space_[id].parallel) add_inner(a, id, c);
    for (const auto& [id, c] : b.place.terms)
      if (!space_[id].parallel) add_inner(b, id, -c);
    const Overlap overlap = find_overlap(std::move(terms), b.place.offset - a.place.offset, steps_);
    return overlap == Overlap::kFound && !exact ? Overlap::kUnknown : overlap;
  }

  [[nodiscard]] std::string describe(const TaskAccess& a, const TaskAccess& b,
                                     bool definite) const {
    const std::string left = to_text(a.shown, function_);
    const std::string right = to_text(b.shown, function_);
    const std::string may = definite ? "" : " may";
    if (a.writes && b.writes)
      return "two tasks" + may + " write the same element: " + left +
             (left == right ? "" : " and " + right);
    return "a task" + may + (definite ? " reads" : " read") + " what another one writes: " +
           (a.writes ? right + " and " + left : left + " and " + right);
  }

  const Function& function_;
  const IndexSpace& space_;
  std::vector<int> digits_;  // oldest first, split or not
  std::vector<TaskAccess> accesses_;
  int steps_ = kMaxSteps;
};

}  // namespace

Overlap find_overlap(std::vector<OverlapTerm> terms, int64_t target, int& steps) {
  bool differs = false;
  for (const OverlapTerm& term : terms) {
    if (term.range.empty()) return Overlap::kNone;
    if (!term.range.bounded() && (term.coefficient != 0 || !term.task)) return Overlap::kUnknown;
    differs = differs ||
              (term.task && term.coefficient == 0 && (term.range.low != 0 || term.range.high != 0));
  }
  std::erase_if(terms, [](const OverlapTerm& term) { return term.coefficient == 0; });
  return Search(std::move(terms), steps).run(target, differs);
}

void find_races(const Function& function, const IndexSpace& space,
                const std::vector<TaskAccess>& accesses, RaceReport& report) {
  Races(function, space, accesses).run(report);
}

}  // namespace hone::loop
