// Predicts the time of a kernel from its accesses and its schedule alone, by a roofline.
//
// Each part of the machine would need a time of its own if all others were infinitely fast; the
// slowest one is the kernel's time:
//
//   core     arithmetic and loads of each step of a tile, and latency where a tile has too few sums
//   l1       bytes between registers and the first level: two loads a cycle
//   l2, l3   bytes that miss the level before, over that level's bandwidth
//   memory   bytes that miss all caches; threads share its bandwidth
//
// A level is missed by what the loops around the largest working set that fits into it bring anew.
// Data begin in the smallest level that holds all of the kernel's, as if it ran again and again.
#pragma once

#include <string_view>

#include "lower/nest.h"
#include "lower/schedule.h"
#include "machine/cpu.h"

namespace hone {

struct Price {
  double seconds = 0;
  double core = 0, l1 = 0, l2 = 0, l3 = 0, memory = 0;  // seconds
  std::string_view bound = "core";  // which one it is: "core", "l1", "l2", "l3", "memory"
  double flops = 0;
  double bytes = 0;  // of all operands and results, once
};

// The kernel's axes must be in the form that the schedule was chosen for.
[[nodiscard]] Price price(const Kernel& kernel, const Schedule& schedule, const Cpu& cpu,
                          int threads = 1);

}  // namespace hone
