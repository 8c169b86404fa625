// Node cases on the native engine.
#pragma once

#include "helpers/node_cases.h"

namespace hone::test {

// Compiles and runs; what native code cannot do (shapes that only a run knows) runs on the
// reference engine, as in a session.
[[nodiscard]] CaseEngine native_engine(bool allow_reference = true);

}  // namespace hone::test
