// Reads at positions that another tensor holds.
#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// A position along an axis that is known before a run.
Index known_position(const Dim& value, const Dim& extent) {
  if (value.is_const() && extent.is_const() &&
      (value.value() < -extent.value() || value.value() >= extent.value()))
    throw_invalid("index " + value.to_string() + " is outside a dimension of " +
                  extent.to_string());
  return value.is_const() && value.value() < 0 ? value + extent : value;
}

// y[o.., j.., p..] = x[o.., indices[j..], p..]
TensorExpr define_gather(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices"});
  if (!is_integer(x[1].type())) throw_invalid("indices must be integers");
  const int axis = c.axis(c.int_attribute("axis", 0), x[0].rank());
  const Dim& extent = x[0].dim(axis);
  Shape shape = x[0].shape();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, x[1].shape().begin(), x[1].shape().end());
  const Axes axes = b.axes("i", shape);
  const auto first = axes.begin() + axis;
  std::vector<Index> at(axes.begin(), first);
  // One known position is a plain slice.
  const bool one = x[1].rank() == 0 && c.is_known(1) && c.dims_value(1).size() == 1;
  if (one && c.dims_value(1)[0].is_const())
    at.push_back(known_position(c.dims_value(1)[0], extent));
  else
    at.push_back(wrapped_index(x[1].at(Axes(first, first + x[1].rank())), extent));
  at.insert(at.end(), first + x[1].rank(), axes.end());
  return b.finish({b.map("y", axes, x[0].at(at))});
}

// y[i..] = x[i.., with indices[i..] on the axis]
TensorExpr define_gather_elements(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices"});
  if (!is_integer(x[1].type())) throw_invalid("indices must be integers");
  if (x[1].rank() != x[0].rank()) throw_invalid("the input and the indices differ in rank");
  const int axis = c.axis(c.int_attribute("axis", 0), x[0].rank());
  const Axes axes = b.axes("i", x[1].shape());
  std::vector<Index> at = to_indices(axes);
  at[static_cast<size_t>(axis)] = wrapped_index(x[1].at(axes), x[0].dim(axis));
  return b.finish({b.map("y", axes, x[0].at(at))});
}

// y[b.., j.., p..] = x[b.., indices[b.., j.., 0], .., indices[b.., j.., K-1], p..]
TensorExpr define_gather_nd(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices"});
  if (!is_integer(x[1].type())) throw_invalid("indices must be integers");
  if (x[0].rank() < 1 || x[1].rank() < 1) throw_invalid("both inputs need a dimension or more");
  const int64_t batch = c.int_attribute("batch_dims", 0);
  const int outer = x[1].rank() - 1;
  if (batch < 0 || batch > outer || batch >= x[0].rank())
    throw_invalid("batch_dims is " + std::to_string(batch));
  const auto shared = static_cast<size_t>(batch);
  for (size_t d = 0; d < shared; ++d)
    b.require_equal(x[0].shape()[d], x[1].shape()[d], "batch dimensions");
  if (!x[1].dim(outer).is_const())
    throw_unknown("the last dimension of indices decides the rank of the output");
  const int64_t depth = x[1].dim(outer).value();
  if (depth < 1 || depth > x[0].rank() - batch)
    throw_invalid("indices of " + std::to_string(depth) + " positions for an input of rank " +
                  std::to_string(x[0].rank()));
  Shape shape(x[1].shape().begin(), x[1].shape().end() - 1);
  shape.insert(shape.end(), x[0].shape().begin() + batch + depth, x[0].shape().end());
  const Axes axes = b.axes("i", shape);
  std::vector<Index> at(axes.begin(), axes.begin() + batch);
  for (int64_t k = 0; k < depth; ++k) {
    std::vector<Index> from(axes.begin(), axes.begin() + outer);
    from.emplace_back(k);
    at.push_back(wrapped_index(x[1].at(from), x[0].dim(static_cast<int>(batch + k))));
  }
  at.insert(at.end(), axes.begin() + outer, axes.end());
  return b.finish({b.map("y", axes, x[0].at(at))});
}

}  // namespace

void register_gather(OperatorTable& table) {
  table.add({.name = "Gather",
             .doc = "Slices of a tensor at given positions of one axis.",
             .inputs = "x, indices",
             .attributes = "axis: int = 0",
             .define = define_gather,
             .example = "Gather(x: f32[3, 4], indices: i64[2] = [2, -3]) {axis = 1}"});
  table.add({.name = "GatherElements",
             .since = 11,
             .doc = "Elements of a tensor, each at its own position of one axis.",
             .inputs = "x, indices",
             .attributes = "axis: int = 0",
             .define = define_gather_elements,
             .example = "GatherElements(x: f32[3, 2], indices: i64[2, 2] = [[0, 2], [-1, 1]])"});
  table.add({.name = "GatherND",
             .since = 11,
             .doc = "Slices of a tensor at given positions of several leading axes.",
             .inputs = "x, indices",
             .attributes = "batch_dims: int = 0",
             .define = define_gather_nd,
             .example = "GatherND(x: f32[2, 3, 4], indices: i64[2, 1] = [[1], [2]]) "
                        "{batch_dims = 1}"});
}

}  // namespace hone
