// From a kernel's nests and a schedule to loop IR.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "loop/ir.h"
#include "lower/nest.h"
#include "lower/schedule.h"
#include "tensor/buffer.h"

namespace hone {

// A constant in the order in which the kernel reads it.
struct PackedConstant {
  int tensor;  // of the kernel
  int64_t elements;
  // source[i] is the element of the unpacked buffer that comes (first + i)-th; -1: zero.
  std::function<void(int64_t first, std::span<int64_t> source)> order;
};

struct Lowered {
  loop::Function function;
  // The kernel's tensor for each argument of the function; -1 - t for table t.
  std::vector<int> arguments;
  std::vector<PackedConstant> packed;
};

// The kernel's axes must be in the form that the schedule was chosen for.
[[nodiscard]] Lowered lower(const Kernel& kernel, const Schedule& schedule, std::string name);

}  // namespace hone
