#include "loop/races.h"

#include <numeric>

#include "loop/text.h"
#include "tensor/dim.h"

namespace hone::loop {
namespace {

constexpr int kMaxSteps = 20000;

// Terms with the largest coefficients come first, so that what is left to the others soon decides.
class Search {
 public:
  explicit Search(std::vector<OverlapTerm> terms) : terms_(std::move(terms)) {
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
    return steps_ > kMaxSteps ? Overlap::kUnknown : Overlap::kNone;
  }

 private:
  struct Rest {
    __int128 low, high;  // what the terms from here on can add up to
    int64_t step;        // all of it multiples of this
    bool tasks;
  };

  bool find(size_t i, __int128 target, bool differs) {
    if (++steps_ > kMaxSteps) return false;
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
      if (steps_ > kMaxSteps) return false;
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
  int steps_ = 0;
};

class Races {
 public:
  Races(const Function& function, const IndexSpace& space, const std::vector<TaskAccess>& accesses)
      : function_(function), space_(space) {
    for (int id = 0; id < space.size(); ++id)
      if (space[id].parallel && !space[id].split) digits_.push_back(id);
    for (const TaskAccess& access : accesses) add(access);
  }

  void run(RaceReport& report) {
    for (size_t a = 0; a < accesses_.size(); ++a)
      for (size_t b = 0; b <= a; ++b)
        if (accesses_[a].writes || accesses_[b].writes)
          if (!check(accesses_[a], accesses_[b], report)) return;
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

  [[nodiscard]] Interval range_in(const TaskAccess& access, int id) const {
    for (const auto& [narrowed, range] : access.narrowed)
      if (narrowed == id) return range;
    return space_[id].range;
  }

  // False once a definite race was found: one is enough.
  bool check(const TaskAccess& a, const TaskAccess& b, RaceReport& report) {
    bool exact = a.exact && b.exact;
    std::vector<OverlapTerm> terms;
    const auto add_inner = [&](const TaskAccess& access, int id, int64_t coefficient) {
      terms.push_back({coefficient, range_in(access, id), false});
      exact = exact && !space_[id].of_task;
    };
    bool independent = false;  // digits of the two tasks that are not compared
    for (const int digit : digits_) {
      const Interval left = range_in(a, digit);
      const Interval right = range_in(b, digit);
      const int64_t c = a.place.coefficient(digit);
      if (c == b.place.coefficient(digit)) {
        terms.push_back({c, {left.low - right.high, left.high - right.low}, true});
        continue;
      }
      independent = true;
      add_inner(a, digit, c);
      add_inner(b, digit, -b.place.coefficient(digit));
    }
    for (const auto& [id, c] : a.place.terms)
      if (!space_[id].parallel) add_inner(a, id, c);
    for (const auto& [id, c] : b.place.terms)
      if (!space_[id].parallel) add_inner(b, id, -c);
    if (independent) {
      exact = false;
      terms.push_back({0, {0, 1}, true});
    }
    const Overlap overlap = find_overlap(std::move(terms), b.place.offset - a.place.offset);
    if (overlap == Overlap::kNone) return true;
    const bool definite = overlap == Overlap::kFound && exact;
    (definite ? report.definite : report.unclear).push_back(describe(a, b, definite));
    return !definite;
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
  std::vector<int> digits_;
  std::vector<TaskAccess> accesses_;
};

}  // namespace

Overlap find_overlap(std::vector<OverlapTerm> terms, int64_t target) {
  bool differs = false;
  for (const OverlapTerm& term : terms) {
    if (term.range.empty()) return Overlap::kNone;
    if (!term.range.bounded() && (term.coefficient != 0 || !term.task)) return Overlap::kUnknown;
    differs = differs ||
              (term.task && term.coefficient == 0 && (term.range.low != 0 || term.range.high != 0));
  }
  std::erase_if(terms, [](const OverlapTerm& term) { return term.coefficient == 0; });
  return Search(std::move(terms)).run(target, differs);
}

void find_races(const Function& function, const IndexSpace& space,
                const std::vector<TaskAccess>& accesses, RaceReport& report) {
  Races(function, space, accesses).run(report);
}

}  // namespace hone::loop
