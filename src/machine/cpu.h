// Description of a CPU: what code generation and the cost model need to know of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"

namespace hone {

struct Cpu {
  std::string name;      // "znver3", "x86-64-v3", "neoverse-n1"
  std::string triple;    // "x86_64-unknown-linux-gnu"
  std::string features;  // "+avx2,+fma,...", as LLVM takes them
  int vector_bytes = 16;
  int vector_registers = 16;
  double fma_per_cycle = 2;  // vector multiply-adds
  int fma_latency = 4;       // cycles
  double ghz = 3.0;
  int64_t l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;  // L3: a core's share
  double l2_gbps = 90, l3_gbps = 60, memory_gbps = 12;
  bool is_host = false;  // code for it may be run here

  [[nodiscard]] int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

[[nodiscard]] Cpu host_cpu();
// "host", or a name of an x86-64 level or of an x86-64 or AArch64 CPU that LLVM knows. An unknown
// name is an error that lists some that are known.
[[nodiscard]] Result<Cpu> cpu_named(const std::string& name);

}  // namespace hone
