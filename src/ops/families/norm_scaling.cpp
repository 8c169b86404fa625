// Normalisations that divide by a norm of neighbours: LpNormalization, LRN.
#include "ops/element_classes.h"
#include "ops/reduction.h"
#include "ops/table.h"

namespace hone {
namespace {

// y = x / (sum over the axis of |x|^p)^(1/p), 0 where that norm is 0
TensorExpr define_lp_normalization(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_rank(c, 0, 1);
  const int64_t p = c.int_attribute("p", 2);
  if (p != 1 && p != 2) throw_invalid("p = " + std::to_string(p) + " is neither 1 nor 2");
  Builder b;
  const Operand in = c.declare(b, {"x"})[0];
  const int axis = c.axis(c.int_attribute("axis", -1), c.rank(0));
  const ReductionAxes over = split_axes(b, c.shape(0), {axis});
  const Scalar x = Scalar::cast(accumulator_of(c.type(0)), in.at(over.all));
  const Operand total =
      b.reduce("total", over.kept, Combiner::kSum, over.reduced, p == 1 ? abs(x) : x * x);
  const Scalar sum = total.at(over.kept);
  const Operand norm = b.map("norm", over.kept, p == 1 ? sum : sqrt(sum));
  const Scalar n = norm.at(over.kept);
  const Scalar y = select(equal(n, number(n, 0)), 0, x / n);
  return b.finish({b.map("y", over.all, Scalar::cast(c.type(0), y))});
}

// square[n, k, i..] = sum over t < size of x[n, k + t - (size - 1) / 2, i..]^2, 0 outside
// y = x / (bias + alpha / size square)^beta
TensorExpr define_lrn(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_rank(c, 0, 2);
  const std::vector<Dim> named = c.dims_attribute("size", {});
  if (named.size() != 1) throw_invalid("size must be one integer");
  const Dim& size = named[0];
  if (size.is_const() && size.value() < 1) throw_invalid("size must be positive");
  Builder b;
  const Operand in = c.declare(b, {"x"})[0];
  const Axes at = b.axes("i", c.shape(0));
  const AxisId window = b.axis("t", size);
  std::vector<Index> neighbour(at.begin(), at.end());
  neighbour[1] = neighbour[1] + window - floor_div(size - 1, 2);
  const ElementType wide = accumulator_of(c.type(0));
  const Scalar near = Scalar::cast(wide, in.at_or(std::move(neighbour), 0));
  const Operand square = b.reduce("square", at, Combiner::kSum, {window}, near * near);

  const Literal alpha = c.literal_attribute("alpha", 1e-4F);
  const Scalar scaled = square.at(at) * (number(near, alpha) / number(wide, size));
  const Scalar base = scaled + c.literal_attribute("bias", 1);
  const Scalar divisor = pow(base, number(near, c.literal_attribute("beta", 0.75F)));
  const Scalar y = Scalar::cast(wide, in.at(at)) / divisor;
  return b.finish({b.map("y", at, Scalar::cast(c.type(0), y))});
}

}  // namespace

void register_norm_scaling(OperatorTable& table) {
  table.add({.name = "LpNormalization",
             .doc = "Each element divided by the p-norm along the axis.",
             .inputs = "x",
             .attributes = "axis: int = -1, p: int = 2",
             .define = define_lp_normalization,
             .example = "LpNormalization(x: f32[2, 3])"});
  table.add({.name = "LRN",
             .doc = "Each element divided by a power of the squares of neighbouring channels.",
             .inputs = "x",
             .attributes = "size: int, alpha: float = 0.0001, beta: float = 0.75, bias: float = 1",
             .define = define_lrn,
             .example = "LRN(x: f32[2, 5, 3, 3]) {size = 3}"});
}

}  // namespace hone
