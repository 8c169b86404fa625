// Runs kernels statement by statement, for tests: slowly, at any vector width, checking every
// access. Functions mean what the reference evaluator gives them (expr/vm), computed in the types
// that machine code computes in; a fold combines halves with halves, as machine code does.
#pragma once

#include <cstdint>
#include <span>

#include "loop/ir.h"

namespace hone::loop {

// Tasks begin .. end - 1 of the parallel loop; 0 and 1 for a kernel without one. One pointer per
// argument, of as many elements as its declaration says. An error names the access that leaves its
// buffer. The kernel must be verified. Memory of a local buffer is not zero at first: floats are
// NaN. Lanes that a mask switches off are not loaded, and are 0.
[[nodiscard]] Result<void> interpret(const Function& function, std::span<void* const> buffers,
                                     std::span<const int64_t> extents, int64_t begin, int64_t end);

}  // namespace hone::loop
