// Checks that a kernel is well-formed and keeps to its memory:
//
// - types and lanes agree; functions are defined on their types
// - variables and buffers are defined before they are used, and in scope; arguments that are only
//   read are not stored to
// - unrolled loops have constant extents; register buffers are indexed by constants once they are
//   unrolled; there is at most one parallel loop, inside no other
// - accesses stay inside their buffers, and no two tasks touch an element that one of them writes,
//   as far as linear functions of loop counters, their quotients and remainders, lanes, minima and
//   the conditions around an access can tell
//
// The time is that of the text's size: unrolled loops are not expanded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loop/ir.h"

namespace hone::loop {

// What could not be decided.
struct VerifyNotes {
  int64_t accesses = 0;   // loads and stores in the text
  int64_t unchecked = 0;  // of them, those whose index depends on data and is not clamped
  std::vector<std::string> unclear;
};

// Definite problems only.
[[nodiscard]] Errors verify(const Function& function, VerifyNotes* notes = nullptr);

}  // namespace hone::loop
