// Writes at positions that another tensor holds, joined with what stands there.
#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

Combiner combiner_of(const std::string& reduction) {
  if (reduction == "none") return Combiner::kNone;
  if (reduction == "add") return Combiner::kSum;
  if (reduction == "mul") return Combiner::kProduct;
  if (reduction == "max") return Combiner::kMax;
  if (reduction == "min") return Combiner::kMin;
  throw_invalid("unknown reduction \"" + reduction + "\"", "none, add, mul, max or min");
}

void check_types(const std::vector<Operand>& x) {
  if (!is_integer(x[1].type())) throw_invalid("indices must be integers");
  if (x[2].type() != x[0].type()) throw_invalid("the updates' type is not that of the input");
}

// y = x; for all u: y[u.., with indices[u..] on the axis] <- updates[u..]
TensorExpr define_scatter_elements(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices", "updates"});
  check_types(x);
  if (x[1].rank() != x[0].rank() || x[2].rank() != x[0].rank())
    throw_invalid("input, indices and updates differ in rank");
  const int axis = c.axis(c.int_attribute("axis", 0), x[0].rank());
  const Combiner combiner = combiner_of(c.string_attribute("reduction", "none"));
  for (int d = 0; d < x[0].rank(); ++d)
    b.require_equal(x[1].dim(d), x[2].dim(d), "shapes of indices and updates");
  const Axes axes = b.axes("i", x[0].shape());
  const Axes over = b.axes("u", x[1].shape());
  std::vector<Index> target = to_indices(over);
  target[static_cast<size_t>(axis)] = wrapped_index(x[1].at(over), x[0].dim(axis));
  return b.finish({b.scatter("y", axes, x[0].at(axes), combiner, over, target, x[2].at(over))});
}

// y = x; for all u, p: y[indices[u.., 0], .., indices[u.., K-1], p..] <- updates[u.., p..]
TensorExpr define_scatter_nd(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices", "updates"});
  check_types(x);
  if (x[0].rank() < 1 || x[1].rank() < 1) throw_invalid("both inputs need a dimension or more");
  const int outer = x[1].rank() - 1;
  if (!x[1].dim(outer).is_const())
    throw_unknown("the last dimension of indices decides which axes are written");
  const int64_t depth = x[1].dim(outer).value();
  if (depth < 1 || depth > x[0].rank())
    throw_invalid("indices of " + std::to_string(depth) + " positions for an input of rank " +
                  std::to_string(x[0].rank()));
  const Combiner combiner = combiner_of(c.string_attribute("reduction", "none"));
  Shape shape(x[1].shape().begin(), x[1].shape().end() - 1);
  shape.insert(shape.end(), x[0].shape().begin() + depth, x[0].shape().end());
  if (static_cast<int>(shape.size()) != x[2].rank())
    throw_invalid("updates must have the shape " + to_string(shape));
  for (size_t d = 0; d < shape.size(); ++d)
    b.require_equal(shape[d], x[2].shape()[d], "shape of the updates");
  const Axes axes = b.axes("i", x[0].shape());
  const Axes over = b.axes("u", shape);
  std::vector<Index> target;
  for (int64_t k = 0; k < depth; ++k) {
    std::vector<Index> from(over.begin(), over.begin() + outer);
    from.emplace_back(k);
    target.push_back(wrapped_index(x[1].at(from), x[0].dim(static_cast<int>(k))));
  }
  target.insert(target.end(), over.begin() + outer, over.end());
  return b.finish({b.scatter("y", axes, x[0].at(axes), combiner, over, target, x[2].at(over))});
}

// y = x; for all u: y[.., (start[u_0] + u_a), ..] <- update[u..], modulo the extent when circular
TensorExpr define_tensor_scatter(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"past", "update", "start"});
  if (x[1].type() != x[0].type()) throw_invalid("the update's type is not that of the cache");
  if (x[1].rank() != x[0].rank()) throw_invalid("cache and update differ in rank");
  const auto axis = static_cast<size_t>(c.axis(c.int_attribute("axis", -2), x[0].rank()));
  if (axis == 0) throw_invalid("the batch axis cannot be the sequence axis");
  const std::string mode = c.string_attribute("mode", "linear");
  if (mode != "linear" && mode != "circular")
    throw_invalid("unknown mode \"" + mode + "\"", "linear or circular");
  for (size_t d = 0; d < x[0].shape().size(); ++d)
    if (d != axis) b.require_equal(x[0].shape()[d], x[1].shape()[d], "shapes of cache and update");
  const Dim& extent = x[0].shape()[axis];
  const Axes axes = b.axes("i", x[0].shape());
  const Axes over = b.axes("u", x[1].shape());
  std::vector<Index> target = to_indices(over);
  if (x.size() > 2 && x[2].valid()) {
    if (x[2].rank() != 1 || !is_integer(x[2].type()))
      throw_invalid("write indices must be a vector of integers");
    b.require_equal(x[2].dim(0), x[0].dim(0), "write indices in the batch");
    const Scalar start = Scalar::cast(ElementType::kI64, x[2](over[0]));
    target[axis] = Index::value(start) + target[axis];
  }
  if (mode == "circular" && !extent.is(0)) target[axis] = mod(target[axis], extent);
  return b.finish(
      {b.scatter("y", axes, x[0].at(axes), Combiner::kNone, over, target, x[1].at(over))});
}

}  // namespace

void register_scatter(OperatorTable& table) {
  table.add({.name = "ScatterElements",
             .since = 11,
             .doc = "Writes elements, each at its own position of one axis.",
             .inputs = "x, indices, updates",
             .attributes = "axis: int = 0, reduction: string = \"none\"",
             .define = define_scatter_elements,
             .example =
                 "ScatterElements(x: f32[3, 3], indices: i64[2, 3] = [[1, 0, 2], [0, 2, 1]], "
                 "updates: f32[2, 3]) {reduction = \"add\"}"});
  table.add(
      {.name = "Scatter",
       .since = 9,
       .doc = "The older name of ScatterElements.",
       .inputs = "x, indices, updates",
       .attributes = "axis: int = 0",
       .define = define_scatter_elements,
       .example = "Scatter(x: f32[3, 2], indices: i64[1, 2] = [[2, -3]], updates: f32[1, 2])"});
  table.add({.name = "ScatterND",
             .since = 11,
             .doc = "Writes slices at given positions of several leading axes.",
             .inputs = "x, indices, updates",
             .attributes = "reduction: string = \"none\"",
             .define = define_scatter_nd,
             .infer = [](OpContext& c) { return std::vector<TensorType>{c.operand_info(0).type}; },
             .example = "ScatterND(x: f32[4, 2], indices: i64[2, 1] = [[3], [0]], "
                        "updates: f32[2, 2]) {reduction = \"max\"}"});
  table.add({.name = "TensorScatter",
             .since = 24,
             .doc = "Writes a piece of a sequence into a cache at a position per batch entry.",
             .inputs = "past, update, start?",
             .attributes = "axis: int = -2, mode: string = \"linear\"",
             .define = define_tensor_scatter,
             .example = "TensorScatter(past: f32[2, 4, 3], update: f32[2, 2, 3], "
                        "start: i64[2] = [1, 3]) {mode = \"circular\"}"});
}

}  // namespace hone
