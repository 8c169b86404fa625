// Inside of pricing: what a core executes.
#pragma once

#include <cstdint>

#include "lower/nest.h"
#include "lower/schedule.h"
#include "machine/cpu.h"

namespace hone {

struct CoreWork {
  double cycles = 0;
  double flops = 0;
  double moved_bytes = 0;  // between registers and the first level
  int64_t tasks = 1;
};

[[nodiscard]] CoreWork core_work(const Kernel& kernel, const Nest& nest,
                                 const NestSchedule& schedule, const Cpu& cpu);

}  // namespace hone
