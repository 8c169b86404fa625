// Whether different tasks touch the same element of a buffer.
#pragma once

#include <string>
#include <vector>

#include "loop/index_space.h"
#include "loop/ir.h"

namespace hone::loop {

// coefficient * d with low <= d <= high; `task`: a difference between the digits of two tasks.
struct OverlapTerm {
  int64_t coefficient;
  Interval range;
  bool task;
};
enum class Overlap : uint8_t { kNone, kFound, kUnknown };
// Is the sum of the terms `target` for some values, not all differences of digits being 0?
// `steps` bounds the search, and is what is left of it afterwards.
[[nodiscard]] Overlap find_overlap(std::vector<OverlapTerm> terms, int64_t target, int& steps);

// An access to a buffer inside of the parallel loop.
struct TaskAccess {
  Linear place;
  std::vector<std::pair<int, Interval>> narrowed;  // atoms whose range a condition narrows
  bool exact = false;                              // all of these elements are touched
  bool writes = false;
  Expr shown;  // as a load
};

struct RaceReport {
  std::vector<std::string> definite, unclear;
};
// Accesses to one buffer.
void find_races(const Function& function, const IndexSpace& space,
                const std::vector<TaskAccess>& accesses, RaceReport& report);

}  // namespace hone::loop
