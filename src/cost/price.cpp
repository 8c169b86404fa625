#include "cost/price.h"

#include <algorithm>
#include <array>

#include "cost/core_time.h"
#include "cost/traffic.h"

namespace hone {
namespace {

constexpr double kGiga = 1e9;
constexpr double kLoadsPerCycle = 2;

// The share of the work that the busiest thread has.
double largest_share(int64_t tasks, int threads) {
  if (tasks <= 0) return 1;
  const int64_t rounds = (tasks + threads - 1) / threads;
  return static_cast<double>(rounds) / static_cast<double>(tasks);
}

}  // namespace

Price price(const Kernel& kernel, const Schedule& schedule, const Cpu& cpu, int threads) {
  Price result;
  double cycles = 0;
  double moved = 0;
  int64_t tasks = 1;
  for (size_t i = 0; i < kernel.nests.size(); ++i) {
    const CoreWork work = core_work(kernel, kernel.nests[i], schedule.nests[i], cpu);
    cycles += work.cycles;
    moved += work.moved_bytes;
    result.flops += work.flops;
    tasks = std::max(tasks, work.tasks);
  }
  if (kernel.shared > 0) {
    tasks = 1;
    for (size_t i = 0; i < kernel.shared; ++i) tasks *= kernel.nests[0].extents[i];
  }
  const Traffic traffic(kernel, schedule);
  const auto beyond = [&](int64_t cache) { return traffic.beyond(static_cast<double>(cache)); };
  const double share = largest_share(tasks, threads);
  const double hertz = cpu.ghz * kGiga;
  result.bytes = traffic.operands();
  result.core = share * cycles / hertz;
  result.l1 = share * moved / (kLoadsPerCycle * cpu.vector_bytes * hertz);
  result.l2 = share * beyond(cpu.l1_bytes) / (cpu.l2_gbps * kGiga);
  result.l3 = share * beyond(cpu.l2_bytes) / (cpu.l3_gbps * kGiga);
  result.memory = beyond(cpu.l3_bytes) / (cpu.memory_gbps * kGiga);
  const std::array<std::pair<std::string_view, double>, 5> parts = {{{"core", result.core},
                                                                     {"l1", result.l1},
                                                                     {"l2", result.l2},
                                                                     {"l3", result.l3},
                                                                     {"memory", result.memory}}};
  for (const auto& [name, seconds] : parts)
    if (seconds > result.seconds) {
      result.seconds = seconds;
      result.bound = name;
    }
  return result;
}

}  // namespace hone
