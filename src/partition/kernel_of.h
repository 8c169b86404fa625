// From ops with logical reads to a kernel with flat ones.
#pragma once

#include <vector>

#include "lower/nest.h"
#include "partition/program.h"
#include "partition/storage.h"

namespace hone {

struct PlacedKernel {
  Kernel kernel;
  std::vector<int> roots;  // per tensor of the kernel: the program's tensor; -1: local
};

// Ops that run as one kernel. The first `shared` output axes of all of them are the same; tensors
// in `local` live only inside an iteration of these.
[[nodiscard]] PlacedKernel kernel_of(const TensorProgram& program, const Storage& storage,
                                     const std::vector<const Op*>& ops, size_t shared,
                                     const std::vector<int>& local);

}  // namespace hone
