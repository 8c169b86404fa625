// An operator in a file of its own: inference, evaluation and documentation follow from it, with no
// other edit.
#include "ops/user_ops.h"

#include <cmath>

#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "expr/text.h"
#include "ops/document.h"
#include "ops/kernels.h"

namespace hone {
namespace {

constexpr std::string_view kFile = R"(
# Scaled swish.
op my.domain::Swish(x: T[i..]) -> (y) {
  attr beta: float = 1.0
  y: T[i..] = x[i..] / (1 + exp(-beta * x[i..]))
}
example my.domain::Swish(x: f32[2, 3]) {beta = 2}

op my.domain::RowDot(a: f32[n, k], b: f32[n, k]) -> (y) {
  y: f32[i < n] = sum[r < k] a[i, r] * b[i, r]
}

# Mean over the last axis, times a scale per row;
# the second output is the sum.
op RowMean(x: T[o.., k], scale: T[o..]) -> (y, s) {
  s: T[o..] = sum[r < k] x[o.., r]
  y: T[o..] = s[o..] / k * scale[o..]
}

op my::Window(x: T[b.., h]) -> (y) where pads[0] == pads[1] "pads" {
  attr pads: ints = [0, 0]
  attr size: int
  attr mode: string = "sum"
  attr weights: floats = [1, 0.5]
  y: T[b.., j < h + pads[0] + pads[1] - size + 1] =
    sum[r < size] x[b.., j + r - pads[0] | 0] * weights[1]
      * select(mode == "mean", 1 / T(at(size)), 1)
}
)";

OperandInfo operand(ElementType type, Shape shape) { return {true, {type, std::move(shape)}, {}}; }

struct Use {
  std::string domain, name;
  std::vector<OperandInfo> operands;
  Attributes attributes{};
};

Result<TensorExpr> meaning(const Use& use, std::string_view file = kFile) {
  OperatorTable table;
  const Result<int> added = add_operators(table, file, "my.ops");
  if (!added) return std::unexpected(added.error());
  const OperatorDef* def = table.find(use.domain, use.name);
  if (def == nullptr) return fail(ErrorKind::kUnknown, use.name, "not found");
  OpContext context(use.name, 1, use.operands, use.attributes, 1);
  return instantiate(*def, context);
}

std::string error_of(const Result<TensorExpr>& result) {
  return result ? "no error:\n" + to_text(*result) : result.error().to_string();
}

std::string load_error(std::string_view text) {
  const auto defs = parse_operators(text, "my.ops");
  return defs ? "no error" : defs.error().to_string();
}

const Dim kN = Dim::symbol("N");

TEST(UserOps, InferTypesOfAnyRank) {
  const auto inferred = [](ElementType type, Shape shape) {
    const auto expr = meaning({"my.domain", "Swish", {operand(type, std::move(shape))}});
    return expr ? expr->output_type(0).to_string() : expr.error().to_string();
  };
  EXPECT_EQ(inferred(ElementType::kF32, {2, 3}), "f32[2, 3]");
  EXPECT_EQ(inferred(ElementType::kF16, {kN}), "f16[N]");
  EXPECT_EQ(inferred(ElementType::kF64, {}), "f64[]");
}

TEST(UserOps, BecomeTensorExpressions) {
  const auto expr = meaning({"",
                             "RowMean",
                             {operand(ElementType::kF32, {kN, 7, 5}),
                              operand(ElementType::kF32, {kN, Dim::symbol("M")})}});
  ASSERT_TRUE(expr) << error_of(expr);
  EXPECT_EQ(to_text(*expr),
            "(x: f32[N, 7, 5], scale: f32[N, M]) -> (y, s) where 7 == M \"dimensions o..\" {\n"
            "  s: f32[o0 < N, o1 < 7] = sum[r < 5] x[o0, o1, r]\n"
            "  y: f32[o0 < N, o1 < 7] = s[o0, o1] / 5 * scale[o0, o1]\n"
            "}\n");
}

TEST(UserOps, EvaluateLikeAnyOther) {
  const Buffer x = of_doubles(ElementType::kF32, {2, 2}, {-1, 0, 1, 2});
  const auto expr =
      meaning({"my.domain", "Swish", {operand(ElementType::kF32, {2, 2})}, {{"beta", 2.0F}}});
  ASSERT_TRUE(expr) << error_of(expr);
  const auto y = evaluate(*expr, std::vector{x});
  ASSERT_TRUE(y) << y.error().to_string();
  for (int64_t i = 0; i < 4; ++i) {
    const double v = x.as_double(i);
    EXPECT_NEAR((*y)[0].as_double(i), v / (1 + std::exp(-2 * v)), 1e-6);
  }
}

TEST(UserOps, EvaluateReductionsAttributesAndReadsOutside) {
  const auto expr = meaning({"my",
                             "Window",
                             {operand(ElementType::kF32, {1, 4})},
                             {{"size", int64_t{3}},
                              {"mode", std::string("mean")},
                              {"pads", std::vector<int64_t>{1, 1}}}});
  ASSERT_TRUE(expr) << error_of(expr);
  const auto y = evaluate(*expr, std::vector{of_doubles(ElementType::kF32, {1, 4}, {1, 2, 3, 4})});
  ASSERT_TRUE(y) << y.error().to_string();
  ASSERT_EQ((*y)[0].dims(), (std::vector<int64_t>{1, 4}));
  const double want[] = {3, 6, 9, 7};
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR((*y)[0].as_double(i), want[i] / 6, 1e-6);
}

TEST(UserOps, KeepSymbolicAttributes) {
  const auto expr = meaning({"my",
                             "Window",
                             {operand(ElementType::kF32, {kN})},
                             {{"size", std::vector<Dim>{Dim::symbol("k")}}}});
  ASSERT_TRUE(expr) << error_of(expr);
  EXPECT_EQ(expr->output_type(0).to_string(), "f32[N - k + 1]");
}

TEST(UserOps, AreDocumented) {
  const auto defs = parse_operators(kFile, "my.ops");
  ASSERT_TRUE(defs) << defs.error().to_string();
  ASSERT_EQ(defs->size(), 4U);
  EXPECT_EQ(document((*defs)[0]),
            "my.domain::Swish(x) -> (y)\n"
            "  Scaled swish.\n"
            "  attributes: beta: float = 1\n"
            "  example: my.domain::Swish(x: f32[2, 3]) {beta = 2}\n"
            "    (x: f32[2, 3]) -> (y) {\n"
            "      y: f32[i0 < 2, i1 < 3] = x[i0, i1] / (1 + exp((-2) * x[i0, i1]))\n"
            "    }\n");
  EXPECT_EQ((*defs)[2].doc,
            "Mean over the last axis, times a scale per row; the second output is the sum.");
  EXPECT_EQ((*defs)[3].attributes,
            "pads: ints = [0, 0], size: int, mode: string = \"sum\", weights: floats = [1, 0.5]");
}

TEST(UserOps, MisuseIsAnErrorAtTheDefinition) {
  const OperandInfo f32_2 = operand(ElementType::kF32, {2, 3});
  EXPECT_EQ(error_of(meaning({"my.domain", "RowDot", {f32_2, operand(ElementType::kF32, {2, 4})}})),
            "my.ops:9:46: dimensions of b differ: 3 and 4");
  EXPECT_EQ(error_of(meaning({"my.domain", "RowDot", {f32_2, operand(ElementType::kI64, {2, 3})}})),
            "my.ops:9:36: b must have type f32, not i64");
  EXPECT_EQ(error_of(meaning({"my.domain", "RowDot", {f32_2, operand(ElementType::kF32, {2})}})),
            "my.ops:9:36: b must have 2 dimensions, not 1");
  EXPECT_EQ(error_of(meaning({"my.domain", "RowDot", {f32_2}})),
            "my.domain::RowDot: it takes 2 operands, not 1");
  EXPECT_EQ(error_of(meaning({"my.domain", "Swish", {operand(ElementType::kI64, {2})}})),
            "my.ops:5:29: exp does not take an operand of type i64");
  EXPECT_EQ(error_of(meaning({"my.domain", "Swish", {f32_2}, {{"gamma", int64_t{1}}}})),
            "my.domain::Swish: my.domain::Swish has no attribute gamma");
  EXPECT_EQ(error_of(meaning({"my", "Window", {f32_2}})), "my::Window: attribute size is missing");
  EXPECT_EQ(
      error_of(meaning(
          {"my", "Window", {f32_2}, {{"size", int64_t{2}}, {"pads", std::vector<int64_t>{0, 1}}}})),
      "my.ops:20:42: pads differ: 0 and 1");
  EXPECT_EQ(
      error_of(meaning(
          {"my", "Window", {f32_2}, {{"size", int64_t{2}}, {"pads", std::vector<int64_t>{0}}}})),
      "my.ops:20:53: pads has 1 elements, none at 1");
}

TEST(UserOps, BrokenFilesAreErrorsWithAPlace) {
  EXPECT_EQ(load_error("op A(x: f32[n]) -> (x) {}\nop A(x: f32[n]) -> (x) {}"),
            "my.ops:2:4: A is defined twice");
  EXPECT_EQ(load_error("oops"), "my.ops:1:1: expected 'op' or 'example', found oops");
  EXPECT_EQ(load_error("op A(x: f32[n]) -> (x) { attr k: tensor }"),
            "my.ops:1:31: an attribute is int, float, string, ints or floats, not tensor");
  EXPECT_EQ(load_error("op A(x: f32[n]) -> (x) { attr k: int = 0.5 }"),
            "my.ops:1:40: expected an integer");
  EXPECT_EQ(load_error("example A(x: f32[2])"), "my.ops:1:9: the file defines no operator A");
  EXPECT_EQ(load_error("op A(x: f32[n]) -> (y) { y: f32[i < n] = z[i] }\nexample A(x: f32[2])"),
            "my.ops:2:9: the example of A fails: my.ops:1:42: there is no tensor or table z here");
  EXPECT_EQ(load_error("op A(x: T[a.., b..]) -> (x) {}\nexample A(x: f32[2, 3])"),
            "my.ops:2:9: the example of A fails: "
            "my.ops:1:16: the ranks of a.. and b.. cannot both follow from x");
  OperatorTable table;
  ASSERT_TRUE(add_operators(table, kFile, "my.ops"));
  const auto again = add_operators(table, "op RowMean(x: f32[n]) -> (x) {}", "b.ops");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().to_string(),
            "b.ops: RowMean is already defined (give it a domain of your own)");
}

}  // namespace
}  // namespace hone
