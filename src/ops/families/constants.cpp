// Tensors whose elements follow from shapes and positions alone.
#include <algorithm>
#include <cmath>

#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// Larger constants are data that the graph holds, not part of a definition.
constexpr int64_t kLargestTable = 4096;

Literal literal_at(const Buffer& value, int64_t i) {
  if (is_float(value.type())) return Literal::of_double(value.as_double(i));
  if (value.type() == ElementType::kU64)
    return Literal::of_unsigned(static_cast<uint64_t>(value.as_int(i)));
  if (is_integer(value.type()) || value.type() == ElementType::kBool) return {value.as_int(i)};
  throw_unsupported("a constant of type " + std::string(name_of(value.type())) +
                    " has no expression form");
}

Buffer constant_value(const OpContext& c) {
  if (const Buffer* tensor = c.tensor_attribute("value")) return *tensor;
  if (c.has_attribute("value_int")) return Buffer::scalar_int(c.int_attribute("value_int", 0));
  if (c.has_attribute("value_ints")) return Buffer::of_ints(c.ints_attribute("value_ints", {}));
  if (c.has_attribute("value_float")) {
    const float value = c.float_attribute("value_float", 0);
    return Buffer::of<float>(ElementType::kF32, {}, {{value}});
  }
  if (c.has_attribute("value_floats")) {
    const std::vector<float> values = c.floats_attribute("value_floats", {});
    return Buffer::of<float>(ElementType::kF32, {static_cast<int64_t>(values.size())}, values);
  }
  if (c.has_attribute("value_string") || c.has_attribute("value_strings"))
    throw_unsupported("a constant of strings has no expression form");
  if (c.has_attribute("sparse_value"))
    throw_unsupported("a sparse constant has no expression form");
  throw_invalid("no value is given", "set one of value, value_float, value_int, ...");
}

// y[i..] = table[i..]
TensorExpr define_constant(OpContext& c) {
  const Buffer value = constant_value(c);
  if (value.count() > kLargestTable)
    throw_unsupported("a constant of " + std::to_string(value.count()) +
                      " elements is data, not a definition");
  std::vector<Literal> entries;
  for (int64_t i = 0; i < value.count(); ++i) entries.push_back(literal_at(value, i));
  Builder b;
  const Shape shape = to_shape(value.dims());
  const Axes axes = b.axes("i", shape);
  const bool uniform =
      std::adjacent_find(entries.begin(), entries.end(), std::not_equal_to<>()) == entries.end();
  if (uniform) {
    const Literal fill = entries.empty() ? Literal(0) : entries[0];
    return b.finish({b.map("y", axes, Scalar::literal(value.type(), fill))});
  }
  const TableId table = b.literal_table("value", std::move(entries));
  return b.finish(
      {b.map("y", axes, Scalar::table(value.type(), table, flat_index(to_indices(axes), shape)))});
}

TensorExpr define_constant_of_shape(OpContext& c) {
  ElementType type = ElementType::kF32;
  Literal fill = 0;
  if (const Buffer* value = c.tensor_attribute("value")) {
    if (value->count() != 1) throw_invalid("value must have one element");
    type = value->type();
    fill = literal_at(*value, 0);
  }
  const Shape shape = c.dims_value(0);
  for (const Dim& d : shape)
    if (d.is_const() && d.value() < 0) throw_invalid("the shape " + to_string(shape));
  Builder b;
  c.declare(b, {"shape"});
  return b.finish({b.map("y", b.axes("i", shape), Scalar::literal(type, fill))});
}

std::vector<TensorType> infer_constant_of_shape(OpContext& c) {
  const Buffer* value = c.tensor_attribute("value");
  return type_of_rank(value == nullptr ? ElementType::kF32 : value->type(), vector_length(c, 0));
}

// y[i] = D_i for the dimensions [start, end) of x
TensorExpr define_shape(OpContext& c) {
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const auto bound = [&](const char* name, int64_t otherwise) {
    const int64_t value = c.int_attribute(name, otherwise);
    return std::clamp<int64_t>(value < 0 ? value + x.rank() : value, 0, x.rank());
  };
  const int64_t start = bound("start", 0);
  const int64_t end = std::max(start, bound("end", x.rank()));
  const AxisId i = b.axis("i", end - start);
  Scalar body = Scalar::literal(ElementType::kI64, 0);
  for (int64_t k = end - 1; k >= start; --k) {
    const Scalar extent = Scalar::index(x.dim(static_cast<int>(k)));
    body = k == end - 1 ? extent : select(equal(Index(i), Index(k - start)), extent, body);
  }
  return b.finish({b.map("y", {i}, body)});
}

TensorExpr define_size(OpContext& c) {
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  return b.finish({b.map("y", {}, Scalar::index(element_count(x.shape())))});
}

// Number of steps from start to below limit: max(ceil((limit - start) / delta), 0)
Dim integer_steps(const Dim& start, const Dim& limit, const Dim& delta) {
  if (!delta.is_const()) throw_unknown("the sign of delta is not known before a run");
  if (delta.is(0)) throw_invalid("delta is 0");
  const Dim count =
      delta.value() > 0 ? ceil_div(limit - start, delta) : ceil_div(start - limit, Dim(0) - delta);
  return max(count, Dim(0));
}

int64_t float_steps(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || std::isnan(count)) throw_invalid("the range has no length");
  if (count > 0x1p40) throw_invalid("the range is too long");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

// y[i] = start + i * delta
TensorExpr define_range(OpContext& c) {
  const ElementType type = c.type(0);
  if (c.type(1) != type || c.type(2) != type)
    throw_invalid("start, limit and delta differ in type");
  Builder b;
  const auto x = c.declare(b, {"start", "limit", "delta"});
  if (is_integer(type)) {
    const auto number = [&](size_t i) {
      const std::vector<Dim> value = c.dims_value(i);
      if (value.size() != 1) throw_invalid("a range is given by scalars");
      return value[0];
    };
    const Dim start = number(0);
    const Dim delta = number(2);
    const AxisId i = b.axis("i", integer_steps(start, number(1), delta));
    const Scalar value = Scalar::index(Index(start) + Index(i) * delta);
    return b.finish({b.map("y", {i}, Scalar::cast(type, value))});
  }
  if (!is_float(type)) throw_invalid("a range of " + std::string(name_of(type)));
  const auto number = [&](size_t i) {
    if (c.constant(i).count() != 1) throw_invalid("a range is given by scalars");
    return c.constant(i).as_double(0);
  };
  const AxisId i = b.axis("i", float_steps(number(0), number(1), number(2)));
  const Scalar step = Scalar::cast(type, Scalar::index(i));
  return b.finish({b.map("y", {i}, single_element(x[0]) + step * single_element(x[2]))});
}

// y[i, j] = 1 where j - i = k, else 0
TensorExpr define_eye_like(OpContext& c) {
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  if (x.rank() != 1 && x.rank() != 2) throw_invalid("the input must be a matrix");
  const ElementType type = c.type_attribute("dtype", x.type());
  const AxisId i = b.axis("i", x.dim(0));
  const AxisId j = b.axis("j", x.dim(x.rank() - 1));
  const Scalar diagonal = equal(Index(j) - Index(i), Index(c.int_attribute("k", 0)));
  return b.finish({b.map("y", {i, j}, select(diagonal, Scalar::literal(type, 1), Literal(0)))});
}

// y[o.., d, p..] = select(d = indices[o.., p..], on, off); negative indices count from the end
TensorExpr define_one_hot(OpContext& c) {
  require_class(c, 2, ElementClass::kComputable);
  Dim depth;
  if (is_float(c.type(1))) {
    if (c.constant(1).count() != 1) throw_invalid("depth must be a scalar");
    depth = static_cast<int64_t>(std::clamp(c.constant(1).as_double(0), -1.0, 0x1p40));
  } else {
    const std::vector<Dim> value = c.dims_value(1);
    if (value.size() != 1) throw_invalid("depth must be a scalar");
    depth = value[0];
  }
  if (depth.is_const() && depth.value() < 0) throw_invalid("depth is negative");
  Builder b;
  const auto x = c.declare(b, {"indices", "depth", "values"});
  if (x[2].rank() != 1) throw_invalid("values must be [off, on]");
  b.require_equal(x[2].dim(0), 2, "values [off, on]");
  const int rank = x[0].rank();
  const int axis = c.axis(c.int_attribute("axis", -1), rank + 1);
  Shape shape = x[0].shape();
  shape.insert(shape.begin() + axis, depth);
  const Axes axes = b.axes("i", shape);
  Axes at = axes;
  at.erase(at.begin() + axis);
  const Scalar position =
      Scalar::index(wrapped_index(Scalar::cast(ElementType::kI64, x[0].at(at)), depth));
  const Scalar hit = equal(position, Scalar::index(axes[static_cast<size_t>(axis)]));
  return b.finish({b.map("y", axes, select(hit, x[2](1), x[2](0)))});
}

std::vector<TensorType> infer_one_hot(OpContext& c) {
  return type_of_rank(c.type(2), c.rank(0) + 1);
}

// y[.., i, j] = x[.., i, j] where j - i >= k (upper) or j - i <= k (lower), else 0
TensorExpr define_trilu(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "k"});
  if (x[0].rank() < 2) throw_invalid("the input must have two dimensions or more");
  Index k = 0;
  if (c.has(1)) {
    const Scalar read = single_element(x[1]);
    k = c.is_known(1) && c.dims_value(1).size() == 1
            ? Index(c.dims_value(1)[0])
            : Index::value(Scalar::cast(ElementType::kI64, read));
  }
  const Axes axes = b.axes("i", x[0].shape());
  const Index offset = Index(axes[axes.size() - 1]) - Index(axes[axes.size() - 2]);
  const Scalar kept =
      c.int_attribute("upper", 1) != 0 ? less_equal(k, offset) : less_equal(offset, k);
  return b.finish({b.map("y", axes, select(kept, x[0].at(axes), Literal(0)))});
}

}  // namespace

void register_constants(OperatorTable& table) {
  table.add({.name = "Constant",
             .doc = "A tensor given by an attribute.",
             .attributes = "value: tensor, value_float: float, value_floats: floats, "
                           "value_int: int, value_ints: ints, value_string: string, "
                           "value_strings: strings, sparse_value: sparse_tensor",
             .define = define_constant,
             .example = "Constant() {value_floats = [1.5, -2.0, 0.25]}"});
  table.add({.name = "ConstantOfShape",
             .since = 9,
             .doc = "A tensor of the given shape with one value everywhere.",
             .inputs = "shape",
             .attributes = "value: tensor",
             .define = define_constant_of_shape,
             .infer = infer_constant_of_shape,
             .example = "ConstantOfShape(shape: i64[2] = [2, 3])"});
  table.add({.name = "Shape",
             .doc = "The dimensions of a tensor, or those from start to before end.",
             .inputs = "x",
             .attributes = "start: int = 0, end: int",
             .define = define_shape,
             .example = "Shape(x: f32[2, 3, 4]) {start = 1}"});
  table.add({.name = "Size",
             .doc = "The number of elements of a tensor.",
             .inputs = "x",
             .define = define_size,
             .example = "Size(x: f32[2, 3])"});
  table.add({.name = "Range",
             .since = 11,
             .doc = "Numbers from start to before limit, delta apart.",
             .inputs = "start, limit, delta",
             .attributes = "stash_type: int = 1",
             .define = define_range,
             .infer = [](OpContext& c) { return type_of_rank(c.type(0), 1); },
             .example = "Range(start: i64[] = 1, limit: i64[] = 10, delta: i64[] = 3)"});
  table.add({.name = "EyeLike",
             .since = 9,
             .doc = "Ones on a diagonal, zeros elsewhere, in the shape of the input.",
             .inputs = "x",
             .attributes = "dtype: int, k: int = 0",
             .define = define_eye_like,
             .example = "EyeLike(x: f32[3, 4]) {k = 1}"});
  table.add({.name = "OneHot",
             .since = 9,
             .doc = "On-values at the given indices along a new axis, off-values elsewhere.",
             .inputs = "indices, depth, values",
             .attributes = "axis: int = -1",
             .define = define_one_hot,
             .infer = infer_one_hot,
             .example = "OneHot(indices: i64[2], depth: i64[] = 4, values: f32[2]) {axis = 0}"});
  table.add({.name = "Trilu",
             .since = 14,
             .doc = "The upper or lower triangle of matrices, zeros elsewhere.",
             .inputs = "x, k?",
             .attributes = "upper: int = 1",
             .define = define_trilu,
             .example = "Trilu(x: f32[2, 3, 4], k: i64[] = 1) {upper = 0}"});
}

}  // namespace hone
