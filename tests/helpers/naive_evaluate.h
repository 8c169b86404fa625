// An oracle for the evaluator: walks the tree of an expression at every point, in doubles.
#pragma once

#include <vector>

#include "expr/tensor_expr.h"

namespace hone::test {

struct NaiveTensor {
  std::vector<int64_t> dims;
  std::vector<double> values;
};

// Outputs of an expression whose dimensions are all numbers. Integers must stay below 2^53.
[[nodiscard]] std::vector<NaiveTensor> naive_evaluate(const TensorExpr& expr,
                                                      const std::vector<NaiveTensor>& operands);

}  // namespace hone::test
