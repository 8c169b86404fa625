#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "expr/text.h"

namespace hone {
namespace {

using Dims = std::vector<Dim>;

std::optional<Dims> shape_of(const std::string& text, std::vector<std::optional<Dims>> operands) {
  const Result<TensorExpr> expr = parse_expr(text);
  EXPECT_TRUE(expr) << expr.error().to_string();
  return evaluate_dims(*expr, 0, operands);
}

const Dim n = Dim::symbol("N");
const Dim h = Dim::symbol("H");

TEST(EvaluateDims, ArithmeticOnShapes) {
  EXPECT_EQ(shape_of("(a: i64[3]) -> (y) { y: i64[i < 3] = a[i] * 2 + 1 }", {Dims{n, h, 4}}),
            (Dims{n * 2 + 1, h * 2 + 1, 9}));
  EXPECT_EQ(shape_of("(a: i64[3]) -> (y) { y: i64[] = product[k < 3] a[k] }", {Dims{n, h, 4}}),
            (Dims{n * h * 4}));
  EXPECT_EQ(shape_of("(a: i64[1]) -> (y) { y: i64[i < 1] = a[i] / 2 }", {Dims{n}}),
            (Dims{floor_div(n, 2)}));
  EXPECT_EQ(shape_of("(a: i64[2], b: i64[1]) -> (y) { y: i64[i < 3] ="
                     " select(at(i) < 2, a[i], b[i - 2]) }",
                     {Dims{n, h}, Dims{7}}),
            (Dims{n, h, 7}));
  EXPECT_EQ(
      shape_of("(a: i64[3], i: i64[]) -> (y) { y: i32[] = i32(a[i[]]) }", {Dims{n, h, 4}, Dims{1}}),
      (Dims{h}));
}

TEST(EvaluateDims, DecidesComparisonsOrGivesUp) {
  const std::string text = "(a: i64[1]) -> (y) { y: i64[i < 1] = select(a[i] < 0, -1, a[i]) }";
  EXPECT_EQ(shape_of(text, {Dims{n + 1}}), (Dims{n + 1}));
  EXPECT_EQ(shape_of(text, {Dims{-5}}), (Dims{-1}));
  EXPECT_EQ(shape_of(text, {Dims{n - 1}}), std::nullopt);
  EXPECT_EQ(shape_of(text, {std::nullopt}), std::nullopt);
  EXPECT_EQ(shape_of("(a: i64[1]) -> (y) { y: i64[i < 1] = a[i] / 2 }", {Dims{n - 1}}),
            std::nullopt);
}

TEST(EvaluateDims, ConstantsDivideTowardZero) {
  const std::string text = "(a: i64[2], b: i64[2]) -> (y) { y: i64[i < 2] = a[i] / b[i] }";
  EXPECT_EQ(shape_of(text, {Dims{-7, 7}, Dims{2, -1}}), (Dims{-3, -7}));
}

}  // namespace
}  // namespace hone
