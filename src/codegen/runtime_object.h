// The runtime as a part of a library: machine code for any target, under the names of one model.
#pragma once

#include <string>
#include <vector>

#include "machine/cpu.h"
#include "support/error.h"

namespace hone {

// An object with runtime/library.h, "hone_library" replaced by `prefix`; it needs <prefix>_program
// and <prefix>_weights. All else in it is local. Code for the plainest CPU of the architecture.
[[nodiscard]] Result<std::vector<char>> runtime_object(const Cpu& cpu, const std::string& prefix);

}  // namespace hone
