// Numbers about CPUs that no instruction tells.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hone {

struct CpuFacts {
  std::string_view name;  // as LLVM spells it
  double fma_per_cycle;   // vectors of full width
  int fma_latency;
  double ghz;  // one busy core
  int64_t l1_bytes, l2_bytes, l3_bytes;
  double l2_gbps, l3_gbps, memory_gbps;  // one core
};

[[nodiscard]] std::span<const CpuFacts> cpu_table();

}  // namespace hone
