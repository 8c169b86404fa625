// Inside of storage: the order of each tensor's axes in memory.
#pragma once

#include <set>
#include <vector>

#include "partition/program.h"

namespace hone {

// For each tensor the axis that is innermost in memory; -1: the last one, as in row-major order.
// Contractions ask for the axes that their lanes and their inner loops run along; tensors that are
// combined element by element share an order. Tensors in `fixed` stay row-major.
[[nodiscard]] std::vector<int> innermost_axes(const TensorProgram& program,
                                              const std::set<int>& fixed);

}  // namespace hone
