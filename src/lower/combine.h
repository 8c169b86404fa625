// Combiners of reductions in loop IR.
#pragma once

#include "expr/tensor_expr.h"
#include "loop/ir.h"

namespace hone {

[[nodiscard]] bool is_arg(Combiner combiner);
[[nodiscard]] loop::Expr combine(Combiner combiner, const loop::Expr& a, const loop::Expr& b);
[[nodiscard]] Fn fold_function(Combiner combiner);
[[nodiscard]] Literal identity_of(Combiner combiner, ElementType type);
// Whether a later value takes the place of the best one; NaN beats all.
[[nodiscard]] loop::Expr is_better(Combiner combiner, const loop::Expr& value,
                                   const loop::Expr& best);

}  // namespace hone
