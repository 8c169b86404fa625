// The C header of a compiled model.
#pragma once

#include <string>

#include "driver/library.h"

namespace hone {

[[nodiscard]] std::string library_header(const Plan& plan, const LibraryOptions& options);

}  // namespace hone
