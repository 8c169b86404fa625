// Whether different tasks touch the same element of a buffer.
#pragma once

#include <string>
#include <vector>

#include "loop/index_space.h"
#include "loop/ir.h"

namespace hone::loop {

// An access to a buffer inside of the parallel loop.
struct TaskAccess {
  Linear place;
  std::vector<std::pair<int, Interval>> narrowed;  // atoms whose range a condition narrows
  // Parts of the place, the terms with the smallest coefficients, with their bounds where these
  // are tighter than the ranges of the atoms say.
  std::vector<std::pair<Linear, Interval>> parts;
  bool exact = false;  // all of these elements are touched
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
