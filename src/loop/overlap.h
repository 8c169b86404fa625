// Integer solutions of one linear equation with bounded variables.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/linear.h"

namespace hone::loop {

// coefficient * d with low <= d <= high; `task`: a difference between the digits of two tasks.
struct OverlapTerm {
  int64_t coefficient;
  Interval range;
  bool task;
};
enum class Overlap : uint8_t { kNone, kFound, kUnknown };
// All terms whose coefficients are this far from 0 at most add up to something in the range.
struct OverlapLimit {
  int64_t coefficient;
  Interval range;
};
// Is the sum of the terms `target` for some values, not all differences of digits being 0?
// `steps` bounds the search, and is what is left of it afterwards.
[[nodiscard]] Overlap find_overlap(std::vector<OverlapTerm> terms, int64_t target, int& steps,
                                   const std::vector<OverlapLimit>& limits = {});

}  // namespace hone::loop
