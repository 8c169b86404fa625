#include "ops/elementwise.h"

namespace hone {

TensorExpr elementwise(const OpContext& c, size_t count, const ScalarBody& body) {
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < count; ++i) shapes.push_back(&c.shape(i));
  const Shape output = broadcast(shapes);
  Builder b;
  const std::vector<Operand> operands = c.declare(b);
  const Axes axes = b.axes("i", output);
  std::vector<Scalar> values;
  for (size_t i = 0; i < count; ++i) values.push_back(read_broadcast(operands[i], axes, output));
  return b.finish({b.map("y", axes, body(values))});
}

Scalar read_broadcast(const Operand& x, const Axes& axes, const Shape& output) {
  return x.at(broadcast_indices(x.shape(), axes, output));
}

Scalar read_single(const Operand& x) {
  if (x.rank() == 0) return x.at(std::vector<Index>{});
  if (x.rank() != 1 || (x.dim(0).is_const() && !x.dim(0).is(1))) {
    throw_invalid("an operand of shape " + to_string(x.shape()) + " must be a scalar");
  }
  return x(0);
}

void require_broadcastable(const OpContext& c, size_t i, const Shape& output) {
  const Shape& shape = c.shape(i);
  bool fits = shape.size() <= output.size();
  for (size_t k = 0; fits && k < shape.size(); ++k) {
    const Dim& have = shape[k];
    const Dim& want = output[output.size() - shape.size() + k];
    fits = have.is(1) || have == want || !have.is_const() || !want.is_const();
  }
  if (fits) return;
  throw_invalid("operand " + std::to_string(i) + " of " + std::string(c.op()) + " has shape " +
                to_string(shape) + ", which does not broadcast to " + to_string(output));
}

Scalar apply(Fn fn, const Scalar& x) { return Scalar::apply(fn, {x}); }

Scalar clamp(const Scalar& x, const Literal& low, const Literal& high) {
  return min(max(x, low), high);
}

Scalar sigmoid(const Scalar& x) { return Literal(1) / (Literal(1) + exp(-x)); }

// log(1 + exp x), written so that exp cannot overflow.
Scalar softplus(const Scalar& x) { return max(x, 0) + apply(Fn::kLog1p, exp(-abs(x))); }

}  // namespace hone
