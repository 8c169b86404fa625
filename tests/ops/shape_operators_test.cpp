// Operators that move elements keep symbolic shapes symbolic, and accesses simple.
#include <gtest/gtest.h>

#include "expr/text.h"
#include "ops/example.h"

namespace hone {
namespace {

// The meaning of a use such as "Transpose(x: f32[N, 3]) {perm = [1, 0]}".
Result<TensorExpr> meaning(const std::string& use, int opset = kNewestOpset) {
  static const OperatorTable table = OperatorTable::standard();
  const OperatorDef* found = table.find("", use.substr(0, use.find('(')));
  if (found == nullptr) return fail(ErrorKind::kInvalid, use, "no such operator");
  OperatorDef def = *found;
  def.example = use;
  const Result<Example> example = parse_example(def);
  if (!example) return std::unexpected(example.error());
  OpContext context = context_of(def, *example, opset);
  return instantiate(def, context);
}

// The one statement of the expression, without its indentation.
std::string body(const std::string& use, int opset = kNewestOpset) {
  const Result<TensorExpr> expr = meaning(use, opset);
  if (!expr) return expr.error().to_string();
  const std::string text = to_text(*expr);
  const size_t begin = text.find("  y: ") + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string shape(const std::string& use, int opset = kNewestOpset) {
  const Result<TensorExpr> expr = meaning(use, opset);
  return expr ? to_string(*expr->output_type(0).shape) : expr.error().to_string();
}

ErrorKind failure(const std::string& use, int opset = kNewestOpset) {
  const Result<TensorExpr> expr = meaning(use, opset);
  EXPECT_FALSE(expr) << use;
  return expr ? ErrorKind::kSystem : expr.error().kind;
}

TEST(Reshape, SplitsIndicesOnlyWhereDimensionsChange) {
  EXPECT_EQ(body("Reshape(x: f32[N, S, 768], shape: i64[4] = [0, 0, 12, 64])"),
            "y: f32[i0 < N, i1 < S, i2 < 12, i3 < 64] = x[i0, i1, 64*i2 + i3]");
  EXPECT_EQ(body("Reshape(x: f32[N, C, H, W], shape: i64[2] = [0, -1])"),
            "y: f32[i0 < N, i1 < C*H*W] = x[i0, i1/(H*W), (i1/W)%H, i1%W]");
  EXPECT_EQ(body("Reshape(x: f32[N, 1, 3], shape: i64[3] = [1, -1, 3])"),
            "y: f32[i0 < 1, i1 < N, i2 < 3] = x[i1, 0, i2]");
  EXPECT_EQ(body("Reshape(x: f32[2, 3], shape: i64[2] = [3, 2])"),
            "y: f32[i0 < 3, i1 < 2] = x[(2*i0 + i1)/3, (2*i0 + i1)%3]");
}

TEST(Reshape, TreatsZeroAndMinusOneAsTheStandardSays) {
  EXPECT_EQ(shape("Reshape(x: f32[0, 3, 4], shape: i64[2] = [0, -1])"), "[0, 12]");
  EXPECT_EQ(shape("Reshape(x: f32[0, 3, 4], shape: i64[3] = [3, 4, 0]) {allowzero = 1}"),
            "[3, 4, 0]");
  EXPECT_EQ(shape("Reshape(x: f32[1], shape: i64[0] = [])"), "[]");
  EXPECT_EQ(failure("Reshape(x: f32[2, 3], shape: i64[2] = [-1, -1])"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Reshape(x: f32[2, 3], shape: i64[2] = [4, -1])"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Reshape(x: f32[2, 3], shape: i64[3] = [2, 3, 0])"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Reshape(x: f32[2, 3], shape: i64[1] = [-7])"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Reshape(x: f32[2, 3], shape: i64[2])"), ErrorKind::kUnknown);
}

TEST(Flatten, CountsNegativeAxesFromTheEnd) {
  EXPECT_EQ(shape("Flatten(x: f32[2, 3, 4]) {axis = -1}"), "[6, 4]");
  EXPECT_EQ(shape("Flatten(x: f32[2, 3, 4]) {axis = 3}"), "[24, 1]");
  EXPECT_EQ(shape("Flatten(x: f32[N, 3, 4])"), "[N, 12]");
  EXPECT_EQ(failure("Flatten(x: f32[2, 3]) {axis = 3}"), ErrorKind::kInvalid);
}

TEST(Squeeze, NeedsToKnowWhichDimensionsAreOne) {
  EXPECT_EQ(shape("Squeeze(x: f32[1, 3, 1])"), "[3]");
  EXPECT_EQ(shape("Squeeze(x: f32[1, N, 1], axes: i64[2] = [0, -1])"), "[N]");
  EXPECT_EQ(shape("Squeeze(x: f32[1, N]) {axes = [0]}", 11), "[N]");
  EXPECT_EQ(failure("Squeeze(x: f32[1, N])"), ErrorKind::kUnknown);
  EXPECT_EQ(failure("Squeeze(x: f32[1, 3], axes: i64[1] = [1])"), ErrorKind::kInvalid);
}

TEST(Slice, ClampsLikeTheStandard) {
  const auto cut = [](const std::string& start, const std::string& end, const std::string& step,
                      const std::string& extent = "10") {
    return body("Slice(x: f32[" + extent + "], starts: i64[1] = [" + start + "], ends: i64[1] = [" +
                end + "], axes: i64[1] = [0], steps: i64[1] = [" + step + "])");
  };
  EXPECT_EQ(cut("2", "1000", "3"), "y: f32[i0 < 3] = x[3*i0 + 2]");
  EXPECT_EQ(cut("-4", "-1", "1"), "y: f32[i0 < 3] = x[i0 + 6]");
  EXPECT_EQ(cut("-100", "3", "1"), "y: f32[i0 < 3] = x[i0]");
  EXPECT_EQ(cut("7", "3", "1"), "y: f32[i0 < 0] = x[i0 + 7]");
  EXPECT_EQ(cut("-1", "-9223372036854775807", "-1"), "y: f32[i0 < 10] = x[-i0 + 9]");
  EXPECT_EQ(cut("20", "0", "-4"), "y: f32[i0 < 3] = x[-4*i0 + 9]");
  EXPECT_EQ(cut("0", "0", "1", "0"), "y: f32[i0 < 0] = x[i0]");
  // Symbolic extents stay exact.
  EXPECT_EQ(cut("0", "9223372036854775807", "2", "N"), "y: f32[i0 < (N + 1)/2] = x[2*i0]");
  EXPECT_EQ(cut("-1", "-9223372036854775807", "-1", "N"), "y: f32[i0 < N] = x[-i0 + N - 1]");
  EXPECT_EQ(cut("-2", "9223372036854775807", "1", "N"),
            "y: f32[i0 < min(2, N)] = x[i0 + N - min(2, N)]");
  EXPECT_EQ(cut("1", "9223372036854775807", "1", "N"), "y: f32[i0 < max(0, N - 1)] = x[i0 + 1]");
}

TEST(Slice, TakesAttributesBeforeOpset10) {
  EXPECT_EQ(body("Slice(x: f32[4, N]) {starts = [1, 0], ends = [3, 2147483647]}", 9),
            "y: f32[i0 < 2, i1 < N] = x[i0 + 1, i1]");
  EXPECT_EQ(failure("Slice(x: f32[4, N]) {starts = [1], ends = [3], axes = [2]}", 9),
            ErrorKind::kInvalid);
}

TEST(Concat, JoinsSymbolicExtents) {
  EXPECT_EQ(body("Concat(a: f32[N, 2], b: f32[M, 2]) {axis = 0}"),
            "y: f32[i0 < M + N, i1 < 2] = select(at(i0) < at(N), x0[i0, i1], x1[i0 - N, i1])");
  EXPECT_EQ(failure("Concat(a: f32[2, 2], b: f32[2, 3]) {axis = 0}"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Concat(a: f32[2], b: i64[2]) {axis = 0}"), ErrorKind::kInvalid);
}

TEST(Split, MakesTheLastPartsSmallerFromOpset18) {
  const auto sizes = [](const std::string& use, int opset) -> std::string {
    const Result<TensorExpr> expr = meaning(use, opset);
    if (!expr) return expr.error().to_string();
    std::string text;
    for (size_t i = 0; i < expr->outputs.size(); ++i)
      text += to_string(*expr->output_type(i).shape);
    return text;
  };
  EXPECT_EQ(sizes("Split(x: f32[7]) {num_outputs = 3} -> (a, b, c)", 18), "[3][3][1]");
  EXPECT_EQ(sizes("Split(x: f32[5]) {num_outputs = 4} -> (a, b, c, d)", 18), "[2][2][1][0]");
  EXPECT_EQ(sizes("Split(x: f32[6]) -> (a, b, c)", 13), "[2][2][2]");
  EXPECT_EQ(sizes("Split(x: f32[6]) {split = [1, 5]} -> (a, b)", 11), "[1][5]");
  EXPECT_EQ(failure("Split(x: f32[7]) -> (a, b)", 13), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Split(x: f32[6], s: i64[2] = [1, 4]) -> (a, b)"), ErrorKind::kInvalid);
}

TEST(Pad, ReadsOutsideAsTheModeSays) {
  EXPECT_EQ(body("Pad(x: f32[N], pads: i64[2] = [1, 2])"), "y: f32[i0 < N + 3] = x[i0 - 1 | 0]");
  EXPECT_EQ(body("Pad(x: f32[N], pads: i64[2] = [1, 2]) {mode = \"edge\"}"),
            "y: f32[i0 < N + 3] = x[min(N - 1, max(0, i0 - 1))]");
  EXPECT_EQ(body("Pad(x: f32[5], pads: i64[2] = [2, 2]) {mode = \"wrap\"}"),
            "y: f32[i0 < 9] = x[(i0 + 3)%5]");
  EXPECT_EQ(body("Pad(x: f32[5], pads: i64[2] = [-1, -2]) {mode = \"reflect\"}"),
            "y: f32[i0 < 2] = x[i0 + 1]");
  EXPECT_EQ(failure("Pad(x: f32[2], pads: i64[2] = [-2, -1])"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Pad(x: f32[2], pads: i64[2] = [1, 1]) {mode = \"mirror\"}"),
            ErrorKind::kInvalid);
}

TEST(Gather, ReadsOneKnownPositionAsASlice) {
  EXPECT_EQ(body("Gather(x: f32[N, S, 8], i: i64[] = -1) {axis = 1}"),
            "y: f32[i0 < N, i1 < 8] = x[i0, S - 1, i1]");
  EXPECT_EQ(failure("Gather(x: f32[4], i: i64[] = 4)"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Gather(x: f32[4], i: f32[2])"), ErrorKind::kInvalid);
}

TEST(Range, CountsStepsOfEitherSign) {
  EXPECT_EQ(shape("Range(a: i64[] = 10, b: i64[] = 4, d: i64[] = -2)"), "[3]");
  EXPECT_EQ(shape("Range(a: i64[] = 4, b: i64[] = 10, d: i64[] = -2)"), "[0]");
  EXPECT_EQ(shape("Range(a: f32[] = 0.5, b: f32[] = 2, d: f32[] = 0.5)"), "[3]");
  EXPECT_EQ(failure("Range(a: i64[] = 4, b: i64[] = 10, d: i64[] = 0)"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("Range(a: i64[], b: i64[] = 10, d: i64[] = 1)"), ErrorKind::kUnknown);
}

TEST(DepthToSpace, KeepsSymbols) {
  EXPECT_EQ(body("DepthToSpace(x: f32[N, 12, H, W]) {blocksize = 2}"),
            "y: f32[i0 < N, i1 < 3, i2 < 2*H, i3 < 2*W] = "
            "x[i0, i1 + 6*(i2%2) + 3*(i3%2), i2/2, i3/2]");
  EXPECT_EQ(failure("DepthToSpace(x: f32[1, 7, 2, 2]) {blocksize = 2}"), ErrorKind::kInvalid);
  EXPECT_EQ(failure("DepthToSpace(x: f32[1, 8, 2, 2]) {blocksize = 0}"), ErrorKind::kInvalid);
}

TEST(ShapeOperators, RefuseTypesWithoutArithmetic) {
  EXPECT_EQ(failure("Transpose(x: string[2, 3])"), ErrorKind::kUnsupported);
  EXPECT_EQ(failure("Concat(a: c64[2], b: c64[2]) {axis = 0}"), ErrorKind::kUnsupported);
  EXPECT_EQ(shape("Shape(x: string[2, 3])"), "[2]");
}

}  // namespace
}  // namespace hone
