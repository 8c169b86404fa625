// Linking of object files, by LLVM's linker inside this process.
#pragma once

#include <string>
#include <vector>

#include "support/error.h"

namespace hone {

// Arguments as of ld.lld, without its name. One call at a time, whoever else calls; others wait.
[[nodiscard]] Result<void> link_objects(const std::vector<std::string>& arguments);

}  // namespace hone
