// Random small kernels that keep within their buffers and whose tasks do not overlap, for tests
// that compare two ways to run or to write one.
#pragma once

#include <cstdint>

#include "loop/ir.h"

namespace hone {

// Arguments: x f32 in, h f64 in, n i32 in, at i64 in (any values), w f32 constant,
// y f32 out, z i32 out; one extent, at least 1. Each has kRandomLoopElements elements.
inline constexpr int64_t kRandomLoopElements = 192;
inline constexpr int64_t kRandomLoopTasks = 4;

[[nodiscard]] loop::Function random_loops(uint64_t seed);

}  // namespace hone
