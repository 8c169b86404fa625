// Products of matrices: MatMul, MatMulInteger, QLinearMatMul.
#include <optional>

#include "ops/arithmetic.h"
#include "ops/table.h"

namespace hone {
namespace {

// The axes of a product and where it reads its operands. Missing leading axes and extents of 1
// broadcast; a vector on the left is a row, on the right a column, and leaves no axis behind.
struct Product {
  Axes batch;
  std::optional<AxisId> row, column;
  AxisId inner;
  std::vector<Index> left, right;
  Axes output;  // batch axes, then row, then column
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
  p.batch = p.output = b.axes("b", batch);
  p.left = broadcast_indices(left_batch, p.batch, batch);
  p.right = broadcast_indices(right_batch, p.batch, batch);
  p.inner = b.axis("k", left.back());
  if (left.size() > 1) {
    p.row = b.axis("i", left[left.size() - 2]);
    p.output.push_back(*p.row);
    p.left.emplace_back(*p.row);
  }
  p.left.emplace_back(p.inner);
  p.right.emplace_back(p.inner);
  if (right.size() > 1) {
    p.column = b.axis("j", right.back());
    p.output.push_back(*p.column);
    p.right.emplace_back(*p.column);
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
  return b.finish(
      {b.reduce("y", p.output, Combiner::kSum, {p.inner}, x[0].at(p.left) * x[1].at(p.right))});
}

enum class Side : uint8_t { kLeft, kRight };

// A quantization parameter of one operand: one number for all, one for each row (column), or as
// many axes as the operand has, with extent 1 along the inner one.
Scalar parameter_at(Builder& b, const Operand& parameter, const Product& p, Side side) {
  const std::optional<AxisId> line = side == Side::kLeft ? p.row : p.column;
  const Shape shape = parameter.shape();
  if (element_count(shape).is(1) || !line) {
    b.require_equal(element_count(shape), Dim(1), "numbers of a quantization parameter and 1");
    return parameter.at(std::vector<Index>(shape.size(), Index(0)));
  }
  Axes axes = shape.size() <= 1 ? Axes{} : p.batch;
  axes.push_back(*line);
  Shape rest = shape;
  const size_t inner = side == Side::kLeft ? shape.size() - 1 : shape.size() - 2;
  if (shape.size() > 1) {
    b.require_equal(shape[inner], Dim(1), "the inner extent of a quantization parameter and 1");
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(inner));
  }
  if (rest.size() > axes.size())
    throw_invalid("a quantization parameter has more axes than its operand");
  Shape extents;
  for (const AxisId axis : axes) extents.push_back(b.extent(axis));
  std::vector<Index> at = broadcast_indices(rest, axes, extents);
  if (shape.size() > 1) at.insert(at.begin() + static_cast<std::ptrdiff_t>(inner), Index(0));
  return parameter.at(at);
}

// sum_k (a - a_zero) * (b - b_zero) in 32-bit integers
Operand integer_product(Builder& b, const Product& p, const Operand& left, const Operand& right,
                        const Operand& left_zero, const Operand& right_zero) {
  const auto wide = [](const Scalar& s) { return Scalar::cast(ElementType::kI32, s); };
  Scalar l = wide(left.at(p.left));
  Scalar r = wide(right.at(p.right));
  if (left_zero.valid()) l = l - wide(parameter_at(b, left_zero, p, Side::kLeft));
  if (right_zero.valid()) r = r - wide(parameter_at(b, right_zero, p, Side::kRight));
  return b.reduce("total", p.output, Combiner::kSum, {p.inner}, l * r);
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
  const auto x =
      c.declare(b, {"a", "a_scale", "a_zero", "b", "b_scale", "b_zero", "y_scale", "y_zero"});
  for (const size_t i : {1, 4, 6, 7})
    if (!x[i].valid()) throw_invalid("QLinearMatMul needs all its scales and zero points");
  const Product p = product_of(b, c.shape(0), c.shape(3));
  const Operand sum = integer_product(b, p, x[0], x[3], x[2], x[5]);

  // Two stages, so that 16-bit scales are rounded after each step as the standard has it.
  const auto is_single = [](const Operand& o) { return element_count(o.shape()).is(1); };
  const bool single = is_single(x[1]) && is_single(x[4]) && is_single(x[6]);
  const Axes axes = single ? Axes{} : p.output;
  const Operand scales =
      b.map("scales", axes,
            parameter_at(b, x[1], p, Side::kLeft) * parameter_at(b, x[4], p, Side::kRight));
  const Operand multiplier =
      b.map("multiplier", axes, scales.at(axes) / parameter_at(b, x[6], p, Side::kLeft));
  return b.finish({b.map(
      "y", p.output,
      requantize(sum.at(p.output), multiplier.at(axes), parameter_at(b, x[7], p, Side::kLeft)))});
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
