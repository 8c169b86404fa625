// Running sums and products along one axis, as a scan.
#include "ops/elementwise.h"
#include "ops/table.h"

namespace hone {
namespace {

// s = start; for t in 0 .. extent-1: p = t (or extent-1-t if reverse), next = join(s, x[.., p,
// ..]), y[.., p, ..] = next (or s if exclusive), s = next.
TensorExpr define_cumulate(OpContext& c, Fn join, int64_t start) {
  require_class(c, 0, ElementClass::kNumber);
  require_rank(c, 0, 1);
  const std::vector<int64_t> named = c.ints_value(1);
  if (named.size() != 1) throw_invalid("axis of " + std::string(c.op()) + " must be a scalar");
  Builder b;
  const Operand x = c.declare(b, {"x", "axis"})[0];
  const auto along = static_cast<size_t>(c.axis(named[0], x.rank()));
  const Axes all = b.axes("i", c.shape(0));
  const Dim extent = c.shape(0)[along];
  const bool reverse = c.int_attribute("reverse", 0) != 0;
  const auto place = [&](const Index& step) { return reverse ? Index(extent - 1) - step : step; };
  Axes others = all;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(along));

  const Operand init = b.map("start", others, Scalar::literal(x.type(), start));
  const AxisId step = b.begin_scan("t", extent);
  const Operand state = b.carry("state", init);
  std::vector<Index> position(all.begin(), all.end());
  position[along] = place(step);
  const Operand next =
      b.map("next", others, Scalar::apply(join, {state.at(others), x.at(position)}));
  b.set_next(state, next);
  const Operand steps = b.collect("steps", c.int_attribute("exclusive", 0) != 0 ? state : next);
  b.end_scan();

  std::vector<Index> from(others.begin(), others.end());
  from.insert(from.begin(), place(all[along]));
  return b.finish({b.map("y", all, steps.at(from))});
}

void add(OperatorTable& table, const char* name, int since, const char* doc, Fn join,
         int64_t start) {
  table.add({.name = name,
             .since = since,
             .doc = doc,
             .inputs = "x, axis",
             .attributes = "exclusive: int = 0, reverse: int = 0",
             .define = [=](OpContext& c) { return define_cumulate(c, join, start); },
             .example = std::string(name) + "(x: f32[2, 3], axis: i64[] = 1)"});
}

}  // namespace

void register_cumulate(OperatorTable& table) {
  add(table, "CumSum", 11, "The sum of all elements up to each along an axis.", Fn::kAdd, 0);
  add(table, "CumProd", 26, "The product of all elements up to each along an axis.", Fn::kMul, 1);
}

}  // namespace hone
