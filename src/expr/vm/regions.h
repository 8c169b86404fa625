// Which part of each tensor a box of an output needs.
#pragma once

#include <optional>
#include <vector>

#include "expr/vm/plan.h"

namespace hone::vm {

// Per tensor: the bounding box of what is read, or nothing where it is not read at all. Scans and
// scatters are needed whole or not at all. Dimensions are numbers.
[[nodiscard]] std::vector<std::optional<Region>> regions_for(const TensorExpr& expr, int output,
                                                             const Region& box);
[[nodiscard]] Region whole_region(const TensorDecl& tensor);

}  // namespace hone::vm
