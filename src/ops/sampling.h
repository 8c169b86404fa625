// Reads between the points of a grid: positions that are computed, and weights of the neighbours.
#pragma once

#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

// Interpolation along one axis at positions that a stage computed.
struct Sampler {
  AxisId tap;       // counts the neighbours: 2 (linear) or 4 (cubic)
  Scalar weight;    // of the neighbour, at the axes given and `tap`
  Index neighbour;  // its index, which may lie outside the tensor
};

// Stages for the neighbours of `position`, a floating number at `axes`. Linear:
//   y = (1 - f) x[l] + f x[l + 1] with l = floor(position), f = position - l
// cubic: four neighbours from l - 1 on, weighted by Keys' kernel with a = -3/4.
[[nodiscard]] Sampler linear_sampler(Builder& b, const std::string& name, const Axes& axes,
                                     const Scalar& position);
[[nodiscard]] Sampler cubic_sampler(Builder& b, const std::string& name, const Axes& axes,
                                    const Scalar& position);

// Inside (-margin - 1, extent + margin) unchanged, else moved to the nearer end: far outside
// positions stay outside and become small enough for index arithmetic.
[[nodiscard]] Scalar near_box(const Scalar& position, const Dim& extent, int64_t margin);

}  // namespace hone
