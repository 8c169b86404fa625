#include "expr/evaluate.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "expr/field.h"
#include "expr/text.h"
#include "helpers/naive_evaluate.h"
#include "support/hash.h"

namespace hone {
namespace {

using test::naive_evaluate;
using test::NaiveTensor;

TensorExpr parse(const std::string& text) {
  Result<TensorExpr> expr = parse_expr(text);
  EXPECT_TRUE(expr) << expr.error().to_string() << "\n" << text;
  return *expr;
}

// Small integers for integer types (non-negative for unsigned ones), fractions for floats.
Buffer random_buffer(const TensorDecl& tensor, uint64_t seed, int64_t below = 0) {
  Buffer doubles = Buffer::allocate(ElementType::kF64, *to_ints(tensor.shape));
  for (double& x : doubles.as_mutable<double>()) {
    seed = mix_hash(seed + 1);
    if (below > 0)
      x = static_cast<double>(seed % static_cast<uint64_t>(below));
    else if (is_float(tensor.type))
      x = static_cast<double>(seed % 2001) / 1000 - 1;
    else if (tensor.type == ElementType::kBool)
      x = static_cast<double>(seed % 2);
    else
      x = static_cast<double>(seed % 9) - (is_signed_int(tensor.type) ? 4 : 0);
  }
  return convert(doubles, tensor.type);
}

NaiveTensor to_naive(const Buffer& buffer) {
  NaiveTensor result{buffer.dims(), {}};
  for (int64_t i = 0; i < buffer.count(); ++i) result.values.push_back(buffer.as_double(i));
  return result;
}

void expect_close(const Buffer& actual, const NaiveTensor& expected, double tolerance,
                  const std::string& text) {
  ASSERT_EQ(actual.dims(), expected.dims) << text;
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double want = expected.values[static_cast<size_t>(i)], have = actual.as_double(i);
    if (std::isnan(want) && std::isnan(have)) continue;
    if (want == have) continue;
    ASSERT_NEAR(have, want, tolerance * std::max(1.0, std::fabs(want)))
        << "element " << i << " of\n"
        << text;
  }
}

struct Case {
  TensorExpr expr;
  std::vector<Buffer> operands;
};

Case make_case(const std::string& text, int64_t index_below = 0) {
  Case c{parse(text), {}};
  for (int i = 0; i < c.expr.operand_count; ++i) {
    const TensorDecl& tensor = c.expr.tensors[static_cast<size_t>(i)];
    const bool is_index = tensor.type == ElementType::kI64 && index_below > 0;
    c.operands.push_back(
        random_buffer(tensor, static_cast<uint64_t>(i) * 77 + 5, is_index ? index_below : 0));
  }
  return c;
}

// Native and double evaluation, and boxes of every output, against the oracle. `index_below`
// bounds i64 operands, for use as indices.
void expect_agrees(const std::string& text, int64_t index_below = 0) {
  const Case c = make_case(text, index_below);
  std::vector<NaiveTensor> naive;
  for (const Buffer& operand : c.operands) naive.push_back(to_naive(operand));
  const std::vector<NaiveTensor> expected = naive_evaluate(c.expr, naive);
  for (const Domain domain : {Domain::kNative, Domain::kDouble}) {
    EvaluateOptions options;
    options.domain = domain;
    std::vector<Buffer> operands;
    for (const Buffer& operand : c.operands) operands.push_back(to_domain(operand, domain));
    const auto program = Program::lower(
        c.expr,
        [&] {
          std::vector<std::vector<int64_t>> dims;
          for (const Buffer& operand : operands) dims.push_back(operand.dims());
          return dims;
        }(),
        options);
    ASSERT_TRUE(program) << program.error().to_string() << "\n" << text;
    const auto outputs = program->run(operands);
    ASSERT_TRUE(outputs) << outputs.error().to_string() << "\n" << text;
    const double tolerance = domain == Domain::kDouble ? 1e-12 : 2e-5;
    const std::string listing = text + program->to_string();
    for (size_t i = 0; i < outputs->size(); ++i) {
      expect_close((*outputs)[i], expected[i], tolerance, listing);
      Box box;
      NaiveTensor part;
      for (const int64_t extent : expected[i].dims) {
        box.begin.push_back(extent / 3);
        box.end.push_back(std::max(extent / 3, extent - extent / 4));
        part.dims.push_back(box.end.back() - box.begin.back());
      }
      const auto boxed = evaluate_box(c.expr, operands, i, box, options);
      ASSERT_TRUE(boxed) << boxed.error().to_string() << "\n" << text;
      for (int64_t e = 0; e < boxed->count(); ++e) {
        int64_t rest = e, at = 0, stride = 1;
        for (size_t d = part.dims.size(); d-- > 0;
             rest /= part.dims[d], stride *= expected[i].dims[d])
          if (d + 1 <= part.dims.size()) at += (box.begin[d] + rest % part.dims[d]) * stride;
        part.values.push_back(expected[i].values[static_cast<size_t>(at)]);
      }
      expect_close(*boxed, part, tolerance, "box of " + text);
    }
  }
}

TEST(Evaluate, Elementwise) {
  expect_agrees(
      "(x: f32[2, 3, 40, 50]) -> (y) { y: f32[a < 2, b < 3, c < 40, d < 50] ="
      " max(x[a, b, c, d], 0) * 2 + exp(x[a, b, c, d]) }");
  expect_agrees(
      "(x: f32[64, 33], b: f32[33]) -> (y) {"
      " y: f32[i < 64, j < 33] = x[i, j] + b[j] - x[i, 0] }");
  expect_agrees("(x: f32[]) -> (y) { y: f32[] = x[] * 3 }");
  expect_agrees(
      "(x: i32[5000], c: bool[5000]) -> (y) {"
      " y: i32[i < 5000] = select(c[i], x[i] / 3, -x[i]) }");
}

TEST(Evaluate, TransposesSlicesAndReshapes) {
  expect_agrees("(x: f32[70, 90, 3]) -> (y) { y: f32[a < 3, b < 90, c < 70] = x[c, b, a] }");
  expect_agrees(
      "(x: f32[6, 20]) -> (y) { y: f32[i < 8, j < 15] ="
      " x[(15*i + j)/20, (15*i + j)%20] }");
  expect_agrees("(x: f32[4, 6, 10]) -> (y) { y: f32[i < 24, j < 10] = x[i/6, i%6, j] }");
  expect_agrees("(x: f32[24, 10]) -> (y) { y: f32[c < 2, h < 12, w < 10] = x[12*c + h, 9 - w] }");
  // depth to space
  expect_agrees(
      "(x: f32[8, 5, 7]) -> (y) { y: f32[c < 2, h < 10, w < 14] ="
      " x[c + 2*(2*(h%2) + w%2), h/2, w/2] }");
}

TEST(Evaluate, ReadsOutsideGiveTheStatedValue) {
  expect_agrees("(x: f32[5, 6]) -> (y) { y: f32[i < 9, j < 11] = x[i - 2, j - 3 | 7] }");
  expect_agrees("(x: f32[5, 6]) -> (y) { y: f32[i < 9, j < 11] = x[2 - i, 3*j - 4 | -inf] }");
  expect_agrees("(x: f32[9]) -> (y) { y: f32[i < 9, j < 11] = x[i - j | 0] + x[i + j - 4 | 1] }");
}

TEST(Evaluate, ConcatAndPadBySelect) {
  expect_agrees(
      "(a: f32[3, 5], b: f32[4, 5]) -> (y) { y: f32[i < 7, j < 5] ="
      " select(at(i) < 3, a[i, j], b[i - 3, j]) }");
  expect_agrees(
      "(a: f32[5, 3], b: f32[5, 4]) -> (y) { y: f32[i < 5, j < 7] ="
      " select(at(j) < 3, a[i, j], b[i, j - 3]) }");
}

TEST(Evaluate, Convolutions) {
  expect_agrees(
      "(x: f32[2, 5, 9, 8], w: f32[6, 5, 3, 3]) -> (y) {"
      " y: f32[n < 2, k < 6, i < 9, j < 8] = sum[c < 5, r < 3, t < 3]"
      " x[n, c, i + r - 1, j + t - 1 | 0] * w[k, c, r, t] }");
  expect_agrees(
      "(x: f32[1, 3, 13, 13], w: f32[8, 3, 3, 3]) -> (y) {"
      " y: f32[n < 1, k < 8, i < 6, j < 6] = sum[c < 3, r < 3, t < 3]"
      " x[n, c, 2*i + 2*r - 1, 2*j + t - 1 | 0] * w[k, c, r, t] }");
  // grouped, and depthwise
  expect_agrees(
      "(x: f32[1, 6, 8, 8], w: f32[10, 3, 3, 3]) -> (y) {"
      " y: f32[n < 1, k < 10, i < 8, j < 8] = sum[c < 3, r < 3, t < 3]"
      " x[n, 3*(k/5) + c, i + r - 1, j + t - 1 | 0] * w[k, c, r, t] }");
  expect_agrees(
      "(x: f32[1, 6, 20, 20], w: f32[6, 3, 3]) -> (y) {"
      " y: f32[n < 1, k < 6, i < 20, j < 20] = sum[r < 3, t < 3]"
      " x[n, k, i + r - 1, j + t - 1 | 0] * w[k, r, t] }");
  // quantised
  expect_agrees(
      "(x: u8[1, 4, 6, 6], w: i8[5, 4, 2, 2], z: u8[]) -> (y) {"
      " y: i32[n < 1, k < 5, i < 5, j < 5] = sum[c < 4, r < 2, t < 2]"
      " (i32(x[n, c, i + r, j + t]) - i32(z[])) * i32(w[k, c, r, t]) }");
}

TEST(Evaluate, MatrixProducts) {
  for (const char* types : {"f32", "f64", "i32", "i64", "i16"}) {
    const std::string t = types;
    expect_agrees("(a: " + t + "[33, 70], b: " + t + "[70, 45]) -> (y) { y: " + t +
                  "[m < 33, n < 45] = sum[k < 70] a[m, k] * b[k, n] }");
  }
  expect_agrees(
      "(a: f32[3, 2, 17, 64], b: f32[3, 2, 19, 64]) -> (y) {"
      " y: f32[b0 < 3, h < 2, m < 17, n < 19] = sum[k < 64] a[b0, h, m, k] * b[b0, h, n, k] }");
  // more rows, or more columns and terms, than one block holds
  expect_agrees(
      "(a: f32[400, 5], b: f32[5, 20]) -> (y) {"
      " y: f32[m < 400, n < 20] = sum[k < 5] a[m, k] * b[k, n] }");
  expect_agrees(
      "(a: f32[7, 600], b: f32[600, 300]) -> (y) {"
      " y: f32[m < 7, n < 300] = sum[k < 600] a[m, k] * b[k, n] }");
  expect_agrees(
      "(a: f32[1, 300], b: f32[50, 300]) -> (y) {"
      " y: f32[m < 1, n < 50] = sum[k < 300] a[m, k] * b[n, k] }");
  expect_agrees(
      "(a: f32[40, 3], b: f32[40, 3]) -> (y) {"
      " y: f32[m < 40, n < 40] = sum[k < 3] a[n, k] * b[m, k] }");
}

TEST(Evaluate, Reductions) {
  for (const char* combiner : {"sum", "product", "max", "min"}) {
    const std::string c = combiner;
    expect_agrees("(x: f32[4, 37, 5]) -> (y) { y: f32[i < 4, j < 5] = " + c +
                  "[k < 37] x[i, k, j] }");
    expect_agrees("(x: f64[6, 700]) -> (y) { y: f64[i < 6] = " + c + "[k < 700] x[i, k] }");
    expect_agrees("(x: i32[3, 4]) -> (y) { y: i32[] = " + c + "[i < 3, k < 4] x[i, k] }");
  }
  expect_agrees("(x: f32[100, 9000]) -> (y) { y: f32[] = sum[i < 100, j < 9000] x[i, j] }");
  expect_agrees("(x: f32[3000, 20]) -> (y) { y: f32[j < 20] = sum[i < 3000] x[i, j] }");
  expect_agrees(
      "(x: bool[7, 9]) -> (y, z) { y: bool[i < 7] = and[j < 9] x[i, j]\n"
      " z: bool[j < 9] = or[i < 7] x[i, j] }");
}

TEST(Evaluate, PositionsOfExtremes) {
  for (const char* combiner : {"argmax", "argmax_last", "argmin", "argmin_last"}) {
    const std::string c = combiner;
    expect_agrees("(x: i32[5, 40]) -> (y) { y: i64[i < 5] = " + c + "[k < 40] x[i, k] }");
    expect_agrees("(x: i32[40, 50]) -> (y) { y: i64[i < 50] = " + c + "[k < 40] x[k, i] }");
  }
}

TEST(Evaluate, Pooling) {
  expect_agrees(
      "(x: f32[1, 3, 16, 16]) -> (y) { y: f32[n < 1, c < 3, i < 8, j < 8] ="
      " max[r < 3, t < 3] x[n, c, 2*i + r - 1, 2*j + t - 1 | -inf] }");
  expect_agrees(
      "(x: f32[2, 30, 7, 7]) -> (y) { y: f32[n < 2, c < 30] ="
      " sum[i < 7, j < 7] x[n, c, i, j] }");
}

TEST(Evaluate, SeveralStages) {
  expect_agrees(
      "(x: f32[20, 300]) -> (y) {\n m: f32[o < 20] = max[k < 300] x[o, k]\n"
      " s: f32[o < 20] = sum[k < 300] exp(x[o, k] - m[o])\n"
      " y: f32[o < 20, i < 300] = exp(x[o, i] - m[o]) / s[o] }");
  expect_agrees(
      "(x: f32[4, 9, 9]) -> (y) {\n"
      " a: f32[c < 4, i < 9, j < 9] = x[c, i, j] * 2\n"
      " y: f32[c < 4, i < 7, j < 7] = sum[r < 3, t < 3] a[c, i + r, j + t] }");
}

TEST(Evaluate, DataDependentReads) {
  expect_agrees("(x: f32[10, 33], i: i64[7]) -> (y) { y: f32[a < 7, j < 33] = x[i[a], j] }", 10);
  expect_agrees(
      "(x: f32[33, 10], i: i64[7, 9]) -> (y) {"
      " y: f32[j < 33, a < 7, b < 9] = x[j, i[a, b]] }",
      10);
  expect_agrees(
      "(x: f32[10, 10], i: i64[50, 2]) -> (y) {"
      " y: f32[a < 50] = x[i[a, 0], i[a, 1]] + x[i[a, 0] + 5, 3 | 9] }",
      10);
}

TEST(Evaluate, Tables) {
  expect_agrees(
      "(x: f32[5, 6]) -> (y) {\n itable t = [0, 0, 2, 4, 4, 1, 3]\n"
      " y: f32[i < 7, j < 7] = x[t[i], t[j]] }");
  expect_agrees(
      "(x: f32[5, 6]) -> (y) {\n table w = [1/2, 3, -2, 1/4, 7]\n"
      " y: f32[i < 5, j < 6] = x[i, j] * w[i] }");
  expect_agrees("(x: f32[9]) -> (y) { y: f32[i < 20] = x[max(min(i - 5, 8), 0)] }");
}

TEST(Evaluate, Scatters) {
  for (const char* how : {"set", "add", "max", "mul"}) {
    const std::string c = how;
    expect_agrees(
        "(x: f32[20], i: i64[50], u: f32[50]) -> (y) { y: f32[a < 20] = x[a]\n"
        " scatter " +
            c + "[k < 50] [i[k]] <- u[k] }",
        25);
    expect_agrees(
        "(x: f32[9, 12], i: i64[9, 40], u: f32[9, 40]) -> (y) {"
        " y: f32[a < 9, b < 12] = x[a, b]\n"
        " scatter " +
            c + "[r < 9, k < 40] [r, i[r, k]] <- u[r, k] }",
        12);
  }
}

TEST(Evaluate, Scans) {
  expect_agrees(
      "(x: f32[7, 12], h0: f32[12], w: f32[12, 12]) -> (hs, last) {\n scan t < 7 {\n"
      "  carry h: f32[12] = h0\n"
      "  g: f32[i < 12] = sum[k < 12] w[i, k] * h[k]\n"
      "  n: f32[i < 12] = tanh(g[i] + x[t, i])\n"
      "  final last = h\n  collect hs = n\n  next h = n\n } }");
  expect_agrees(
      "(x: f32[3, 4]) -> (all, last) {\n zero: f32[] = 0\n scan t < 3 {\n"
      "  carry s: f32[] = zero\n  scan u < 4 {\n   carry r: f32[] = s\n"
      "   q: f32[] = r[] + x[t, u]\n   final end = r\n   next r = q\n  }\n"
      "  collect all = end\n  final last = s\n  next s = end\n } }");
}

TEST(Evaluate, EmptyTensors) {
  expect_agrees("(x: f32[0, 5]) -> (y) { y: f32[i < 0, j < 5] = x[i, j] + 1 }");
  expect_agrees(
      "(x: f32[4, 0]) -> (y, z, u, v) { y: f32[i < 4] = sum[k < 0] x[i, k]\n"
      " z: f32[i < 4] = product[k < 0] x[i, k]\n u: f32[i < 4] = max[k < 0] x[i, k]\n"
      " v: f32[i < 4] = min[k < 0] x[i, k] }");
  expect_agrees(
      "(a: f32[8, 0], b: f32[0, 9]) -> (y) {"
      " y: f32[m < 8, n < 9] = sum[k < 0] a[m, k] * b[k, n] }");
  expect_agrees(
      "(x: f32[3], i: i64[0]) -> (y) { y: f32[a < 3] = x[a]\n"
      " scatter add[k < 0] [i[k]] <- x[k] }");
  expect_agrees(
      "(x: f32[2, 3]) -> (y) {\n zero: f32[i < 3] = x[0, i]\n scan t < 0 {\n"
      "  carry s: f32[3] = zero\n  n: f32[i < 3] = s[i] * 2\n  final y = s\n"
      "  next s = n\n } }");
}

Result<std::vector<Buffer>> run(const std::string& text, std::vector<Buffer> operands,
                                const EvaluateOptions& options = {}) {
  return evaluate(parse(text), operands, options);
}

template <typename T>
Buffer vector_of(ElementType type, std::vector<T> values) {
  const auto count = static_cast<int64_t>(values.size());
  return Buffer::of<T>(type, {count}, std::span<const T>(values));
}

template <typename T>
std::vector<T> values_of(const Result<std::vector<Buffer>>& outputs) {
  EXPECT_TRUE(outputs) << outputs.error().to_string();
  const auto span = (*outputs)[0].as<T>();
  return {span.begin(), span.end()};
}

TEST(Evaluate, BadIndicesAreErrorsNotCrashes) {
  const Buffer x = vector_of<float>(ElementType::kF32, {1, 2, 3});
  const std::string gather = "(x: f32[3], i: i64[2]) -> (y) { y: f32[a < 2] = x[i[a]] }";
  for (const int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN})
    EXPECT_FALSE(run(gather, {x, vector_of<int64_t>(ElementType::kI64, {0, bad})}));
  const std::string guarded =
      "(x: f32[3], i: i64[2]) -> (y) { y: f32[a < 2] = select(i[a] < 3, x[i[a]], 9) }";
  EXPECT_EQ(values_of<float>(run(guarded, {x, vector_of<int64_t>(ElementType::kI64, {1, 99})})),
            (std::vector<float>{2, 9}));
  EXPECT_FALSE(run(gather, {x}));
  EXPECT_FALSE(run(gather, {x, x}));
}

TEST(Evaluate, IntegersWrapAndNeverTrap) {
  const std::string text = "(a: i32[4], b: i32[4]) -> (y) { y: i32[i < 4] = ";
  const Buffer a = vector_of<int32_t>(ElementType::kI32, {INT32_MIN, INT32_MAX, -7, 7});
  const Buffer b = vector_of<int32_t>(ElementType::kI32, {-1, 2, 0, -3});
  EXPECT_EQ(values_of<int32_t>(run(text + "a[i] / b[i] }", {a, b})),
            (std::vector<int32_t>{INT32_MIN, INT32_MAX / 2, 0, -2}));
  EXPECT_EQ(values_of<int32_t>(run(text + "a[i] * b[i] }", {a, b})),
            (std::vector<int32_t>{INT32_MIN, -2, 0, -21}));
  EXPECT_EQ(values_of<int32_t>(run(text + "mod(a[i], b[i]) }", {a, b})),
            (std::vector<int32_t>{0, 1, 0, -2}));
  EXPECT_EQ(values_of<int32_t>(run(text + "fmod(a[i], b[i]) }", {a, b})),
            (std::vector<int32_t>{0, 1, 0, 1}));
  EXPECT_EQ(values_of<int32_t>(run(text + "pow(b[i], abs(b[i])) }", {a, b})),
            (std::vector<int32_t>{-1, 4, 1, -27}));
}

TEST(Evaluate, FloatsFollowNumpy) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Buffer x = vector_of<float>(ElementType::kF32, {0.5F, 1.5F, -2.5F, kNan});
  const std::string text = "(x: f32[4]) -> (y) { y: f32[i < 4] = ";
  const auto rounded = values_of<float>(run(text + "round(x[i]) }", {x}));
  EXPECT_EQ(rounded[0], 0);
  EXPECT_EQ(rounded[1], 2);
  EXPECT_EQ(rounded[2], -2);
  EXPECT_TRUE(std::isnan(values_of<float>(run(text + "max(x[i], 0) }", {x}))[3]));
  EXPECT_TRUE(std::isnan(values_of<float>(run(text + "min(1, x[i]) }", {x}))[3]));
  const std::string compare = "(x: f32[4]) -> (y) { y: bool[i < 4] = x[i] <= x[i] }";
  EXPECT_EQ((*run(compare, {x}))[0].as_int(3), 0);
  const std::string cast = "(x: f32[4]) -> (y) { y: i8[i < 4] = i8(x[i] * 100) }";
  EXPECT_EQ(values_of<int8_t>(run(cast, {x})),
            (std::vector<int8_t>{50, static_cast<int8_t>(150), 6, 0}));
}

TEST(Evaluate, NarrowFloatsRoundWhenStored) {
  const Buffer x = convert(vector_of<float>(ElementType::kF32, {1, 2048}), ElementType::kF16);
  // 2048 + 1 is no f16, but the sum is kept in float between the stages.
  const std::string text =
      "(x: f16[2]) -> (z) { y: f16[i < 2] = x[i] + 1\n"
      " z: f16[i < 2] = y[i] - 2048 }";
  const auto outputs = run(text, {x});
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].type(), ElementType::kF16);
  EXPECT_EQ((*outputs)[0].as_double(1), 1);
  const std::string cast = "(x: f32[2]) -> (y) { y: f32[i < 2] = f32(f16(x[i])) }";
  EXPECT_EQ(values_of<float>(run(cast, {vector_of<float>(ElementType::kF32, {2049, 1})})),
            (std::vector<float>{2048, 1}));
}

TEST(Evaluate, ParametersAndSymbols) {
  EvaluateOptions options;
  options.parameters["alpha"] = Literal::rational(1, 2);
  const Buffer x = vector_of<float>(ElementType::kF32, {2, 4});
  const std::string text = "(x: f32[N]) -> (y) { y: f32[i < 2*N] = x[i/2] * $alpha:f32 }";
  EXPECT_EQ(values_of<float>(run(text, {x}, options)), (std::vector<float>{1, 1, 2, 2}));
  EXPECT_FALSE(run(text, {x}));
  EXPECT_FALSE(run("(x: f32[N]) -> (y) { y: f32[i < M] = x[0] }", {x}));
}

Field field_at(const Buffer& buffer, int64_t i) {
  return buffer.as<Field>()[static_cast<size_t>(i)];
}

std::vector<Buffer> in_field(const std::string& text, uint64_t seed = 1) {
  const Case c = make_case(text);
  EvaluateOptions options;
  options.domain = Domain::kField;
  options.seed = seed;
  std::vector<Buffer> operands;
  for (const Buffer& operand : c.operands) operands.push_back(to_domain(operand, Domain::kField));
  const auto outputs = evaluate(c.expr, operands, options);
  EXPECT_TRUE(outputs) << outputs.error().to_string();
  return *outputs;
}

TEST(EvaluateField, ArithmeticIsExact) {
  const auto y = in_field(
      "(x: f32[6]) -> (y, z) {"
      " y: f32[i < 6] = (x[i] * 3 - x[i]) / 2 * x[i] / x[i]\n"
      " z: f32[i < 6] = sqrt(2) * sqrt(2) * x[i] * (1/3) * 3 / 2 }");
  const Case c = make_case("(x: f32[6]) -> (y) { y: f32[i < 6] = x[i] }");
  const Buffer x = to_domain(c.operands[0], Domain::kField);
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(field_at(y[0], i), field_at(x, i));
    EXPECT_EQ(field_at(y[1], i), field_at(x, i));
  }
  EXPECT_EQ(field_of(0.75) * field_of(int64_t{4}), field_of(int64_t{3}));
  EXPECT_EQ(field_of(int64_t{-5}) + field_of(int64_t{5}), Field{0});
}

TEST(EvaluateField, ContractionsEqualTheirLoops) {
  // The same sum by the contraction kernel and, behind a sum with 0, without it.
  const auto y = in_field(
      "(a: f32[12, 90], b: f32[90, 20]) -> (y, z) {"
      " y: f32[m < 12, n < 20] = sum[k < 90] a[m, k] * b[k, n]\n"
      " z: f32[m < 12, n < 20] = sum[k < 90] a[m, k] * b[k, n] + 0 * a[m, k] }");
  EXPECT_TRUE(y[0] == y[1]);
}

TEST(EvaluateField, NonlinearFunctionsAreSeededAndRandom) {
  const std::string text =
      "(x: f32[6]) -> (y, z, u) { y: f32[i < 6] = exp(x[i])\n"
      " z: f32[i < 6] = exp(x[i] + x[i] - x[i])\n"
      " u: f32[i < 6] = tanh(x[i]) }";
  const auto first = in_field(text, 1), again = in_field(text, 1), other = in_field(text, 2);
  EXPECT_TRUE(first[0] == first[1]);
  EXPECT_TRUE(first[0] == again[0]);
  EXPECT_FALSE(first[0] == other[0]);
  EXPECT_FALSE(first[0] == first[2]);
}

TEST(EvaluateField, PaddingOfMaxIsItsIdentity) {
  const auto y = in_field(
      "(x: f32[6]) -> (y, z) {"
      " y: f32[i < 1] = max[r < 8] x[6*i + r - 1 | -inf]\n"
      " z: f32[i < 1] = max[r < 6] x[6*i + r] }");
  EXPECT_TRUE(y[0] == y[1]);
}

TEST(Evaluate, ListsLoopsAndInstructions) {
  const auto program =
      Program::lower(parse("(x: f32[4, 100], w: f32[100, 16]) -> (y) {"
                           " y: f32[m < 4, n < 16] = sum[k < 100] x[m, k] * w[k, n] }"),
                     {{4, 100}, {100, 16}});
  ASSERT_TRUE(program);
  EXPECT_NE(program->to_string().find("contract k < 100"), std::string::npos)
      << program->to_string();
}

}  // namespace
}  // namespace hone
