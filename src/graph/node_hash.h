// When two nodes compute the same from the same inputs, and expressions that only copy.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace hone {

// Operator, attributes and inputs; not names.
[[nodiscard]] uint64_t hash_of(const Node& node);
[[nodiscard]] bool computes_the_same(const Node& a, const Node& b);

// y[i..] = x[i..] of the first operand, type and shape unchanged.
[[nodiscard]] bool is_plain_copy(const TensorExpr& expr);

}  // namespace hone
