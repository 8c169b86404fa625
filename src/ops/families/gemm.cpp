// General matrix multiplication.
#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

// alpha * value. An integer times a fraction is taken in f64 and cut toward zero at the end.
struct Scaled {
  ElementType type;     // of the result
  ElementType compute;  // of the arithmetic
  Scalar operator()(const Scalar& value, const Literal& factor) const {
    return Scalar::cast(compute, value) * factor;
  }
};

// y[i, j] = alpha * sum_k a[i, k] * b[k, j] + beta * c[i, j], with a and b transposed if asked
TensorExpr define_gemm(OpContext& c) {
  require_class(c, 0, ElementClass::kNumber);
  require_axes(c, 0, "a", 2);
  require_axes(c, 1, "b", 2);
  if (c.type(0) != c.type(1)) throw_invalid("a and b are of different types");
  const bool transpose_a = c.int_attribute("transA", 0) != 0;
  const bool transpose_b = c.int_attribute("transB", 0) != 0;
  const Literal alpha = c.literal_attribute("alpha", 1.0F);
  const Literal beta = c.literal_attribute("beta", 1.0F);
  Builder b;
  const auto x = c.declare(b, {"a", "b", "c"});
  const AxisId i = b.axis("i", c.dim(0, transpose_a ? 1 : 0));
  const AxisId j = b.axis("j", c.dim(1, transpose_b ? 0 : 1));
  const AxisId k = b.axis("k", c.dim(0, transpose_a ? 0 : 1));
  b.require_equal(b.extent(k), c.dim(1, transpose_b ? 1 : 0), "inner dimensions of the product");

  const Scalar left = transpose_a ? x[0](k, i) : x[0](i, k);
  const Scalar right = transpose_b ? x[1](j, k) : x[1](k, j);
  const bool has_c = c.has(2) && !beta.is_zero();
  const bool plain = alpha.is(1) && !has_c;
  const Operand product = b.reduce(plain ? "y" : "dot", {i, j}, Combiner::kSum, {k}, left * right);
  if (plain) return b.finish({product});

  const bool fraction = is_integer(c.type(0)) && !(alpha.to_int() && beta.to_int());
  const Scaled scaled{c.type(0), fraction ? ElementType::kF64 : c.type(0)};
  Scalar y = scaled(product(i, j), alpha);
  if (has_c) {
    if (c.type(2) != c.type(0)) throw_invalid("c is of another type than a");
    if (c.rank(2) > 2) throw_invalid("c has more than two axes");
    const Shape output = {b.extent(i), b.extent(j)};
    const Shape shape = c.shape(2);
    const Shape joint = broadcast({&shape, &output});
    for (size_t axis = 0; axis < 2; ++axis)
      b.require_equal(joint[axis], output[axis], "extents of c and of the product");
    y = y + scaled(x[2].at(broadcast_indices(shape, {i, j}, output)), beta);
  }
  return b.finish({b.map("y", {i, j}, Scalar::cast(scaled.type, y))});
}

}  // namespace

void register_gemm(OperatorTable& table) {
  table.add({.name = "Gemm",
             .since = 7,
             .doc = "alpha * a * b + beta * c for matrices a and b, each transposed if asked.",
             .inputs = "a, b, c?",
             .attributes = "alpha: float = 1, beta: float = 1, transA: int = 0, transB: int = 0",
             .define = define_gemm,
             .example = "Gemm(a: f32[2, 3], b: f32[4, 3], c: f32[4]) {transB = 1}"});
}

}  // namespace hone
