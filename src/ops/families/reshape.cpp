// Operators that rename positions: the same elements under another shape.
#include <algorithm>

#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// The shape that Reshape's second input asks for: 0 copies a dimension (unless zeros are allowed),
// -1 takes what is left.
Shape resolve_shape(const Shape& from, const std::vector<Dim>& wanted, bool allow_zero) {
  Shape to = wanted;
  std::vector<bool> copied(from.size(), false);
  std::optional<size_t> inferred;
  Dim given = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is(-1)) {
      if (inferred) throw_invalid("two dimensions are -1 in the shape " + to_string(wanted));
      inferred = i;
    } else if (wanted[i].is(0) && !allow_zero) {
      if (i >= from.size())
        throw_invalid("dimension " + std::to_string(i) + " is to be copied from " +
                      to_string(from) + ", which has no such dimension");
      copied[i] = true;
      to[i] = from[i];
    } else {
      if (wanted[i].is_const() && wanted[i].value() < 0)
        throw_invalid("negative dimension in the shape " + to_string(wanted));
      given *= wanted[i];
    }
  }
  if (!inferred) return to;
  Dim rest = 1;
  for (size_t i = 0; i < from.size(); ++i)
    if (!copied[i]) rest *= from[i];
  if (given.is(0)) throw_invalid("-1 beside 0 in the shape " + to_string(wanted));
  to[*inferred] = floor_div(rest, given);
  return to;
}

TensorExpr define_reshape(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  const auto wanted = dims_by_opset(c, "shape", 1, 5);
  if (!wanted) throw_invalid("no shape is given");
  return reshape_to(c, resolve_shape(c.shape(0), *wanted, c.int_attribute("allowzero", 0) != 0));
}

std::vector<TensorType> infer_reshape(OpContext& c) {
  return type_of_rank(c.type(0), vector_length(c, 1));
}

TensorExpr define_flatten(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  const Shape& from = c.shape(0);
  const int64_t given = c.int_attribute("axis", 1);
  const int axis = c.axis(given, c.rank(0), given >= 0);
  return reshape_to(c, {element_count({from.begin(), from.begin() + axis}),
                        element_count({from.begin() + axis, from.end()})});
}

// y[o..] = x[o.., with 0 on every removed axis]
TensorExpr define_squeeze(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x", "axes"})[0];
  std::vector<bool> removed(static_cast<size_t>(x.rank()), false);
  if (const auto given = ints_by_opset(c, "axes", 1, 13)) {
    for (const int axis : c.axes(*given, x.rank())) {
      b.require_equal(x.dim(axis), 1, "a squeezed dimension");
      removed[static_cast<size_t>(axis)] = true;
    }
  } else {
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (!x.dim(axis).is_const())
        throw_unknown("whether dimension " + x.dim(axis).to_string() +
                      " is 1 is known in a run only");
      removed[static_cast<size_t>(axis)] = x.dim(axis).is(1);
    }
  }
  Axes axes;
  std::vector<Index> at;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (removed[static_cast<size_t>(axis)]) {
      at.emplace_back(0);
    } else {
      axes.push_back(b.axis("i" + std::to_string(axes.size()), x.dim(axis)));
      at.emplace_back(axes.back());
    }
  }
  return b.finish({b.map("y", axes, x.at(at))});
}

std::vector<TensorType> infer_squeeze(OpContext& c) { return {{c.type(0), std::nullopt}}; }

// y[o.., 0, p..] = x[o.., p..]
TensorExpr define_unsqueeze(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  const auto given = ints_by_opset(c, "axes", 1, 13);
  if (!given) throw_invalid("no axes are given");
  Builder b;
  const Operand x = c.declare(b, {"x", "axes"})[0];
  const std::vector<int> added =
      c.axes(*given, x.rank() + static_cast<int>(std::min<size_t>(given->size(), 1024)));
  Shape shape = x.shape();
  for (const int axis : added) shape.insert(shape.begin() + axis, Dim(1));
  const Axes axes = b.axes("i", shape);
  Axes at = axes;
  for (auto axis = added.rbegin(); axis != added.rend(); ++axis) at.erase(at.begin() + *axis);
  return b.finish({b.map("y", axes, x.at(at))});
}

std::vector<TensorType> infer_unsqueeze(OpContext& c) {
  if (!c.has(1)) return {{c.type(0), std::nullopt}};
  return type_of_rank(c.type(0), vector_length(c, 1) + Dim(c.rank(0)));
}

TensorExpr define_expand(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  const Shape wanted = c.dims_value(1);
  for (const Dim& d : wanted)
    if (d.is_const() && d.value() < 0) throw_invalid("the shape " + to_string(wanted));
  Builder b;
  const Operand x = c.declare(b, {"x", "shape"})[0];
  const Shape shape = broadcast({&x.shape(), &wanted});
  const Axes axes = b.axes("i", shape);
  return b.finish({b.map("y", axes, x.at(broadcast_indices(x.shape(), axes, shape)))});
}

std::vector<TensorType> infer_expand(OpContext& c) {
  return type_of_rank(c.type(0), max(Dim(c.rank(0)), vector_length(c, 1)));
}

// y[i..] = x[i mod D..], over D * repeats
TensorExpr define_tile(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  const std::vector<Dim> repeats = c.dims_value(1);
  Builder b;
  const Operand x = c.declare(b, {"x", "repeats"})[0];
  if (repeats.size() != x.shape().size())
    throw_invalid("repeats has " + std::to_string(repeats.size()) + " elements for rank " +
                  std::to_string(x.rank()));
  Shape shape;
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i].is_const() && repeats[i].value() < 0) throw_invalid("a negative repeat");
    shape.push_back(x.shape()[i] * repeats[i]);
  }
  const Axes axes = b.axes("i", shape);
  std::vector<Index> at;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const Dim& extent = x.shape()[i];
    const bool whole = repeats[i].is(1) || extent.is(0);
    at.push_back(whole ? Index(axes[i]) : mod(Index(axes[i]), extent));
  }
  return b.finish({b.map("y", axes, x.at(at))});
}

// y[i_perm(0), i_perm(1), ..] = x[i_0, i_1, ..]
TensorExpr define_transpose(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const int rank = x.rank();
  std::vector<int64_t> reversed;
  for (int i = rank - 1; i >= 0; --i) reversed.push_back(i);
  const std::vector<int64_t> perm = c.ints_attribute("perm", reversed);
  if (static_cast<int>(perm.size()) != rank)
    throw_invalid("perm has " + std::to_string(perm.size()) + " elements for rank " +
                  std::to_string(rank));
  (void)c.axes(perm, rank);  // distinct and in range
  Shape shape;
  for (const int64_t p : perm) shape.push_back(x.dim(c.axis(p, rank)));
  const Axes axes = b.axes("i", shape);
  std::vector<Index> at(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) at[static_cast<size_t>(c.axis(perm[i], rank))] = axes[i];
  return b.finish({b.map("y", axes, x.at(at))});
}

}  // namespace

void register_reshape(OperatorTable& table) {
  table.add({.name = "Reshape",
             .doc = "The same elements in row-major order under another shape.",
             .inputs = "x, shape",
             .attributes = "allowzero: int = 0, shape: ints",
             .define = define_reshape,
             .infer = infer_reshape,
             .example = "Reshape(x: f32[2, 3, 4], shape: i64[2] = [0, -1])"});
  table.add({.name = "Flatten",
             .doc = "A matrix: the dimensions before axis, and those from it on.",
             .inputs = "x",
             .attributes = "axis: int = 1",
             .define = define_flatten,
             .example = "Flatten(x: f32[2, 3, 4]) {axis = 2}"});
  table.add({.name = "Squeeze",
             .doc = "Removes dimensions of extent 1.",
             .inputs = "x, axes?",
             .attributes = "axes: ints",
             .define = define_squeeze,
             .infer = infer_squeeze,
             .example = "Squeeze(x: f32[2, 1, 3], axes: i64[1] = [1])"});
  table.add({.name = "Unsqueeze",
             .doc = "Inserts dimensions of extent 1.",
             .inputs = "x, axes?",
             .attributes = "axes: ints",
             .define = define_unsqueeze,
             .infer = infer_unsqueeze,
             .example = "Unsqueeze(x: f32[2, 3], axes: i64[2] = [0, 2])"});
  table.add({.name = "Expand",
             .since = 8,
             .doc = "Broadcasts a tensor to a shape.",
             .inputs = "x, shape",
             .define = define_expand,
             .infer = infer_expand,
             .example = "Expand(x: f32[3, 1], shape: i64[3] = [2, 1, 4])"});
  table.add({.name = "Tile",
             .since = 6,
             .doc = "Repeats a tensor along each axis.",
             .inputs = "x, repeats",
             .define = define_tile,
             .infer = same_rank,
             .example = "Tile(x: f32[2, 3], repeats: i64[2] = [2, 1])"});
  table.add({.name = "Transpose",
             .doc = "Permutes the axes.",
             .inputs = "x",
             .attributes = "perm: ints",
             .define = define_transpose,
             .example = "Transpose(x: f32[2, 3, 4]) {perm = [2, 0, 1]}"});
}

}  // namespace hone
