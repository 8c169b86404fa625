#include "loop/races.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "loop/overlap.h"
#include "loop/text.h"
#include "tensor/dim.h"

namespace hone::loop {
namespace {

// Of the searches for one pair of accesses, and of all for one buffer.
constexpr int kStepsOfPair = 1000;
constexpr int kMaxSteps = 100000;

using Terms = std::vector<OverlapTerm>;
using Limits = std::vector<OverlapLimit>;

bool is_narrowed(const TaskAccess& access, int id) {
  return std::ranges::any_of(access.narrowed, [id](const auto& pair) { return pair.first == id; });
}

// The integer nearest to a / b.
int64_t rounded(int64_t a, int64_t b) { return floor_div(2 * a + b, 2 * b); }

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
    for (auto& [part, range] : access.parts) part = space_.resolve(part);
    for (const auto& [id, range] : access.narrowed)
      if (space_[id].split) access.exact = false;
    for (const auto& [id, coefficient] : access.place.terms)
      access.exact = access.exact && space_[id].exact;
    for (const TaskAccess& known : accesses_)
      if (known.place == access.place && known.narrowed == access.narrowed &&
          known.parts == access.parts && known.writes == access.writes &&
          known.exact == access.exact)
        return;
    accesses_.push_back(std::move(access));
  }

  [[nodiscard]] Interval range_in(const TaskAccess& access, int id) const {
    for (const auto& [narrowed, range] : access.narrowed)
      if (narrowed == id) return range;
    return space_[id].range;
  }

  // kFound only if the accesses certainly happen.
  Overlap check(const TaskAccess& a, const TaskAccess& b) {
    const Interval all_a = part_range(a, kFar);
    const Interval all_b = part_range(b, kFar);
    if (all_a.high + a.place.offset < all_b.low + b.place.offset ||
        all_b.high + b.place.offset < all_a.low + a.place.offset)
      return Overlap::kNone;
    for (const auto& [id, coefficient] : a.place.terms)
      if (space_[id].division >= 0 && check_divided(a, b, space_.division(space_[id].division)))
        return Overlap::kNone;
    const Overlap overlap = check(a, b, digits_in(a, b, true), {});
    if (overlap != Overlap::kUnknown || (a.parts.empty() && b.parts.empty())) return overlap;
    return check(a, b, digits_in(a, b, false), limits_of(a, b));
  }

  Overlap search(Terms terms, int64_t target, const Limits& limits = {}) {
    const int allowed = std::min(kStepsOfPair, steps_);
    int left = allowed;
    const Overlap overlap = find_overlap(std::move(terms), target, left, limits);
    steps_ -= allowed - left;
    return overlap;
  }

  // Digits of the task with their coefficients in both places. `joined`: those of a number that
  // both places use as a whole are that number again, whose range is tighter.
  struct Digit {
    int id;
    int64_t in_a, in_b;
  };
  [[nodiscard]] std::vector<Digit> digits_in(const TaskAccess& a, const TaskAccess& b,
                                             bool joined) const {
    std::vector<Digit> digits;
    for (const int id : digits_)
      if (!space_[id].split)
        digits.push_back({id, a.place.coefficient(id), b.place.coefficient(id)});
    for (size_t i = joined ? digits_.size() : 0; i-- > 0;) {
      const int whole = digits_[i];
      if (!space_[whole].split) continue;
      const auto [quotient, by] = space_[whole].parts.terms[0];
      const int remainder = space_[whole].parts.terms[1].first;
      const auto high = std::ranges::find(digits, quotient, &Digit::id);
      const auto low = std::ranges::find(digits, remainder, &Digit::id);
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

  Overlap check(const TaskAccess& a, const TaskAccess& b, const std::vector<Digit>& digits,
                Limits limits) {
    bool exact = a.exact && b.exact;
    Terms terms;
    for (const auto& [digit, in_a, in_b] : digits) {
      add_digit(terms, range_in(a, digit), range_in(b, digit), in_a, in_b);
      if (in_a == in_b) continue;
      exact = false;
      limits.clear();
    }
    add_inner(terms, a, a.place, 1);
    add_inner(terms, b, b.place, -1);
    const Overlap overlap = search(std::move(terms), b.place.offset - a.place.offset, limits);
    return overlap == Overlap::kFound && !exact ? Overlap::kUnknown : overlap;
  }

  // in_a * p - in_b * q = (in_a - in_b) * p + in_b * (p - q)
  static void add_digit(Terms& terms, Interval p, Interval q, int64_t in_a, int64_t in_b) {
    terms.push_back({in_b, {p.low - q.high, p.high - q.low}, true});
    if (in_a != in_b) terms.push_back({in_a - in_b, p, false});
  }
  void add_inner(Terms& terms, const TaskAccess& access, const Linear& place, int64_t sign) const {
    for (const auto& [id, c] : place.terms)
      if (!space_[id].parallel) terms.push_back({sign * c, range_in(access, id), false});
  }

  // Of the difference of the places.
  [[nodiscard]] Limits limits_of(const TaskAccess& a, const TaskAccess& b) const {
    std::set<int64_t> sizes;
    for (const TaskAccess* access : {&a, &b})
      for (const auto& [id, coefficient] : access->place.terms) sizes.insert(std::abs(coefficient));
    Limits limits;
    for (const int64_t size : sizes) {
      const Interval left = part_range(a, size);
      const Interval right = part_range(b, size);
      if (left.bounded() && right.bounded())
        limits.push_back({size, {left.low - right.high, left.high - right.low}});
    }
    return limits;
  }

  // Of the terms whose coefficients are that far from 0 at most.
  [[nodiscard]] Interval part_range(const TaskAccess& access, int64_t size) const {
    Linear part;
    for (const auto& term : access.place.terms)
      if (std::abs(term.second) <= size) part.terms.push_back(term);
    for (const auto& [known, range] : access.parts)
      if (known == part) return range;
    __int128 low = 0;
    __int128 high = 0;
    for (const auto& [id, c] : part.terms) {
      const Interval each = range_in(access, id);
      if (!each.bounded()) return {};
      low += std::min(__int128{c} * each.low, __int128{c} * each.high);
      high += std::max(__int128{c} * each.low, __int128{c} * each.high);
    }
    return {saturated(low), saturated(high)};
  }

  // A place that depends on the task by a number e = n * q + r and by q and r: a function of q and
  // r alone, which are digits as good as any if tasks have no e in common.
  bool check_divided(const TaskAccess& a, const TaskAccess& b,
                     const IndexSpace::OpaqueDivision& in_a) {
    for (const auto& [id, coefficient] : b.place.terms) {
      if (space_[id].division < 0) continue;
      const IndexSpace::OpaqueDivision& in_b = space_.division(space_[id].division);
      if (in_b.by == in_a.by && apart_by_digits(a, b, in_a, in_b)) return true;
    }
    return false;
  }

  bool apart_by_digits(const TaskAccess& a, const TaskAccess& b,
                       const IndexSpace::OpaqueDivision& in_a,
                       const IndexSpace::OpaqueDivision& in_b) {
    const Linear e_a = space_.resolve(in_a.dividend);
    const Linear e_b = space_.resolve(in_b.dividend);
    const bool comparable = std::ranges::all_of(
        digits_, [&](int id) { return e_a.coefficient(id) == e_b.coefficient(id); });
    if (e_a.terms.empty() || e_b.terms.empty() || !comparable) return false;
    const auto left = in_digits(a, in_a, e_a);
    const auto right = in_digits(b, in_b, e_b);
    if (!left || !right || left->in_quotient != right->in_quotient ||
        left->in_remainder != right->in_remainder)
      return false;
    // A constant in e may have become one in the rest, n * in_quotient at a time: undo that.
    int64_t target = right->rest.offset - left->rest.offset;
    const int64_t shift = left->in_quotient == 0 ? 0 : -rounded(target, left->in_quotient);
    target += shift * left->in_quotient;
    if (search(terms_of(a, b, e_a, e_b, e_a, true), e_b.offset - e_a.offset - shift * in_a.by) !=
        Overlap::kNone)
      return false;
    Interval quotient = range_in(a, in_a.quotient);
    quotient = {saturated(quotient.low + shift), saturated(quotient.high + shift)};
    Terms terms = terms_of(a, b, left->rest, right->rest, e_a, false);
    add_digit(terms, quotient, range_in(b, in_b.quotient), left->in_quotient, left->in_quotient);
    add_digit(terms, range_in(a, in_a.remainder), range_in(b, in_b.remainder), left->in_remainder,
              left->in_remainder);
    return search(std::move(terms), target) == Overlap::kNone;
  }

  // place = in_quotient * q + in_remainder * r + rest, where nothing of e is in the rest.
  struct InDigits {
    int64_t in_quotient, in_remainder;
    Linear rest;
  };
  static std::optional<InDigits> in_digits(const TaskAccess& access,
                                           const IndexSpace::OpaqueDivision& division,
                                           const Linear& e) {
    const auto [first, coefficient] = e.terms[0];
    const int64_t factor = access.place.coefficient(first) / coefficient;
    InDigits result{access.place.coefficient(division.quotient) + factor * division.by,
                    access.place.coefficient(division.remainder) + factor,
                    sum(access.place, e, -factor)};
    std::erase_if(result.rest.terms, [&](const auto& term) {
      return term.first == division.quotient || term.first == division.remainder;
    });
    for (const auto& [id, c] : e.terms)
      if (result.rest.coefficient(id) != 0) return std::nullopt;
    return result;
  }

  // Of the difference of two functions; with only the digits that e mentions, or only the others.
  [[nodiscard]] Terms terms_of(const TaskAccess& a, const TaskAccess& b, const Linear& left,
                               const Linear& right, const Linear& e, bool mentioned) const {
    Terms terms;
    for (const int digit : digits_)
      if (!space_[digit].split && (e.coefficient(digit) != 0) == mentioned)
        add_digit(terms, range_in(a, digit), range_in(b, digit), left.coefficient(digit),
                  right.coefficient(digit));
    add_inner(terms, a, left, 1);
    add_inner(terms, b, right, -1);
    return terms;
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

void find_races(const Function& function, const IndexSpace& space,
                const std::vector<TaskAccess>& accesses, RaceReport& report) {
  Races(function, space, accesses).run(report);
}

}  // namespace hone::loop
