#include "loop/index_space.h"

#include <numeric>

#include "tensor/dim.h"

namespace hone::loop {
namespace {

// How far a search for a bound goes: conditions used one after the other, and sums made.
constexpr int kMaxDepth = 6;
constexpr int kBudget = 400;

}  // namespace

int IndexSpace::add(Atom atom) {
  atom.here = atom.range;
  atoms_.push_back(std::move(atom));
  return static_cast<int>(atoms_.size()) - 1;
}

Linear IndexSpace::resolve(const Linear& linear) const {
  Linear result = linear;
  for (size_t i = 0; i < result.terms.size();) {
    const auto [id, coefficient] = result.terms[i];
    const Atom& atom = (*this)[id];
    if (!atom.split) {
      ++i;
      continue;
    }
    result.terms.erase(result.terms.begin() + static_cast<std::ptrdiff_t>(i));
    result = sum(result, atom.parts, coefficient);  // parts are younger: they come later
  }
  return result;
}

Interval IndexSpace::box(const Linear& linear) const {
  __int128 low = linear.offset;
  __int128 high = linear.offset;
  bool no_low = false;
  bool no_high = false;
  for (const auto& [id, coefficient] : linear.terms) {
    const Interval& range = (*this)[id].here;
    const int64_t least = coefficient > 0 ? range.low : range.high;
    const int64_t most = coefficient > 0 ? range.high : range.low;
    no_low = no_low || least >= kFar || least <= -kFar;
    no_high = no_high || most >= kFar || most <= -kFar;
    low += __int128{coefficient} * least;
    high += __int128{coefficient} * most;
  }
  return {no_low ? -kFar : saturated(low), no_high ? kFar : saturated(high)};
}

int64_t IndexSpace::high(const Linear& linear, int64_t enough) const {
  int budget = kBudget;
  return search(resolve(linear), enough, kMaxDepth, budget);
}

int64_t IndexSpace::low(const Linear& linear, int64_t enough) const {
  return -high(scaled(linear, -1), -enough);
}

// e <= e - k * c for each condition c <= 0 and k >= 0: choose k so that an atom cancels.
int64_t IndexSpace::search(const Linear& linear, int64_t enough, int depth, int& budget) const {
  int64_t best = box(linear).high;
  if (best <= enough || depth == 0) return best;
  const auto use = [&](const Linear& unresolved) {
    const Linear condition = resolve(unresolved);
    for (const auto& [id, c] : condition.terms) {
      const int64_t e = linear.coefficient(id);
      if (e == 0 || (e > 0) != (c > 0) || e / c == 0 || budget-- <= 0) continue;
      best = std::min(best, search(sum(linear, condition, -(e / c)), enough, depth - 1, budget));
      if (best <= enough) return true;
    }
    return false;
  };
  for (const Linear& condition : conditions_)
    if (budget > 0 && use(condition)) return best;
  for (const auto& [id, coefficient] : linear.terms)
    for (const Linear& fact : (*this)[id].facts)
      if (budget > 0 && use(fact)) return best;
  return best;
}

void IndexSpace::split(int id, int64_t by) {
  const Atom whole = (*this)[id];
  const int64_t last = whole.range.high;
  const bool even = (last + 1) % by == 0;
  Atom part = whole;
  part.exact = whole.exact && even;
  part.range = {0, last / by};
  const int quotient = add(part);
  part.range = {0, by - 1};
  const int remainder = add(part);
  const Linear parts = sum(atom(quotient, by), atom(remainder));
  if (!even)
    for (const int part_id : {quotient, remainder})
      atoms_[static_cast<size_t>(part_id)].facts.push_back(sum(parts, constant(-last)));
  Atom& replaced = atoms_[static_cast<size_t>(id)];
  replaced.split = true;
  replaced.parts = parts;
  // What the conditions around this place say of the whole.
  if (whole.here != whole.range) {
    if (whole.here.low / by == whole.here.high / by)
      narrow(remainder, {whole.here.low % by, whole.here.high % by});
    narrow(quotient, {whole.here.low / by, whole.here.high / by});
    conditions_.push_back(sum(parts, constant(-whole.here.high)));
    conditions_.push_back(sum(constant(whole.here.low), parts, -1));
  }
}

// Splits a counter in `rest` so that more of it is a multiple of n.
bool IndexSpace::split_off(const Linear& rest, int64_t n) {
  int best = -1;
  int64_t step = 0;
  for (const auto& [id, coefficient] : rest.terms) {
    const Atom& candidate = (*this)[id];
    const bool counts = candidate.range.low == 0 && candidate.range.high < kFar;
    if (!counts || coefficient <= step || n % coefficient != 0) continue;
    if (candidate.range.high < n / coefficient) continue;
    best = id;
    step = coefficient;
  }
  if (best < 0) return false;
  split(best, n / step);
  return true;
}

IndexSpace::Division IndexSpace::divide(const Linear& unresolved, int64_t n) {
  Linear linear = resolve(unresolved);
  while (true) {
    Division exact;  // linear = n * quotient + remainder
    exact.quotient.offset = floor_div(linear.offset, n);
    exact.remainder.offset = floor_mod(linear.offset, n);
    for (const auto& [id, coefficient] : linear.terms)
      (coefficient % n == 0 ? exact.quotient : exact.remainder)
          .terms.emplace_back(id, coefficient % n == 0 ? coefficient / n : coefficient);
    const Interval rest = bounds(exact.remainder);
    if (rest.bounded() && floor_div(rest.low, n) == floor_div(rest.high, n)) {
      const int64_t whole = floor_div(rest.low, n);
      return {sum(exact.quotient, constant(whole)), sum(exact.remainder, constant(-whole * n))};
    }
    if (!split_off(exact.remainder, n)) break;
    linear = resolve(linear);
  }
  const auto key = std::pair(linear, n);
  const auto known = quotients_.find(key);
  Linear quotient;
  if (known != quotients_.end()) {
    quotient = atom(known->second);
  } else {
    const Interval range = bounds(linear);
    const auto bound = [n](int64_t end) {
      return end <= -kFar || end >= kFar ? end : floor_div(end, n);
    };
    quotient = opaque({bound(range.low), bound(range.high)}, {linear});
    const int id = quotient.terms[0].first;
    auto& facts = atoms_[static_cast<size_t>(id)].facts;
    facts.push_back(sum(scaled(quotient, n), linear, -1));
    facts.push_back(sum(sum(linear, quotient, -n), constant(1 - n)));
    if (conditions_.empty() && changes_.empty()) quotients_.emplace(key, id);
  }
  // An atom of its own, because only it has the tight range.
  const Linear remainder = opaque({0, n - 1}, {linear});
  const Linear same = sum(linear, quotient, -n);
  auto& facts = atoms_[static_cast<size_t>(remainder.terms[0].first)].facts;
  facts.push_back(sum(remainder, same, -1));
  facts.push_back(sum(same, remainder, -1));
  return {quotient, remainder};
}

Linear IndexSpace::extremum(bool greatest, const Linear& a, const Linear& b) {
  const Linear difference = sum(a, b, -1);
  if (low(difference, 0) >= 0) return greatest ? a : b;
  if (high(difference, 0) <= 0) return greatest ? b : a;
  const Interval left = bounds(a);
  const Interval right = bounds(b);
  const Interval range =
      greatest ? Interval{std::max(left.low, right.low), std::max(left.high, right.high)}
               : Interval{std::min(left.low, right.low), std::min(left.high, right.high)};
  Linear result = opaque(range, {a, b});
  auto& facts = atoms_[static_cast<size_t>(result.terms[0].first)].facts;
  for (const Linear& operand : {a, b})
    facts.push_back(greatest ? sum(operand, result, -1) : sum(result, operand, -1));
  return result;
}

Linear IndexSpace::opaque(Interval range, const std::vector<Linear>& from, bool data,
                          bool of_task) {
  Atom made;
  made.range = range;
  made.data = data;
  made.of_task = data || of_task;
  for (const Linear& linear : from)
    for (const auto& [id, coefficient] : resolve(linear).terms) {
      const Atom& operand = (*this)[id];
      made.data = made.data || operand.data;
      made.of_task = made.of_task || operand.of_task || operand.parallel;
    }
  return atom(add(std::move(made)));
}

bool IndexSpace::unconditional() const {
  return vague_ == 0 && std::ranges::all_of(conditions_, [&](const Linear& condition) {
           const Linear resolved = resolve(condition);
           return resolved.terms.size() == 1 && (*this)[resolved.terms[0].first].exact;
         });
}

bool IndexSpace::all_exact(const Linear& linear) const {
  return std::ranges::all_of(resolve(linear).terms,
                             [&](const auto& term) { return (*this)[term.first].exact; });
}

bool IndexSpace::depends_on_data(const Linear& linear) const {
  return std::ranges::any_of(resolve(linear).terms,
                             [&](const auto& term) { return (*this)[term.first].data; });
}

std::vector<int> IndexSpace::narrowed() const {
  std::vector<int> ids;
  for (const auto& [id, before] : changes_)
    if (!(*this)[id].split && (*this)[id].here != (*this)[id].range) ids.push_back(id);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

IndexSpace::Mark IndexSpace::mark() const {
  return {conditions_.size(), changes_.size(), vague_, reachable_};
}

void IndexSpace::restore(const Mark& mark) {
  conditions_.resize(mark.conditions);
  for (; changes_.size() > mark.changes; changes_.pop_back())
    atoms_[static_cast<size_t>(changes_.back().first)].here = changes_.back().second;
  vague_ = mark.vague;
  reachable_ = mark.reachable;
}

void IndexSpace::narrow(int id, Interval range) {
  Atom& narrowed = atoms_[static_cast<size_t>(id)];
  changes_.emplace_back(id, narrowed.here);
  narrowed.here = intersect(narrowed.here, range);
  if (narrowed.here.empty()) reachable_ = false;
}

void IndexSpace::require_at_most_zero(const Linear& unresolved) {
  const Linear linear = resolve(unresolved);
  const Interval range = box(linear);
  if (range.high <= 0) return;
  if (range.low > 0) {
    reachable_ = false;
    return;
  }
  conditions_.push_back(linear);
  if (linear.terms.size() != 1) return;
  const auto [id, c] = linear.terms[0];
  if (c > 0)
    narrow(id, {-kFar, floor_div(-linear.offset, c)});
  else
    narrow(id, {-floor_div(-linear.offset, -c), kFar});
}

}  // namespace hone::loop
