// The stable softmax, in the stages that Softmax, LogSoftmax and losses share.
#pragma once

#include "ops/reduction.h"

namespace hone {

// top[kept..]   = max over reduced of x
// total[kept..] = sum over reduced of exp(x - top)
// `shifted` is x - top, in a type wide enough for sums.
struct SoftmaxParts {
  Scalar shifted;
  Scalar total;
};
[[nodiscard]] SoftmaxParts softmax_parts(Builder& b, const ReductionAxes& over, const Scalar& x);

}  // namespace hone
