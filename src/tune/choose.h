// Chooses how a kernel is carried out on a CPU, from its accesses alone.
#pragma once

#include "lower/nest.h"
#include "lower/schedule.h"
#include "machine/cpu.h"

namespace hone {

struct ChooseOptions {
  int threads = 1;
};

// Brings the kernel's nests into the form that the schedule is for: unit axes gone, axes joined,
// ordered and flattened.
[[nodiscard]] Schedule choose(Kernel& kernel, const Cpu& cpu, const ChooseOptions& options);

}  // namespace hone
