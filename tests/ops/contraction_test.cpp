// Contractions, windows, recurrences and resizing where ONNX's own cases do not reach.
#include "expr/text.h"
#include "run_operator.h"

namespace hone {
namespace {

using Ints = std::vector<int64_t>;

// The expression of an operator on operands of the given shapes, whose contents are not known.
Result<TensorExpr> expression(const std::string& op, const std::vector<Shape>& shapes,
                              const Attributes& attributes) {
  static const OperatorTable table = OperatorTable::standard();
  std::vector<OperandInfo> operands;
  for (const Shape& shape : shapes) operands.push_back({true, {ElementType::kF32, shape}, {}});
  OpContext context(op, 28, operands, attributes, 1);
  return instantiate(*table.find("", op), context);
}

Dim symbol(const std::string& name) { return Dim::symbol(name); }

TEST(Conv, KeepsSymbolsInShapesAndAttributes) {
  const auto expr = expression(
      "Conv", {{symbol("N"), 3, symbol("H")}, {8, 3, symbol("R")}},
      {{"strides", std::vector<Dim>{symbol("s")}}, {"pads", std::vector<Dim>{symbol("p"), 0}}});
  ASSERT_TRUE(expr) << expr.error().to_string();
  const std::string text = to_text(*expr);
  EXPECT_NE(text.find("x[n, c, s*o0 + r0 - p | 0] * w[k, c, r0]"), std::string::npos) << text;
}

TEST(Conv, RefusesChannelsThatDoNotFitTheGroups) {
  const auto expr = expression("Conv", {{1, 4, 5}, {6, 3, 3}}, {{"group", int64_t{2}}});
  ASSERT_FALSE(expr);
  EXPECT_EQ(expr.error().kind, ErrorKind::kInvalid);
}

TEST(ConvTranspose, IsOneReductionWithAGuard) {
  const auto expr = expression("ConvTranspose", {{1, 2, 3}, {2, 4, 3}}, {{"strides", Ints{2}}});
  ASSERT_TRUE(expr);
  EXPECT_EQ(expr->stages.size(), 1U);
}

TEST(ConvTranspose, OfSamePaddingFillsWithZerosWhatNoWindowReaches) {
  const auto y =
      run({.op = "ConvTranspose",
           .inputs = {f32({1, 1, 2}, {1, 2}), f32({1, 1, 1}, {10})},
           .attributes = {{"strides", Ints{3}}, {"auto_pad", std::string("SAME_UPPER")}}});
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[0], {1, 1, 6}, {10, 0, 0, 20, 0, 0});
}

TEST(MaxPool, NeverPointsIntoThePads) {
  // All elements equal the value that pads stand for; the first one inside is meant.
  const Buffer x = of_doubles(ElementType::kU8, {1, 1, 3}, {0, 0, 0});
  const auto y = run({.op = "MaxPool",
                      .inputs = {x},
                      .attributes = {{"kernel_shape", Ints{3}}, {"pads", Ints{2, 2}}},
                      .outputs = 2});
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[1], {1, 1, 5}, {0, 0, 0, 1, 2});
}

TEST(AveragePool, CountsPadsButNotWhatCeilModeAdds) {
  const auto y = run({.op = "AveragePool",
                      .inputs = {f32({1, 1, 4}, {1, 2, 3, 4})},
                      .attributes = {{"kernel_shape", Ints{3}},
                                     {"strides", Ints{2}},
                                     {"pads", Ints{1, 0}},
                                     {"ceil_mode", int64_t{1}},
                                     {"count_include_pad", int64_t{1}}}});
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[0], {1, 1, 2}, {1, 3});
}

TEST(Einsum, ReadsDiagonalsBroadcastsAndImplicitOutputs) {
  const Buffer square = f32({2, 2}, {1, 2, 3, 4});
  const auto trace =
      run({.op = "Einsum", .inputs = {square}, .attributes = {{"equation", std::string("ii")}}});
  ASSERT_TRUE(trace);
  expect_values((*trace)[0], {}, {5});
  const auto product = run({.op = "Einsum",
                            .inputs = {square, f32({1, 2, 1}, {1, 10})},
                            .attributes = {{"equation", std::string("...ij, ...jk")}}});
  ASSERT_TRUE(product) << product.error().to_string();
  expect_values((*product)[0], {1, 2, 1}, {21, 43});
}

TEST(Rnn, ReversesEachSequenceWithinItsLength) {
  // h' = x + h: sums of the rest of each sequence; nothing after its end.
  const Buffer lengths = of_doubles(ElementType::kI32, {2}, {2, 3});
  const auto y = run({.op = "RNN",
                      .inputs = {f32({3, 2, 1}, {1, 10, 2, 20, 4, 40}),
                                 f32({1, 1, 1}, {1}),
                                 f32({1, 1, 1}, {1}),
                                 {},
                                 lengths},
                      .attributes = {{"direction", std::string("reverse")},
                                     {"activations", std::vector<std::string>{"Affine"}}},
                      .outputs = 2});
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[0], {3, 1, 2, 1}, {3, 70, 2, 60, 0, 40});
  expect_values((*y)[1], {1, 2, 1}, {3, 70});
}

TEST(Resize, IsComputedForSymbolicExtents) {
  static const OperatorTable table = OperatorTable::standard();
  const Buffer scales = f32({3}, {1, 1, 2.5});
  const std::vector<OperandInfo> operands = {
      {true, {ElementType::kF32, Shape{1, 1, symbol("W")}}, {}},
      {},
      {true, scales.tensor_type(), {scales, std::nullopt}}};
  const Attributes attributes = {{"mode", std::string("linear")}};
  OpContext context("Resize", 19, operands, attributes, 1);
  const auto expr = instantiate(*table.find("", "Resize"), context);
  ASSERT_TRUE(expr) << expr.error().to_string();
  EXPECT_EQ(expr->output_type(0).shape->back().to_string(), "2*W + W/2");
  const std::vector<Buffer> inputs = {f32({1, 1, 2}, {0, 1}), scales};
  const auto y = evaluate(*expr, inputs);
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[0], {1, 1, 5}, {0, 0.1, 0.5, 0.9, 1});
}

TEST(MatMulInteger, TakesAZeroPointForEachColumn) {
  const Buffer a = of_doubles(ElementType::kU8, {1, 2}, {3, 4});
  const Buffer b = of_doubles(ElementType::kI8, {2, 2}, {1, 2, 3, 4});
  const Buffer zeros = of_doubles(ElementType::kI8, {2}, {1, 2});
  const auto y = run({.op = "MatMulInteger", .inputs = {a, b, {}, zeros}});
  ASSERT_TRUE(y) << y.error().to_string();
  expect_values((*y)[0], {1, 2}, {8, 8});
}

}  // namespace
}  // namespace hone
