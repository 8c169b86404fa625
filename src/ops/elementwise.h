// Operators that act on each element alone, with operands broadcast the way of NumPy.
#pragma once

#include <functional>
#include <vector>

#include "ops/element_classes.h"

namespace hone {

using ScalarBody = std::function<Scalar(const std::vector<Scalar>&)>;

// y[o..] = body(x0[o..], x1[o..], ...), of `count` operands that must all be present.
[[nodiscard]] TensorExpr elementwise(const OpContext& c, size_t count, const ScalarBody& body);

// An operand read at the output position `axes`, broadcast to `output`.
[[nodiscard]] Scalar read_broadcast(const Operand& x, const Axes& axes, const Shape& output);
// The one element of an operand of shape [] or [1].
[[nodiscard]] Scalar read_single(const Operand& x);
// Operand i broadcasts to `output` without enlarging it.
void require_broadcastable(const OpContext& c, size_t i, const Shape& output);

// Functions that several operators share.
[[nodiscard]] Scalar apply(Fn fn, const Scalar& x);
[[nodiscard]] Scalar clamp(const Scalar& x, const Literal& low, const Literal& high);
[[nodiscard]] Scalar sigmoid(const Scalar& x);
[[nodiscard]] Scalar softplus(const Scalar& x);

}  // namespace hone
