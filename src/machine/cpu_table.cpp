#include "machine/cpu_table.h"

#include <array>

namespace hone {
namespace {

constexpr int64_t kKilo = 1024, kMega = 1024 * 1024;

// Cache sizes, pipes and latencies are the vendors' published ones. Clocks are typical for one busy
// core of a server or board, L3 is a core's share, and bandwidths are estimated, except znver3's,
// which were measured (bytes read, one core).
constexpr std::array kTable = {
    CpuFacts{"znver3", 2, 4, 3.2, 32 * kKilo, 512 * kKilo, 4 * kMega, 95, 65, 12},
    CpuFacts{"znver2", 2, 5, 3.0, 32 * kKilo, 512 * kKilo, 4 * kMega, 80, 50, 12},
    // 512-bit vectors are executed in two halves.
    CpuFacts{"znver4", 1, 4, 3.5, 32 * kKilo, 1 * kMega, 4 * kMega, 110, 70, 20},
    CpuFacts{"znver5", 2, 4, 3.8, 48 * kKilo, 1 * kMega, 4 * kMega, 200, 90, 25},
    CpuFacts{"haswell", 2, 5, 3.0, 32 * kKilo, 256 * kKilo, 2560 * kKilo, 90, 40, 12},
    CpuFacts{"skylake", 2, 4, 3.5, 32 * kKilo, 256 * kKilo, 2 * kMega, 100, 50, 15},
    CpuFacts{"skylake-avx512", 2, 4, 2.7, 32 * kKilo, 1 * kMega, 1408 * kKilo, 130, 30, 12},
    CpuFacts{"cascadelake", 2, 4, 2.8, 32 * kKilo, 1 * kMega, 1408 * kKilo, 130, 30, 12},
    CpuFacts{"icelake-server", 2, 4, 2.9, 48 * kKilo, 1280 * kKilo, 1536 * kKilo, 130, 35, 12},
    CpuFacts{"sapphirerapids", 2, 4, 3.0, 48 * kKilo, 2 * kMega, 1920 * kKilo, 140, 30, 12},
    CpuFacts{"alderlake", 2, 4, 4.6, 48 * kKilo, 1280 * kKilo, 3 * kMega, 150, 80, 30},
    CpuFacts{"neoverse-n1", 2, 4, 2.6, 64 * kKilo, 1 * kMega, 1 * kMega, 60, 35, 15},
    CpuFacts{"neoverse-n2", 2, 4, 3.0, 64 * kKilo, 1 * kMega, 1 * kMega, 80, 40, 20},
    CpuFacts{"neoverse-v1", 4, 4, 2.6, 64 * kKilo, 1 * kMega, 1 * kMega, 80, 40, 20},
    CpuFacts{"neoverse-v2", 4, 4, 3.2, 64 * kKilo, 2 * kMega, 2 * kMega, 100, 50, 30},
    CpuFacts{"cortex-a53", 0.5, 4, 1.4, 32 * kKilo, 512 * kKilo, 512 * kKilo, 8, 8, 2},
    CpuFacts{"cortex-a55", 1, 4, 1.8, 32 * kKilo, 128 * kKilo, 512 * kKilo, 14, 10, 4},
    CpuFacts{"cortex-a76", 2, 4, 2.4, 64 * kKilo, 512 * kKilo, 512 * kKilo, 50, 25, 10},
};

}  // namespace

std::span<const CpuFacts> cpu_table() { return kTable; }

}  // namespace hone
