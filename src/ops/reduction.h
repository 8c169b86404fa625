// Reductions over a set of axes of one tensor, as normalisations and Reduce* operators share them.
#pragma once

#include <vector>

#include "ops/context.h"

namespace hone {

// The axes of a tensor, split into those that stay and those that are reduced over.
struct ReductionAxes {
  Axes all;      // one for every axis of the tensor, in order
  Axes kept;     // those that stay
  Axes reduced;  // the others
  Dim count;     // elements that are reduced to one
};

// `axes`: sorted and distinct, as OpContext::axes gives them.
[[nodiscard]] ReductionAxes split_axes(Builder& b, const Shape& shape,
                                       const std::vector<int>& axes);

// m[kept..] = sum over reduced of body / count
[[nodiscard]] Operand mean_over(Builder& b, const std::string& name, const ReductionAxes& over,
                                const Scalar& body);
// v[kept..] = mean over reduced of (body - mean[kept..])^2
[[nodiscard]] Operand variance_over(Builder& b, const ReductionAxes& over, const Scalar& body,
                                    const Operand& mean);
// r[kept..] = 1 / sqrt(v[kept..] + epsilon)
[[nodiscard]] Operand inverse_deviation(Builder& b, const Axes& kept, const Operand& variance,
                                        const Literal& epsilon);

}  // namespace hone
