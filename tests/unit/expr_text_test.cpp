#include <gtest/gtest.h>

#include "expr/builder.h"
#include "expr/text.h"

namespace hone {
namespace {

constexpr ElementType kF32 = ElementType::kF32;
constexpr ElementType kI64 = ElementType::kI64;

Dim sym(const char* name) { return Dim::symbol(name); }

void expect_round_trip(const TensorExpr& expr) {
  const std::string text = to_text(expr);
  const Result<TensorExpr> again = parse_expr(text);
  ASSERT_TRUE(again) << again.error().to_string() << "\n" << text;
  EXPECT_TRUE(*again == expr) << text << "\nbecame\n" << to_text(*again);
  EXPECT_EQ(to_text(*again), text);
}

// Text that is printed as it was written.
void expect_stable(const std::string& text) {
  const Result<TensorExpr> expr = parse_expr(text);
  ASSERT_TRUE(expr) << expr.error().to_string() << "\n" << text;
  EXPECT_EQ(to_text(*expr), text);
  expect_round_trip(*expr);
}

std::string error_of(std::string_view text) {
  const Result<TensorExpr> expr = parse_expr(text);
  return expr ? "no error" : expr.error().to_string();
}

TEST(ExprText, PrintsAsTheFormula) {
  Builder b;
  const Operand x = b.operand("x", kF32, {sym("N"), sym("K")});
  const AxisId o = b.axis("o", sym("N")), k = b.axis("k", sym("K")), i = b.axis("i", sym("K"));
  const Operand m = b.reduce("m", {o}, Combiner::kMax, {k}, x(o, k));
  const Operand s = b.reduce("s", {o}, Combiner::kSum, {k}, exp(x(o, k) - m(o)));
  const Operand y = b.map("y", {o, i}, exp(x(o, i) - m(o)) / s(o));
  const TensorExpr softmax = b.finish({y});
  EXPECT_EQ(to_text(softmax),
            "(x: f32[N, K]) -> (y) {\n"
            "  m: f32[o < N] = max[k < K] x[o, k]\n"
            "  s: f32[o < N] = sum[k < K] exp(x[o, k] - m[o])\n"
            "  y: f32[o < N, i < K] = exp(x[o, i] - m[o]) / s[o]\n"
            "}\n");
  expect_round_trip(softmax);
}

TEST(ExprText, IndexArithmetic) {
  expect_stable(
      "(x: f32[N, 10, H], idx: i64[M]) -> (y) {\n"
      "  itable t = [0, -1, 1]\n"
      "  y: f32[n < N, i < 3, u < M] = sum[r < R]"
      " x[n/2 + (i + 2*r)%3, t[i] - 1, S*i + (D + 1)*r - P | 0]"
      " + x[min(n, i), idx[u], 2*(i/2) + max(i, 2*r)]\n"
      "}\n");
}

TEST(ExprText, NumbersTakeTheTypeOfTheirPartner) {
  expect_stable(
      "(x: f32[N], q: u8[N]) -> (y, z) {\n"
      "  y: f32[i < N] = x[i] * (1/3) + 5p-20 - (-2) / max(x[i], 0) + (-inf) * x[i]\n"
      "  z: bool[i < N] = x[i] < 1 and not(q[i] == 3) or is_nan(f32(q[i]))\n"
      "}\n");
}

TEST(ExprText, NumbersWithoutAPartnerShowTheirType) {
  Builder b;
  const AxisId i = b.axis("i", 4);
  const TableId w = b.literal_table("w", {Literal::rational(1, 2), Literal(3)});
  const Scalar half = Scalar::literal(kF32, Literal::rational(1, 2));
  const Scalar huge = Scalar::literal(kF32, Literal::infinity());
  const Operand a = b.map("a", {i}, half);
  const Operand c = b.map("c", {i}, exp(half) + huge * huge);
  const Operand d = b.map("d", {i}, Scalar::cast(ElementType::kF16, Scalar::table(kF32, w, i)));
  const Operand e = b.map("e", {i}, Scalar::table(kF32, w, i) * Scalar::table(kF32, w, 1));
  const Operand f = b.map("f", {i}, a(i) * Scalar::table(kF32, w, mod(Index(i), 2)));
  const Operand g = b.map("g", {i}, -Scalar::literal(kI64, 5) + Scalar::index(i));
  const Operand h = b.reduce("h", {}, Combiner::kArgMaxFirst, {i}, half);
  const Operand k = b.map("k", {i}, select(less(Index(i), Index(2)), half, huge));
  const TensorExpr expr = b.finish({c, d, e, f, g, h, k});
  EXPECT_EQ(to_text(expr),
            "() -> (c, d, e, f, g, h, k) {\n"
            "  table w = [1/2, 3]\n"
            "  a: f32[i < 4] = 1/2\n"
            "  c: f32[i < 4] = exp(f32(1/2)) + f32(inf) * f32(inf)\n"
            "  d: f16[i < 4] = f16(f32(w[i]))\n"
            "  e: f32[i < 4] = f32(w[i]) * f32(w[1])\n"
            "  f: f32[i < 4] = a[i] * w[i%2]\n"
            "  g: i64[i < 4] = -i64(5) + at(i)\n"
            "  h: i64[] = argmax[i < 4] f32(1/2)\n"
            "  k: f32[i < 4] = select(at(i) < 2, f32(1/2), f32(inf))\n"
            "}\n");
  expect_round_trip(expr);
}

TEST(ExprText, LiteralsReadBackExactly) {
  const Literal root = Literal::square_root(Literal::rational(5, 7));
  for (const Literal& value :
       {Literal(0), Literal(-3), Literal::rational(-1, 3), Literal::of_double(1e-30),
        Literal::of_double(-3.1e200), Literal::of_double(5e-324), root, root.negated(),
        *multiply(root, Literal::of_double(1e-20)), Literal::of_unsigned(~uint64_t{0}),
        Literal::infinity(), Literal::infinity(true), Literal::nan(), Literal(INT64_MIN)}) {
    Builder b;
    const Operand y = b.map("y", {}, Scalar::literal(ElementType::kF64, value));
    const TensorExpr expr = b.finish({y});
    expect_round_trip(expr);
  }
}

TEST(ExprText, DecimalsAreExact) {
  const auto a = parse_expr("() -> (y) { y: f32[] = 0.1 }");
  const auto b = parse_expr("() -> (y) { y: f32[] = 1/10 }");
  const auto c = parse_expr("() -> (y) { y: f32[] = 1e-1 }");
  ASSERT_TRUE(a && b && c);
  EXPECT_TRUE(*a == *b);
  EXPECT_TRUE(*a == *c);
  EXPECT_TRUE(parse_expr("() -> (y) { y: f32[] = 3.14159265358979323846 }"));
  EXPECT_TRUE(parse_expr("() -> (y) { y: f32[] = 1e-300 }"));
  EXPECT_FALSE(parse_expr("() -> (y) { y: f32[] = 1e999999999999 }"));
}

TEST(ExprText, PrecedenceAndSugar) {
  const auto same = [](const std::string& a, const std::string& b) {
    const std::string head = "(x: f32[N], c: bool[N]) -> (y) { y: bool[i < N] = ";
    const auto left = parse_expr(head + a + " }"), right = parse_expr(head + b + " }");
    ASSERT_TRUE(left) << left.error().to_string();
    ASSERT_TRUE(right) << right.error().to_string();
    EXPECT_TRUE(*left == *right) << a;
  };
  same("x[i] > 1", "1 < x[i]");
  same("x[i] >= 1 + 2*3", "f32(7) <= x[i]");
  same("x[i] != 1", "not (x[i] == 1)");
  same("not c[i] and c[i] || c[i]", "((not(c[i])) and c[i]) or c[i]");
  same("x[i]-1-2 < -x[i]*2", "((x[i] - 1) - 2) < ((-x[i]) * 2)");
  same("x[i]<-1", "x[i] < (-1)");
}

TEST(ExprText, ScatterScanParametersAndConditions) {
  expect_stable(
      "(x: f32[N], idx: i64[M], upd: f32[L]) -> (y) where M == L \"update counts\", N == 2*M {\n"
      "  y: f32[i < N] = x[i] * $alpha:f32\n"
      "    scatter add[u < M] [idx[u]] <- upd[u]\n"
      "}\n");
  expect_stable(
      "(x: f32[T, H], h0: f32[H]) -> (hs, hN) {\n"
      "  scan t < T {\n"
      "    carry h: f32[H] = h0\n"
      "    h1: f32[i < H] = tanh(h[i] + x[t, i])\n"
      "    final hN = h\n"
      "    collect hs = h1\n"
      "    next h = h1\n"
      "  }\n"
      "}\n");
}

TEST(ExprText, NestedScans) {
  Builder b;
  const Operand x = b.operand("x", kF32, {3, 4});
  const Operand zero = b.map("zero", {}, Scalar::literal(kF32, 0));
  const AxisId t = b.begin_scan("t", 3);
  const Operand outer = b.carry("s", zero);
  const AxisId u = b.begin_scan("t", 4);
  const Operand inner = b.carry("s", outer);
  b.set_next(inner, b.map("s", {}, inner.at(Axes{}) + x(t, u)));
  const Operand end = b.final_value("end", inner);
  b.end_scan();
  const Operand all = b.collect("all", end);
  b.set_next(outer, end);
  const Operand last = b.final_value("last", outer);
  b.end_scan();
  const TensorExpr expr = b.finish({all, last});
  EXPECT_EQ(to_text(expr),
            "(x: f32[3, 4]) -> (all, last) {\n"
            "  zero: f32[] = 0\n"
            "  scan t < 3 {\n"
            "    carry s: f32[] = zero\n"
            "    scan t_2 < 4 {\n"
            "      carry s_2: f32[] = s\n"
            "      s_3: f32[] = s_2[] + x[t, t_2]\n"
            "      final end = s_2\n"
            "      next s_2 = s_3\n"
            "    }\n"
            "    collect all = end\n"
            "    final last = s\n"
            "    next s = end\n"
            "  }\n"
            "}\n");
  expect_round_trip(expr);
}

TEST(ExprText, NamesAreMadeUniqueAndQuoted) {
  Builder b;
  const Operand x = b.operand("x", kF32, {sym("i"), sym("batch size")});
  const Operand also = b.operand("x", kF32, {sym("i"), sym("batch size")});
  const AxisId i = b.axis("i", sym("i")), j = b.axis("i", sym("batch size"));
  const Operand y = b.map("sum", {i, j}, x(i, j) + also(i, j));
  const Operand z = b.map("", {i, j}, y(i, j));
  const TensorExpr expr = b.finish({z});
  EXPECT_EQ(to_text(expr),
            "(x: f32[i, `batch size`], x_2: f32[i, `batch size`]) -> (t) {\n"
            "  `sum`: f32[i_2 < i, i_3 < `batch size`] = x[i_2, i_3] + x_2[i_2, i_3]\n"
            "  t: f32[i_2 < i, i_3 < `batch size`] = `sum`[i_2, i_3]\n"
            "}\n");
  expect_round_trip(expr);
}

TEST(ExprText, DataDependentIndicesMayBeAnyIntegerScalar) {
  Builder b;
  const Operand x = b.operand("x", kF32, {sym("N")}), idx = b.operand("idx", kI64, {sym("M")});
  const AxisId u = b.axis("u", sym("M"));
  const Scalar i = idx(u);
  const Index wrapped = Index::value(select(less(i, Literal(0)), i + Scalar::index(sym("N")), i));
  const Operand y = b.map("y", {u}, x(wrapped + Index(1)));
  const TensorExpr expr = b.finish({y});
  EXPECT_EQ(to_text(expr),
            "(x: f32[N], idx: i64[M]) -> (y) {\n"
            "  y: f32[u < M] = x[value(select(idx[u] < 0, idx[u] + at(N), idx[u])) + 1]\n"
            "}\n");
  expect_round_trip(expr);
}

TEST(ExprText, EveryFunctionReadsBack) {
  for (int f = 0; f < kFnCount; ++f) {
    const Fn fn = static_cast<Fn>(f);
    if (fn == Fn::kCast || fn == Fn::kCastWrap) continue;
    const bool logical = fn >= Fn::kAnd && fn <= Fn::kNot;
    const bool bits = fn >= Fn::kBitAnd && fn <= Fn::kShiftRight;
    const ElementType type = logical ? ElementType::kBool : bits ? ElementType::kI32 : kF32;
    Builder b;
    const Operand x = b.operand("x", type, {4}), c = b.operand("c", ElementType::kBool, {4});
    const AxisId i = b.axis("i", 4);
    std::vector<Scalar> args(static_cast<size_t>(info_of(fn).arity), x(i));
    if (fn == Fn::kSelect) args = {c(i), x(i), x(3)};
    const Operand y = b.map("y", {i}, Scalar::apply(fn, args));
    expect_round_trip(b.finish({y}));
  }
  expect_stable(
      "(x: f32[4]) -> (y, z) {\n"
      "  y: f8e4m3fn[i < 4] = wrap_f8e4m3fn(x[i] + 1)\n"
      "  z: f8e4m3fn[i < 4] = f8e4m3fn(x[i])\n"
      "}\n");
}

TEST(ExprText, DimensionsReadBack) {
  const Dim n = sym("N"), h = sym("H");
  for (const Dim& dim :
       {n, Dim(-4), 2 * n + floor_div(h, 2) - 1, floor_div(n + h, 3) * (n - 1), -n * h,
        Dim(0) - floor_div(n, 2), mod(n * n + 1, h), min(n, max(h, Dim(3))), sym("a b") * 3,
        ceil_div(n - h, 2 * h), Dim(INT64_MIN), n + Dim(INT64_MIN), n * Dim(INT64_MIN)}) {
    const Result<Dim> again = parse_dim(dim.to_string());
    ASSERT_TRUE(again) << again.error().to_string() << " in " << dim.to_string();
    EXPECT_EQ(*again, dim) << dim.to_string();
  }
}

TEST(ExprText, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) {\n  y: f32[i < N] = x[i, 0]\n}"),
            "2:19: x has rank 1, but is read with 2 indices");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) {\n  y: f32[i < N] = z[i]\n}"),
            "2:19: there is no tensor or table z here");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) {}"), "1:17: there is no tensor y here");
  EXPECT_EQ(error_of("(x: f33[N]) -> (x) {}"),
            "1:2: unknown element type f33 (such as f32, i64 or bool)");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N] = at(i) }"),
            "1:38: y has type f32, but its body has type i64 (cast the body: f32(...))");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N] = x[i] + i }"),
            "1:45: i is an axis (its value is at(i))");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: bool[i < N] = 1 < 2 }"),
            "1:39: the number has no type here (write it with one, as in f32(1))");
  EXPECT_EQ(error_of("(x: i32[N]) -> (y) { y: i32[i < N] = x[i] * 0.5 }"),
            "1:45: 1/2 is not a number of type i32");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N, i < N] = x[i] }"),
            "1:36: the stage has two axes i");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N] = x[i*i] }"),
            "1:41: an index cannot be a product of two axes");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N] = x[i/0] }"),
            "1:41: an index is divided by 0");
  EXPECT_EQ(error_of("(x: f32[N]) -> (y) { y: f32[i < N] = select(x[i], 1) }"),
            "1:38: select takes 3 operands, not 2");
  EXPECT_EQ(error_of("(x: f32[N] -> (y)"), "1:12: expected ')', found '->'");
  EXPECT_EQ(error_of("(x: f32[N]) -> (x) { y: f32[i < N] = "),
            "1:38: expected a number, a name or '(', found the end of the text");
  EXPECT_EQ(error_of("(x: f32[N]) -> (x) { y: f32[i < 9999999999*9999999999] = x[i] }"),
            "1:43: a dimension does not fit in 64 bits: 9999999999 * 9999999999");
}

TEST(ExprText, RefusesWhatWouldExhaustTheStackOrMemory) {
  const std::string head = "(x: f32[N]) -> (y) { y: f32[i < N] = ";
  EXPECT_NE(error_of(head + std::string(100000, '(')).find("levels deep"), std::string::npos);
  EXPECT_NE(error_of(head + std::string(100000, '-') + "x[i] }").find("levels deep"),
            std::string::npos);
  std::string chain = "x[i]";
  for (int i = 0; i < 100000; ++i) chain += " + x[i]";
  EXPECT_NE(error_of(head + chain + " }").find("operations deep"), std::string::npos);
  std::string sum = "(a";
  for (int i = 0; i < 90; ++i) sum += " + a" + std::to_string(i);
  sum += ")";
  EXPECT_NE(error_of("(x: f32[" + sum + "*" + sum + "]) -> (x) {}").find("too many terms"),
            std::string::npos);
  std::string scans;
  for (int i = 0; i < 1000; ++i) scans += "scan t" + std::to_string(i) + " < 1 {";
  EXPECT_NE(error_of("() -> () {" + scans).find("levels deep"), std::string::npos);
}

}  // namespace
}  // namespace hone
