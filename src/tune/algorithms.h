// Which algorithm computes an op: chosen by predicted time, before anything has a place in memory.
#pragma once

#include "machine/cpu.h"
#include "partition/program.h"

namespace hone {

struct AlgorithmOptions {
  int threads = 1;
  bool winograd = true;
};

// Replaces convolutions by the ops of Winograd's algorithm where that is faster.
void choose_algorithms(TensorProgram& program, const Cpu& cpu, const AlgorithmOptions& options);

}  // namespace hone
