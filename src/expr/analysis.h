// Facts that later stages read off the accesses of a tensor expression.
#pragma once

#include <optional>
#include <vector>

#include "expr/tensor_expr.h"

namespace hone {

// Inclusive range of an integer quantity; an end may be unknown.
struct Range {
  std::optional<Dim> low, high;
};
// Range of an index, from the extents of the stage's axes (output, then reduction). Rests on:
// symbols are >= 0, divisors are not 0, and an axis that is iterated has at least one step.
[[nodiscard]] Range range_of(const Index& index, const std::vector<Dim>& extents);
// The index with floor-div, mod, min and max removed where the axes' extents allow:
// (i*K + j) / K = i and (i*K + j) % K = j when j < K.
[[nodiscard]] Index simplify(const Index& index, const std::vector<Dim>& extents);
// The same on every index of an expression; comparisons of indices that the extents decide, and
// values outside a box that is never left, go as well.
[[nodiscard]] TensorExpr simplify(const TensorExpr& expr);

// How one axis of a stage touches one tensor it reads.
enum class AxisRole : uint8_t {
  kAbsent,     // the tensor is read without it
  kSpatial,    // an output axis, alone in one index
  kReduced,    // a reduction axis, alone in one index
  kWindowed,   // shares an index with another axis (convolution windows)
  kIrregular,  // inside a div, mod, min, max, table or data-dependent read, or in two indices
};
struct TensorAccess {
  int tensor;
  std::vector<Index> indices;
  bool guarded;                 // has a value outside the box
  std::vector<AxisRole> roles;  // per axis of the stage: output, then reduction
};
// Every distinct read of a stage's body (and target and update), in order of occurrence; reads
// inside indices and outside values count too. None for a scan: ask its inner stages.
[[nodiscard]] std::vector<TensorAccess> accesses_of(const Stage& stage);

// Box of the tensor that a tile of the stage's iteration space touches: per dimension the low end
// at the tile's origin is not given, only the extent. Irregular dimensions give the whole extent.
[[nodiscard]] std::vector<Dim> footprint(const TensorAccess& access, const TensorDecl& tensor,
                                         const std::vector<Dim>& tile);

// Scalar operations of one run: per evaluation of the body times the iteration space, a combiner
// step included (multiply-add = 2). Copies and index arithmetic count 0.
[[nodiscard]] Dim flops_of(const TensorExpr& expr);
[[nodiscard]] Dim flops_of(const TensorExpr& expr, const Stage& stage);

// How outputs, all together, depend on one operand when the others are fixed. Over the reals:
// rounding is ignored, but a cast that narrows is non-linear.
enum class Linearity : uint8_t { kIndependent, kLinear, kAffine, kNonlinear };
[[nodiscard]] Linearity linearity_in(const TensorExpr& expr, int operand);

}  // namespace hone
