// How fast a session is, as a whole and kernel by kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/limits.h"
#include "driver/session.h"

namespace hone {

struct BenchOptions {
  int threads = 1;
  double seconds = 2;  // of measured runs
  int min_runs = 10;
  int profile_runs = 10;
  std::function<bool()> cancelled;  // may be null
};

struct BenchResult {
  std::vector<double> seconds;  // of each run, sorted
  double cpu_seconds = 0;       // of the process, per run
  int warm_up_runs = 0;
  MachineLimits limits;
  Profile profile;

  [[nodiscard]] double percentile(double percent) const;
  [[nodiscard]] double flops() const;
};

[[nodiscard]] Result<BenchResult> bench(Session& session, std::span<const Buffer> inputs,
                                        const BenchOptions& options);

// Steps that run the same kernel, together.
struct KernelTime {
  std::string kernel;
  std::string label;  // of its longest step
  int steps = 0;
  double seconds = 0, flops = 0, bytes = 0;
};
// Most time first.
[[nodiscard]] std::vector<KernelTime> by_kernel(const Profile& profile);

[[nodiscard]] std::string to_json(const BenchResult& result);

}  // namespace hone
