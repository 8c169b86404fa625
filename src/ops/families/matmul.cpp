// Products of matrices: MatMul, MatMulInteger, QLinearMatMul.
#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

// The axes of a product and where it reads its operands. Missing leading axes and extents of 1
// broadcast; a vector on the left is a row, on the right a column, and leaves no axis behind.
struct Product {
  Axes output;                    // batch axes, then row, then column
  AxisId inner;
  Axes left_axes, right_axes;     // batch + row + inner, batch + inner + column
  std::vector<Index> left, right;
};

Shape leading(const Shape& shape) {
  return shape.size() <= 2 ? Shape{} : Shape(shape.begin(), shape.end() - 2);
}

Product product_of(Builder& b, const Shape& left, const Shape& right) {
  if (left.empty() || right.empty()) throw_invalid("a scalar has no matrix product");
  const Shape left_batch = leading(left);
  const Shape right_batch = leading(right);
  const Shape batch = broadcast({&left_batch, &right_batch});
  const Dim inner_right = right[right.size() == 1 ? 0 : right.size() - 2];
  b.require_equal(left.back(), inner_right, "inner dimensions of the product");

  Product p;
  p.output = b.axes("b", batch);
  p.left = broadcast_indices(left_batch, p.output, batch);
  p.right = broadcast_indices(right_batch, p.output, batch);
  p.left_axes = p.right_axes = p.output;
  p.inner = b.axis("k", left.back());
  if (left.size() > 1) {
    const AxisId row = b.axis("i", left[left.size() - 2]);
    p.output.push_back(row);
    p.left.emplace_back(row);
    p.left_axes.push_back(row);
  }
  p.left.emplace_back(p.inner);
  p.left_axes.push_back(p.inner);
  p.right.emplace_back(p.inner);
  p.right_axes.push_back(p.inner);
  if (right.size() > 1) {
    const AxisId column = b.axis("j", right.back());
    p.output.push_back(column);
    p.right.emplace_back(column);
    p.right_axes.push_back(column);
  }
  return p;
}

// y[b.., i, j] = sum_k a[b.., i, k] * b[b.., k, j]
TensorExpr define_matmul(OpContext& c) {
  Builder b;
  const auto x = c.declare(b, {"a", "b"});
  require_class(c, 0, ElementClass::kNumber);
  require_same_types(c);
  const Product p = product_of(b, c.shape(0), c.shape(1));
  return b.finish({b.reduce("y", p.output, Combiner::kSum, {p.inner},
                            x[0].at(p.left) * x[1].at(p.right))});
}

// Quantization parameters of one operand: one for all, one per row (column), or as many axes as
// the operand has. `axes` are the operand's; `line` is the row or column.
Scalar parameter_at(const Builder& b, const Operand& parameter, const Axes& axes, AxisId line) {
  const Axes over = parameter.rank() <= 1 ? Axes{line} : axes;
  if (parameter.rank() > static_cast<int>(over.size()))
    throw_invalid("a quantization parameter has more axes than its operand");
  Shape extents;
  for (const AxisId axis : over) extents.push_back(b.extent(axis));
  return parameter.at(broadcast_indices(parameter.shape(), over, extents));
}

bool is_single(const Operand& parameter) {
  return parameter.rank() == 0 || element_count(parameter.shape()).is(1);
}

AxisId row_of(const Product& p) { return p.left_axes[p.left_axes.size() - (p.left_axes.size() > 1 ? 2 : 1)]; }
AxisId column_of(const Product& p) { return p.right_axes.back(); }

// sum_k (a - a_zero) * (b - b_zero) in 32-bit integers
Operand integer_product(Builder& b, const Product& p, const Operand& left, const Operand& right,
                        const Operand& left_zero, const Operand& right_zero) {
  const auto wide = [](const Scalar& s) { return Scalar::cast(ElementType::kI32, s); };
  Scalar l = wide(left.at(p.left));
  Scalar r = wide(right.at(p.right));
  if (left_zero.valid()) l = l - wide(parameter_at(b, left_zero, p.left_axes, row_of(p)));
  if (right_zero.valid()) r = r - wide(parameter_at(b, right_zero, p.right_axes, column_of(p)));
  return b.reduce("sum", p.output, Combiner::kSum, {p.inner}, l * r);
}

void require_bytes(const OpContext& c, size_t i, std::string_view what) {
  require_type(c, i, what, {ElementType::kU8, ElementType::kI8});
}

TensorExpr define_matmul_integer(OpContext& c) {
  require_bytes(c, 0, "a");
  require_bytes(c, 1, "b");
  Builder b;
  auto x = c.declare(b, {"a", "b", "a_zero", "b_zero"});
  x.resize(4);
  const Product p = product_of(b, c.shape(0), c.shape(1));
  return b.finish({integer_product(b, p, x[0], x[1], x[2], x[3])});
}

// y = clip(round(sum_k (a - a_zero) (b - b_zero) * (a_scale b_scale / y_scale) + y_zero))
TensorExpr define_qlinear_matmul(OpContext& c) {
  if (c.input_count() != 8) throw_invalid("QLinearMatMul takes 8 inputs");
  require_bytes(c, 0, "a");
  require_bytes(c, 3, "b");
  Builder b;
  const auto x = c.declare(
      b, {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
  for (const size_t i : {1, 4, 6, 7})
    if (!x[i].valid()) throw_invalid("QLinearMatMul needs all its scales and zero points");
  const Product p = product_of(b, c.shape(0), c.shape(3));
  const Operand sum = integer_product(b, p, x[0], x[3], x[2], x[5]);

  // Two stages, so that 16-bit scales are rounded after each step as the standard has it.
  const bool single = is_single(x[1]) && is_single(x[4]) && is_single(x[6]);
  const Axes axes = single ? Axes{} : p.output;
  const auto parameter = [&](const Operand& o, const Axes& of, AxisId line) {
    if (is_single(o)) return o.at(std::vector<Index>(static_cast<size_t>(o.rank()), Index(0)));
    return parameter_at(b, o, of, line);
  };
  const AxisId row = row_of(p);
  const AxisId column = column_of(p);
  const Operand scales =
      b.map("scales", axes,
            parameter(x[1], p.left_axes, row) * parameter(x[4], p.right_axes, column));
  const Operand multiplier =
      b.map("multiplier", axes, scales.at(axes) / parameter(x[6], p.left_axes, row));
  return b.finish({b.map("y", p.output,
                         requantize(sum.at(p.output), multiplier.at(axes),
                                    parameter(x[7], p.left_axes, row)))});
}

}  // namespace

void register_matmul(OperatorTable& table) {
  table.add({.name = "MatMul",
             .since = 1,
             .doc = "Matrix product over the last two axes, broadcasting the leading ones.",
             .inputs = "a, b",
             .define = define_matmul,
             .example = "MatMul(a: f32[2, 3, 4], b: f32[4, 5])"});
  table.add({.name = "MatMulInteger",
             .since = 10,
             .doc = "Matrix product of 8-bit integers with zero points, in 32-bit integers.",
             .inputs = "a, b, a_zero?, b_zero?",
             .define = define_matmul_integer,
             .example = "MatMulInteger(a: u8[2, 3], b: i8[3, 4], a_zero: u8[], b_zero: i8[4])"});
  table.add({.name = "QLinearMatMul",
             .since = 10,
             .doc = "Matrix product of quantized matrices, quantized again.",
             .inputs = "a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero",
             .define = define_qlinear_matmul,
             .example = "QLinearMatMul(a: u8[2, 3], a_scale: f32[], a_zero: u8[], b: u8[3, 4], "
                        "b_scale: f32[], b_zero: u8[], y_scale: f32[], y_zero: u8[])"});
}

}  // namespace hone
