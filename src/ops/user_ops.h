// Operators that users define in text, loaded from a file (`--ops my.ops`):
//
//   # Scaled swish.
//   op my.domain::Swish(x: T[i..]) -> (y) {
//     attr beta: float = 1.0
//     y: T[i..] = x[i..] / (1 + exp(-beta * x[i..]))
//   }
//   example my.domain::Swish(x: f32[2, 3]) {beta = 2.0}
//
// The syntax is that of tensor expressions (expr/syntax.h), with these additions:
//  - the comment above is the operator's doc line;
//  - a type that is no element type, T, is a variable, bound by the first operand that has it; as a
//    function it casts: T(x);
//  - names in an operand's shape are bound by it, and are dimensions from there on: in indices, in
//    extents, and in scalars, where they take their partner's type;
//  - i.. stands for any number of dimensions; as axes, i.. alone has their extents, o.. < i.. too;
//  - what occurs twice must agree; nothing broadcasts unless an index says so;
//  - attributes are int, ints, float, floats or string, required unless they have a default; ints
//    and floats are read as k[0]; a string is only compared: select(mode == "sum", a, b).
#pragma once

#include <string_view>
#include <vector>

#include "ops/table.h"

namespace hone {

// All operators of a file, their examples checked. Errors have file:line:column.
[[nodiscard]] Result<std::vector<OperatorDef>> parse_operators(std::string_view text,
                                                               std::string_view file_name);

// The same, into a table. An operator that the table already has is an error.
[[nodiscard]] Result<int> add_operators(OperatorTable& table, std::string_view text,
                                        std::string_view file_name);

}  // namespace hone
