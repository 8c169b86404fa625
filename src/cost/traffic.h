// Inside of pricing: bytes that pass between levels of memory.
#pragma once

#include <cstdint>

#include "lower/nest.h"
#include "lower/schedule.h"

namespace hone {

class Traffic {
 public:
  Traffic(const Kernel& kernel, const Schedule& schedule);

  // Bytes that the kernel touches, local buffers too.
  [[nodiscard]] double working_set() const { return working_set_; }
  // Of operands and results alone.
  [[nodiscard]] double operands() const { return operands_; }
  // Bytes that a cache of this size has to fetch or write back.
  [[nodiscard]] double beyond(double cache_bytes) const;

 private:
  // What the loops outside of a point of the nest repeat, and what those inside touch.
  struct Stage {
    double repeats = 1;
    std::vector<double> bytes;  // per tensor of the kernel
    [[nodiscard]] double total() const;
  };
  static std::vector<Stage> stages_of(const Kernel& kernel, const Nest& nest,
                                      const NestSchedule& schedule);

  std::vector<std::vector<Stage>> nests_;  // innermost stage first
  std::vector<double> whole_;              // bytes per tensor
  double shared_set_ = 0;                  // bytes inside the axes that all nests share
  double working_set_ = 0, operands_ = 0;
};

}  // namespace hone
