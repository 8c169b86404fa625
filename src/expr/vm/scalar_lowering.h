// Values of the code from scalar expressions.
#pragma once

#include <vector>

#include "expr/vm/lowering.h"

namespace hone::vm {

// Adds the bodies and targets of a nest to the code, as roots. `images` gives each axis, then
// each step of enclosing scans, as a function of the code's slots.
void lower_roots(const Environment& environment, const Nest& nest, std::vector<Linear> images,
                 Code& code);

}  // namespace hone::vm
