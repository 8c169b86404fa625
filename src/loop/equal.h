// When two kernels are the same.
#pragma once

#include "loop/ir.h"

namespace hone::loop {

// The same names, buffers, statements and expressions; only the numbers of variables and of local
// buffers may differ.
[[nodiscard]] bool equal(const Function& a, const Function& b);

}  // namespace hone::loop
