// Joins stages, so that few tensors need memory.
#pragma once

#include "partition/program.h"
#include "support/error.h"

namespace hone {

[[nodiscard]] Result<void> fuse(TensorProgram& program);

}  // namespace hone
