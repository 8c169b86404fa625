// Index arithmetic that several operator families share: renaming positions of one shape to those
// of another, and positions that are read from tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

[[nodiscard]] std::vector<Index> to_indices(const Axes& axes);
// Row-major position: ((a0 * D1 + a1) * D2 + a2) ...
[[nodiscard]] Index flat_index(const std::vector<Index>& position, const Shape& shape);

// Where the element at `position` of a tensor of shape `to` stands in the same data of shape
// `from`. Runs of dimensions with equal products are treated apart, so that what a reshape leaves
// alone stays a plain axis.
[[nodiscard]] std::vector<Index> reshape_indices(const Shape& from, const Shape& to,
                                                 const std::vector<Index>& position);
// The expression that gives operand 0 the shape `to`.
[[nodiscard]] TensorExpr reshape_to(const OpContext& c, const Shape& to);

// An index read from a tensor, counted from the end when negative: select(v < 0, v + extent, v).
[[nodiscard]] Index wrapped_index(const Scalar& value, const Dim& extent);
// The only element of a tensor of rank 0, or of shape [1].
[[nodiscard]] Scalar single_element(const Operand& x);

// Integers that are an attribute before opset `input_since` and input `i` from then on. Nothing
// when absent in both forms.
[[nodiscard]] std::optional<std::vector<Dim>> dims_by_opset(const OpContext& c,
                                                            const std::string& attribute, size_t i,
                                                            int input_since);
[[nodiscard]] std::optional<std::vector<int64_t>> ints_by_opset(const OpContext& c,
                                                                const std::string& attribute,
                                                                size_t i, int input_since);

// The extent of operand i, which must have rank 1.
[[nodiscard]] Dim vector_length(const OpContext& c, size_t i);

// What is known of a result whose extents need values of a run: the type, and the rank if it is a
// number. For OperatorDef::infer.
[[nodiscard]] std::vector<TensorType> type_of_rank(ElementType type, const Dim& rank);
[[nodiscard]] std::vector<TensorType> same_rank(OpContext& c);  // as operand 0

// True when provable for all values of the symbols.
[[nodiscard]] bool is_at_most(const Dim& a, const Dim& b);

}  // namespace hone
