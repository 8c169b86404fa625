// A program whose only step is the reference engine: slow, but with the same interface as native
// code. For tests, and for models that cannot be compiled.
#pragma once

#include "driver/session.h"

namespace hone {

// The model must outlive the program.
[[nodiscard]] Result<Compiled> compile_reference(const Model& model, const InputShapes& shapes);

}  // namespace hone
