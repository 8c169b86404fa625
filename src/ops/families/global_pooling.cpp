// Pooling of whole images: GlobalMaxPool, GlobalAveragePool, GlobalLpPool.
#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

// Every spatial axis of x is reduced to extent 1.
struct Whole {
  Axes output, reduced, read;
  Dim count;
};

Whole whole_of(const OpContext& c, Builder& b) {
  require_rank(c, 0, 2);
  const Shape& shape = c.shape(0);
  Whole whole;
  whole.output = {b.axis("n", shape[0]), b.axis("c", shape[1])};
  whole.reduced = b.axes("r", {shape.begin() + 2, shape.end()});
  whole.read = whole.output;
  whole.read.insert(whole.read.end(), whole.reduced.begin(), whole.reduced.end());
  for (size_t i = 2; i < shape.size(); ++i)
    whole.output.push_back(b.axis("o" + std::to_string(i - 2), 1));
  whole.count = element_count({shape.begin() + 2, shape.end()});
  return whole;
}

// y[n, c, 0..] = max_{r..} x[n, c, r..]
TensorExpr define_global_max_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const Whole whole = whole_of(c, b);
  return b.finish({b.reduce("y", whole.output, Combiner::kMax, whole.reduced, x.at(whole.read))});
}

// y[n, c, 0..] = sum_{r..} x[n, c, r..] / (D1 D2 ..)
TensorExpr define_global_average_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType wide = accumulator_of(x.type());
  const Whole whole = whole_of(c, b);
  const Operand sum = b.reduce("total", whole.output, Combiner::kSum, whole.reduced,
                               Scalar::cast(wide, x.at(whole.read)));
  const Scalar average = sum.at(whole.output) / as_number(wide, whole.count);
  return b.finish({b.map("y", whole.output, Scalar::cast(x.type(), average))});
}

// y[n, c, 0..] = (sum_{r..} |x[n, c, r..]|^p)^(1/p)
TensorExpr define_global_lp_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType wide = accumulator_of(x.type());
  const int64_t p = c.int_attribute("p", 2);
  if (p < 1) throw_invalid("p = " + std::to_string(p) + " gives no norm");
  const Whole whole = whole_of(c, b);
  const Scalar value = Scalar::cast(wide, x.at(whole.read));
  const Scalar power = p == 2 ? value * value : pow(abs(value), Scalar::literal(wide, p));
  const Operand sum = b.reduce("total", whole.output, Combiner::kSum, whole.reduced, power);
  const Scalar total = sum.at(whole.output);
  const Scalar root =
      p == 2 ? sqrt(total) : pow(total, Scalar::literal(wide, Literal::rational(1, p)));
  return b.finish({b.map("y", whole.output, Scalar::cast(x.type(), root))});
}

}  // namespace

void register_global_pooling(OperatorTable& table) {
  table.add({.name = "GlobalMaxPool",
             .since = 1,
             .doc = "Maximum of each channel's whole image.",
             .inputs = "x",
             .define = define_global_max_pool,
             .example = "GlobalMaxPool(x: f32[2, 3, 4, 5])"});
  table.add({.name = "GlobalAveragePool",
             .since = 1,
             .doc = "Average of each channel's whole image.",
             .inputs = "x",
             .define = define_global_average_pool,
             .example = "GlobalAveragePool(x: f32[2, 3, 4, 5])"});
  table.add({.name = "GlobalLpPool",
             .since = 2,
             .doc = "Lp norm of each channel's whole image.",
             .inputs = "x",
             .attributes = "p: int = 2",
             .define = define_global_lp_pool,
             .example = "GlobalLpPool(x: f32[2, 3, 4, 5])"});
}

}  // namespace hone
