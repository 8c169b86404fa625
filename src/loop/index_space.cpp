#include "loop/index_space.h"

#include "tensor/dim.h"

namespace hone::loop {

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

// Splits counters in `rest` so that what is left of it is less than n; false where that fails.
bool IndexSpace::split_off(const Linear& rest, int64_t n) {
  int64_t left = rest.offset;
  for (const auto& [id, c] : rest.terms) {
    const Interval& range = (*this)[id].range;
    if (c <= 0 || n % c != 0 || range.low != 0 || range.high >= kFar) return false;
    left = saturated(left + __int128{c} * std::min(range.high, n / c - 1));
  }
  if (left >= n) return false;
  bool changed = false;
  for (const auto& [id, c] : rest.terms) {
    if ((*this)[id].range.high < n / c) continue;
    split(id, n / c);
    changed = true;
  }
  return changed;
}

IndexSpace::Division IndexSpace::divide(const Linear& unresolved, int64_t n) {
  Linear linear = resolve(unresolved);
  Division exact;  // linear = n * quotient + remainder
  while (true) {
    exact = {};
    exact.quotient.offset = floor_div(linear.offset, n);
    exact.remainder.offset = floor_mod(linear.offset, n);
    for (const auto& [id, coefficient] : linear.terms)
      (coefficient % n == 0 ? exact.quotient : exact.remainder)
          .terms.emplace_back(id, coefficient % n == 0 ? coefficient / n : coefficient);
    const Interval rest = bounds(exact.remainder);
    if (rest.bounded() && floor_div(rest.low, n) == floor_div(rest.high, n)) {
      const int64_t whole = floor_div(rest.low, n);
      exact = {sum(exact.quotient, constant(whole)), sum(exact.remainder, constant(-whole * n))};
      round_quotient(linear, n, exact.quotient);
      return exact;
    }
    if (!split_off(exact.remainder, n)) break;
    linear = resolve(linear);
  }
  Division division = opaque_division(exact.remainder, n);
  round_quotient(exact.remainder, n, division.quotient);
  division.quotient = sum(exact.quotient, division.quotient);
  round_quotient(linear, n, division.quotient);
  return division;
}

// linear <= n * a + b with b < n gives quotient <= a, which rationals do not know; nor do they know
// which multiples the dividend can be.
void IndexSpace::round_quotient(const Linear& linear, int64_t n, const Linear& quotient) {
  const Interval simple = box(quotient);
  const int64_t most = high(linear);
  const int64_t least = low(linear);
  if (most < box(linear).high && step_of(linear) > 1)
    implied_.push_back(sum(linear, constant(-most)));
  if (most < kFar && floor_div(most, n) < simple.high)
    implied_.push_back(sum(quotient, constant(-floor_div(most, n))));
  if (least > -kFar && floor_div(least, n) > simple.low)
    implied_.push_back(sum(constant(floor_div(least, n)), quotient, -1));
}

// Atoms for both parts. They are the same ones wherever this is divided, so their ranges must hold
// under no condition.
IndexSpace::Division IndexSpace::opaque_division(const Linear& linear, int64_t n) {
  const auto [at, added] =
      division_ids_.try_emplace({linear, n}, static_cast<int>(divisions_.size()));
  if (!added) {
    const OpaqueDivision& known = division(at->second);
    return {atom(known.quotient), atom(known.remainder)};
  }
  const Interval range = box(linear, false);
  const auto bound = [n](int64_t end) {
    return end <= -kFar || end >= kFar ? end : floor_div(end, n);
  };
  const Division division{opaque({bound(range.low), bound(range.high)}, {linear}),
                          opaque({0, n - 1}, {linear})};
  const auto& [quotient, remainder] = division;
  divisions_.push_back({linear, n, quotient.terms[0].first, remainder.terms[0].first});
  for (const Linear& part : {quotient, remainder})
    atoms_[static_cast<size_t>(part.terms[0].first)].division = at->second;
  const auto add_fact = [&](const Linear& about, Linear fact) {
    atoms_[static_cast<size_t>(about.terms[0].first)].facts.push_back(std::move(fact));
  };
  const Linear rest = sum(linear, quotient, -n);  // = remainder
  add_fact(quotient, scaled(rest, -1));
  add_fact(quotient, sum(rest, constant(1 - n)));
  add_fact(remainder, sum(remainder, rest, -1));
  add_fact(remainder, sum(rest, remainder, -1));
  return division;
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
  return {conditions_.size(), implied_.size(), changes_.size(), vague_, reachable_};
}

void IndexSpace::restore(const Mark& mark) {
  conditions_.resize(mark.conditions);
  implied_.resize(mark.implied);
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
