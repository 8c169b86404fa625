// What this machine can do at most, measured now: the yardstick of kernels.
#pragma once

namespace hone {

struct MachineLimits {
  double gflops = 0;     // f32 multiply-adds of all threads together, 2 operations each
  double read_gbps = 0;  // from memory, all threads together
};

// Takes about `seconds` for each of the two figures; the best of a few rounds counts.
[[nodiscard]] MachineLimits measure_limits(int threads, double seconds);

}  // namespace hone
