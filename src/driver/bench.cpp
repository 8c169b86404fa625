#include "driver/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>

#include <nlohmann/json.hpp>

namespace hone {
namespace {

constexpr double kLimitSeconds = 0.15;
constexpr double kWarmUpSeconds = 0.2;
constexpr int kWarmUpRuns = 3;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool is_cancelled(const BenchOptions& options) { return options.cancelled && options.cancelled(); }

// Outputs are written to the same memory in each run, as a careful caller does.
class Runner {
 public:
  Runner(Session& session, std::span<const Buffer> inputs) : session_(session) {
    for (const Buffer& input : inputs)
      inputs_.push_back(input.empty_handle() ? TensorView{} : view_of(input));
  }

  // Runs once and keeps the outputs' memory for later runs.
  Result<void> prepare() {
    auto outputs = session_.run(inputs_);
    if (!outputs) return std::unexpected(std::move(outputs.error()));
    buffers_ = *std::move(outputs);
    for (Buffer& buffer : buffers_)
      outputs_.push_back({buffer.type(), buffer.dims(), buffer.mutable_data()});
    return {};
  }

  Result<double> run() {
    const auto start = Clock::now();
    const Result<void> ran = session_.run(inputs_, outputs_);
    const double took = seconds_since(start);
    if (!ran) return std::unexpected(ran.error());
    return took;
  }

  [[nodiscard]] std::span<const TensorView> inputs() const { return inputs_; }

 private:
  Session& session_;
  std::vector<TensorView> inputs_;
  std::vector<Buffer> buffers_;
  std::vector<MutableTensorView> outputs_;
};

}  // namespace

double BenchResult::percentile(double percent) const {
  if (seconds.empty()) return 0;
  const double rank = std::ceil(percent / 100 * static_cast<double>(seconds.size()));
  return seconds[std::min(seconds.size() - 1, static_cast<size_t>(std::max(rank, 1.0)) - 1)];
}

double BenchResult::flops() const {
  return std::accumulate(profile.steps.begin(), profile.steps.end(), 0.0,
                         [](double sum, const StepProfile& step) { return sum + step.flops; });
}

Result<BenchResult> bench(Session& session, std::span<const Buffer> inputs,
                          const BenchOptions& options) {
  BenchResult result;
  Runner runner(session, inputs);
  if (Result<void> ready = runner.prepare(); !ready)
    return std::unexpected(std::move(ready.error()));
  for (const auto start = Clock::now();
       result.warm_up_runs < kWarmUpRuns || seconds_since(start) < kWarmUpSeconds;
       ++result.warm_up_runs) {
    if (is_cancelled(options)) break;
    if (Result<double> ran = runner.run(); !ran) return std::unexpected(std::move(ran.error()));
  }
  const auto start = Clock::now();
  const double cpu_start = cpu_seconds();
  while (seconds_since(start) < options.seconds ||
         result.seconds.size() < static_cast<size_t>(options.min_runs)) {
    if (is_cancelled(options)) break;
    const Result<double> ran = runner.run();
    if (!ran) return std::unexpected(ran.error());
    result.seconds.push_back(*ran);
  }
  if (result.seconds.empty()) return fail(ErrorKind::kInterrupted, "", "interrupted");
  result.cpu_seconds = (cpu_seconds() - cpu_start) / static_cast<double>(result.seconds.size());
  std::ranges::sort(result.seconds);
  Result<Profile> profile = session.profile(runner.inputs(), options.profile_runs);
  if (!profile) return std::unexpected(std::move(profile.error()));
  result.profile = *std::move(profile);
  result.limits = measure_limits(options.threads, kLimitSeconds);
  return result;
}

std::vector<KernelTime> by_kernel(const Profile& profile) {
  std::map<std::string, size_t> at;
  std::vector<KernelTime> kernels;
  std::vector<double> longest;
  for (const StepProfile& step : profile.steps) {
    // Host steps share no code.
    const std::string key = step.kernel == "host" ? "host " + step.label : step.kernel;
    const auto [found, added] = at.try_emplace(key, kernels.size());
    if (added) {
      kernels.push_back({step.kernel, step.label, 0, 0, 0, 0});
      longest.push_back(0);
    }
    KernelTime& kernel = kernels[found->second];
    if (step.seconds > longest[found->second]) {
      longest[found->second] = step.seconds;
      kernel.label = step.label;
    }
    ++kernel.steps;
    kernel.seconds += step.seconds;
    kernel.flops += step.flops;
    kernel.bytes += step.bytes;
  }
  std::ranges::stable_sort(kernels, std::greater(), &KernelTime::seconds);
  return kernels;
}

std::string to_json(const BenchResult& result) {
  nlohmann::ordered_json out;
  out["runs"] = result.seconds.size();
  out["warm_up_runs"] = result.warm_up_runs;
  out["min_ms"] = result.percentile(0) * 1e3;
  for (const int percent : {50, 90, 99})
    out["p" + std::to_string(percent) + "_ms"] = result.percentile(percent) * 1e3;
  out["max_ms"] = result.percentile(100) * 1e3;
  out["cpu_ms"] = result.cpu_seconds * 1e3;
  out["gflop"] = result.flops() * 1e-9;
  out["peak_gflops"] = result.limits.gflops;
  out["peak_read_gbps"] = result.limits.read_gbps;
  out["profile_ms"] = result.profile.seconds * 1e3;
  for (const KernelTime& kernel : by_kernel(result.profile))
    out["kernels"].push_back({{"kernel", kernel.kernel},
                              {"label", kernel.label},
                              {"steps", kernel.steps},
                              {"ms", kernel.seconds * 1e3},
                              {"gflop", kernel.flops * 1e-9},
                              {"mb", kernel.bytes * 1e-6}});
  for (const StepProfile& step : result.profile.steps)
    out["steps"].push_back({{"kernel", step.kernel},
                            {"label", step.label},
                            {"ms", step.seconds * 1e3},
                            {"gflop", step.flops * 1e-9},
                            {"mb", step.bytes * 1e-6},
                            {"tasks", step.tasks}});
  return out.dump(1);
}

}  // namespace hone
