// Documentation of an operator, made of its definition.
#pragma once

#include <string>

#include "ops/table.h"

namespace hone {

// Signature, doc line, attributes, and the expression that its example means:
//
//   my.domain::Swish(x) -> (y)
//     Scaled swish.
//     attributes: beta: float = 1
//     example: my.domain::Swish(x: f32[2, 3])
//       (x: f32[2, 3]) -> (y) {
//         y: f32[i0 < 2, i1 < 3] = x[i0, i1] / (1 + exp(-x[i0, i1]))
//       }
[[nodiscard]] std::string document(const OperatorDef& def);

}  // namespace hone
