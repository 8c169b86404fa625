// Bounds of linear functions: from the ranges of the atoms, and by linear programs over all that is
// known of them.
#include <cmath>

#include "loop/index_space.h"
#include "loop/linear_program.h"
#include "tensor/dim.h"

namespace hone::loop {
namespace {

constexpr size_t kMaxRows = 64;      // of the linear program for a bound
constexpr double kUnbounded = 1e12;  // stands for infinity there
constexpr double kRounding = 1e-4;

}  // namespace

Interval IndexSpace::box(const Linear& linear, bool here) const {
  __int128 low = linear.offset;
  __int128 high = linear.offset;
  bool no_low = false;
  bool no_high = false;
  for (const auto& [id, coefficient] : linear.terms) {
    const Interval& range = here ? (*this)[id].here : (*this)[id].range;
    const int64_t least = coefficient > 0 ? range.low : range.high;
    const int64_t most = coefficient > 0 ? range.high : range.low;
    no_low = no_low || least >= kFar || least <= -kFar;
    no_high = no_high || most >= kFar || most <= -kFar;
    low += __int128{coefficient} * least;
    high += __int128{coefficient} * most;
  }
  return {no_low ? -kFar : saturated(low), no_high ? kFar : saturated(high)};
}

// The conditions and facts that have something to do with a function, also by way of others.
std::vector<Linear> IndexSpace::known_about(const Linear& linear) const {
  std::vector<int> atoms;
  std::vector<Linear> rest;
  for (const Linear& condition : conditions_) rest.push_back(resolve(condition));
  for (const Linear& condition : implied_) rest.push_back(resolve(condition));
  std::vector<Linear> result;
  const auto mention = [&](const Linear& row) {
    for (const auto& [id, coefficient] : row.terms) {
      if (std::ranges::find(atoms, id) != atoms.end()) continue;
      atoms.push_back(id);
      for (const Linear& fact : (*this)[id].facts) rest.push_back(resolve(fact));
    }
  };
  mention(linear);
  for (size_t i = 0; i < rest.size() && result.size() < kMaxRows;) {
    const bool related = std::ranges::any_of(rest[i].terms, [&](const auto& term) {
      return std::ranges::find(atoms, term.first) != atoms.end();
    });
    if (!related) {
      ++i;
      continue;
    }
    Linear row = std::move(rest[i]);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    mention(row);
    result.push_back(std::move(row));
    i = 0;
  }
  return result;
}

int64_t IndexSpace::high(const Linear& unresolved, int64_t enough) const {
  const Linear linear = resolve(unresolved);
  const int64_t simple = box(linear).high;
  if (simple <= enough) return simple;
  const std::vector<Linear> rows = known_about(linear);
  if (rows.empty()) return simple;
  LinearProgram program;
  std::map<int, int> variables;
  const auto variable = [&](int id) {
    const auto [at, added] = variables.try_emplace(id, 0);
    if (added) {
      const auto end = [](int64_t value) {
        return std::clamp<double>(static_cast<double>(value), -kUnbounded, kUnbounded);
      };
      at->second = program.add_variable(static_cast<double>(linear.coefficient(id)),
                                        end((*this)[id].here.low), end((*this)[id].here.high));
    }
    return at->second;
  };
  for (const auto& [id, coefficient] : linear.terms) variable(id);
  for (const Linear& row : rows)
    for (const auto& [id, coefficient] : row.terms) variable(id);
  for (const Linear& row : rows) {
    std::vector<std::pair<int, double>> terms;
    for (const auto& [id, coefficient] : row.terms)
      terms.emplace_back(variable(id), static_cast<double>(coefficient));
    program.add_row(terms, -static_cast<double>(row.offset));
  }
  const auto offset = static_cast<double>(linear.offset);
  const double bound = program.maximum(static_cast<double>(enough) - offset + 0.5) + offset;
  // No point of integers lies between; kRounding is for the arithmetic in doubles.
  if (bound > kUnbounded / 16) return simple;
  if (bound < -kUnbounded) return -kFar;
  const auto whole = static_cast<int64_t>(std::floor(bound + kRounding));
  return std::min(
      simple, linear.offset + floor_div(whole - linear.offset, step_of(linear)) * step_of(linear));
}

int64_t IndexSpace::low(const Linear& linear, int64_t enough) const {
  return -high(scaled(linear, -1), -enough);
}

}  // namespace hone::loop
