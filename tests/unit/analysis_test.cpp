#include "expr/analysis.h"

#include <random>

#include <gtest/gtest.h>

#include "expr/builder.h"
#include "expr/text.h"

namespace hone {
namespace {

const AxisId kI{0}, kJ{1}, kK{2};

Dim sym(const char* name) { return Dim::symbol(name); }

std::string text(const Index& index) { return to_text(index, {"i", "j", "k"}); }

std::string simple(const Index& index, const std::vector<Dim>& extents) {
  return text(simplify(index, extents));
}

TensorExpr parsed(std::string_view source) {
  Result<TensorExpr> expr = parse_expr(source);
  EXPECT_TRUE(expr) << expr.error().to_string();
  return expr ? *expr : TensorExpr{};
}

int64_t value(const Index& index, const std::vector<int64_t>& axes,
              const std::map<std::string, int64_t>& symbols);

int64_t value(const IndexAtom& atom, const std::vector<int64_t>& axes,
              const std::map<std::string, int64_t>& symbols) {
  const auto left = [&] { return value(atom.left, axes, symbols); };
  const auto right = [&] { return value(atom.right, axes, symbols); };
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return axes.at(static_cast<size_t>(atom.axis.value));
    case IndexAtom::Kind::kFloorDiv:
      return floor_div(left(), *atom.divisor.evaluate(symbols));
    case IndexAtom::Kind::kMod:
      return floor_mod(left(), *atom.divisor.evaluate(symbols));
    case IndexAtom::Kind::kMin:
      return std::min(left(), right());
    case IndexAtom::Kind::kMax:
      return std::max(left(), right());
    default:
      ADD_FAILURE();
      return 0;
  }
}

int64_t value(const Index& index, const std::vector<int64_t>& axes,
              const std::map<std::string, int64_t>& symbols) {
  int64_t sum = *index.offset().evaluate(symbols);
  for (const IndexTerm& term : index.terms())
    sum += *term.coefficient.evaluate(symbols) * value(*term.atom, axes, symbols);
  return sum;
}

// Same value, and inside the range, at every point.
void expect_same(const Index& a, const Index& b, const std::vector<Dim>& extents,
                 const std::map<std::string, int64_t>& symbols) {
  const Range range = range_of(a, extents);
  std::vector<int64_t> ends;
  for (const Dim& extent : extents) ends.push_back(*extent.evaluate(symbols));
  for (int64_t i = 0; i < ends[0]; ++i)
    for (int64_t j = 0; j < ends[1]; ++j)
      for (int64_t k = 0; k < ends[2]; ++k) {
        const int64_t expected = value(a, {i, j, k}, symbols);
        ASSERT_EQ(value(b, {i, j, k}, symbols), expected)
            << text(a) << " became " << text(b) << " at " << i << " " << j << " " << k;
        ASSERT_TRUE(!range.low || *range.low->evaluate(symbols) <= expected) << text(a);
        ASSERT_TRUE(!range.high || *range.high->evaluate(symbols) >= expected) << text(a);
      }
}

TEST(Analysis, RangesFollowFromExtents) {
  const std::vector<Dim> extents = {sym("N"), 3, sym("K")};
  const Range plain = range_of(Index(kI) * 2 - Index(kJ) + Index(5), extents);
  EXPECT_EQ(plain.low->to_string(), "3");
  EXPECT_EQ(plain.high->to_string(), "2*N + 3");
  EXPECT_EQ(range_of(Index(kI) * sym("K") + Index(kK), extents).high->to_string(), "K*N - 1");
  EXPECT_EQ(range_of(mod(Index(kI), 7), extents).high->to_string(), "6");
  EXPECT_EQ(range_of(min(Index(kJ), Index(kI) + Index(7)), extents).high->to_string(), "2");
  EXPECT_FALSE(range_of(Index(kI) * (sym("N") - sym("M")), extents).high) << "sign unknown";
  EXPECT_FALSE(range_of(Index::table({0}, kI), extents).low);
}

TEST(Analysis, DivAndModVanishWhereTheExtentsAllow) {
  const Dim k = sym("K");
  const Index linear = Index(kI) * k + Index(kJ);
  EXPECT_EQ(simple(floor_div(linear, k), {sym("N"), k}), "i");
  EXPECT_EQ(simple(mod(linear, k), {sym("N"), k}), "j");
  EXPECT_EQ(simple(floor_div(linear, k), {sym("N"), k + 1}), "i + j/K") << "j may reach K";
  EXPECT_EQ(simple(floor_div(Index(kI) * 4 + Index(kJ), 4), {9, 4}), "i");
  EXPECT_EQ(simple(mod(Index(kI), 4), {4}), "i");
  EXPECT_EQ(simple(mod(Index(kI), 4), {5}), "i%4");
  EXPECT_EQ(simple(max(Index(kI), Index(0)), {5}), "i");
  EXPECT_EQ(simple(min(Index(kI), sym("N") - 1), {sym("N")}), "i");
  EXPECT_EQ(simple(min(Index(kI), Index(3)), {5}), "min(3, i)");
}

TEST(Analysis, ReshapesCollapse) {
  // [2, 3, 4] -> [6, 4]
  const Index merged = Index(kI) * 4 + Index(kJ);
  EXPECT_EQ(simple(floor_div(merged, 12), {6, 4}), "i/3");
  EXPECT_EQ(simple(mod(floor_div(merged, 4), 3), {6, 4}), "i%3");
  EXPECT_EQ(simple(mod(merged, 4), {6, 4}), "j");
  // [6, 4] -> [2, 3, 4]
  const Index apart = Index(kI) * 12 + Index(kJ) * 4 + Index(kK);
  EXPECT_EQ(simple(floor_div(apart, 4), {2, 3, 4}), "3*i + j");
  EXPECT_EQ(simple(mod(apart, 4), {2, 3, 4}), "k");
  // There and back, symbolic: [N, S, H] -> [N, S*H] -> [N, S, H].
  const Dim s = sym("S"), h = sym("H"), n = sym("N");
  const Index there = Index(kJ) * h + Index(kK);
  const Index back = Index(kI) * (s * h) + there;
  EXPECT_EQ(simple(floor_div(back, s * h), {n, s, h}), "i");
  EXPECT_EQ(simple(floor_div(mod(back, s * h), h), {n, s, h}), "j");
  EXPECT_EQ(simple(mod(mod(back, s * h), h), {n, s, h}), "k");
}

TEST(Analysis, QuotientAndRemainderRecombine) {
  const Index i = kI;
  EXPECT_EQ(simple(floor_div(i, 3) * 12 + mod(i, 3) * 4 + Index(kJ), {6, 4}), "4*i + j");
  EXPECT_EQ(simple(floor_div(i, 12) * 12 + mod(floor_div(i, 4), 3) * 4 + mod(i, 4), {100}), "i");
  const Dim k = sym("K");
  EXPECT_EQ(simple(floor_div(i, k) * k + mod(i, k), {sym("N")}), "i");
  EXPECT_EQ(simple(floor_div(i, 3) * 3 + mod(i, 4), {100}), "3*(i/3) + i%4");
}

TEST(Analysis, NestedDivisionsBecomeOne) {
  EXPECT_EQ(simple(floor_div(floor_div(Index(kI), 2) + Index(1), 3), {100}), "(i + 2)/6");
  EXPECT_EQ(simple(floor_div(mod(Index(kI), 12), 4), {100}), "(i/4)%3");
  EXPECT_EQ(simple(mod(mod(Index(kI), 12) + Index(kJ), 4), {100, 100}), "(i + j)%4");
}

TEST(Analysis, SimplifyKeepsEveryValue) {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::map<std::string, int64_t> symbols = {{"K", 3}, {"M", 2}};
  const std::vector<Dim> divisors = {2, 3, 4, 6, 12, sym("K"), sym("M"), sym("K") * sym("M")};
  const auto make = [&](auto&& self, int depth) -> Index {
    if (depth == 0) {
      const AxisId axes[] = {kI, kJ, kK};
      const std::vector<Dim> factors = {1, 2, 4, -1, sym("K"), sym("K") * sym("M")};
      Index sum(pick(5) - 2);
      for (int t = 0; t < 3; ++t)
        sum = sum + Index(axes[pick(3)]) * factors[static_cast<size_t>(pick(6))];
      return sum;
    }
    const Dim& d = divisors[static_cast<size_t>(pick(8))];
    switch (pick(5)) {
      case 0:
        return floor_div(self(self, depth - 1), d);
      case 1:
        return mod(self(self, depth - 1), d);
      case 2:
        return self(self, depth - 1) * (pick(5) - 1) + self(self, depth - 1);
      case 3:
        return min(self(self, depth - 1), self(self, depth - 1));
      default:
        return max(self(self, depth - 1), self(self, depth - 1));
    }
  };
  const std::vector<std::vector<Dim>> shapes = {
      {4, 3, 2}, {sym("M"), sym("K"), 5}, {sym("K") * sym("M"), 1, sym("K")}};
  for (int round = 0; round < 3000; ++round) {
    const Index index = make(make, pick(4));
    const std::vector<Dim>& extents = shapes[static_cast<size_t>(pick(3))];
    expect_same(index, simplify(index, extents), extents, symbols);
    if (HasFatalFailure()) return;
  }
}

TEST(Analysis, ExpressionsLoseGuardsThatAlwaysHold) {
  const TensorExpr expr = parsed(
      "(x: f32[N, 4]) -> (y) {\n"
      "  y: f32[i < N, j < 2] = select(at(i) < at(N), x[i, j + 2 | 0], 5)"
      " + x[(2*i + j)/2, j%2 | 0] + x[i - 1, 0 | 0]\n"
      "}");
  EXPECT_EQ(to_text(simplify(expr)),
            "(x: f32[N, 4]) -> (y) {\n"
            "  y: f32[i < N, j < 2] = x[i, j + 2] + x[i, j] + x[i - 1, 0 | 0]\n"
            "}\n");
}

TEST(Analysis, AccessRolesOfAConvolution) {
  const TensorExpr conv = parsed(
      "(x: f32[N, C, H], w: f32[M, C, R]) -> (y) {\n"
      "  y: f32[n < N, m < M, o < (H - R)/2 + 1] = sum[c < C, r < R]"
      " x[n, c, 2*o + r - 1 | 0] * w[m, c, r]\n"
      "}");
  const std::vector<TensorAccess> accesses = accesses_of(conv.stages[0]);
  ASSERT_EQ(accesses.size(), 2U);
  using R = AxisRole;
  EXPECT_EQ(accesses[0].roles,
            (std::vector<R>{R::kSpatial, R::kAbsent, R::kWindowed, R::kReduced, R::kWindowed}));
  EXPECT_TRUE(accesses[0].guarded);
  EXPECT_EQ(accesses[1].roles,
            (std::vector<R>{R::kAbsent, R::kSpatial, R::kAbsent, R::kReduced, R::kReduced}));
  EXPECT_EQ(to_string(footprint(accesses[0], conv.tensors[0], {1, 8, 4, 16, 3})), "[1, 16, 9]");
  EXPECT_EQ(to_string(footprint(accesses[1], conv.tensors[1], {1, 8, 4, sym("C"), 3})),
            "[8, C, 3]");
}

TEST(Analysis, IrregularAccesses) {
  const TensorExpr expr = parsed(
      "(x: f32[N, 8], idx: i64[M]) -> (y) {\n"
      "  y: f32[u < M, g < 8, d < 8] = x[idx[u], g/2] + x[d, d]\n"
      "}");
  const std::vector<TensorAccess> accesses = accesses_of(expr.stages[0]);
  ASSERT_EQ(accesses.size(), 3U);
  using R = AxisRole;
  EXPECT_EQ(accesses[0].roles, (std::vector<R>{R::kIrregular, R::kIrregular, R::kAbsent}));
  EXPECT_EQ(accesses[1].tensor, 1);
  EXPECT_EQ(accesses[1].roles, (std::vector<R>{R::kSpatial, R::kAbsent, R::kAbsent}));
  EXPECT_EQ(accesses[2].roles, (std::vector<R>{R::kAbsent, R::kAbsent, R::kIrregular}));
  EXPECT_EQ(to_string(footprint(accesses[0], expr.tensors[0], {2, 2, 2})), "[N, 8]");
}

TEST(Analysis, FlopsCountEachOperationOnce) {
  const TensorExpr matmul = parsed(
      "(a: f32[N, K], b: f32[K, M]) -> (y) {\n"
      "  y: f32[n < N, m < M] = sum[k < K] a[n, k] * b[k, m]\n}");
  EXPECT_EQ(flops_of(matmul), 2 * sym("N") * sym("M") * sym("K"));
  EXPECT_EQ(flops_of(parsed("(x: f32[N]) -> (y) { y: f32[i < N] = x[i] }")), Dim(0));
  EXPECT_EQ(flops_of(parsed("(x: f32[N]) -> (y) { y: f32[i < N] = (x[i] + 1) * (x[i] + 1) }")),
            2 * sym("N"));
  const TensorExpr scan = parsed(
      "(x: f32[T], z: f32[]) -> (y) {\n"
      "  scan t < T {\n    carry s: f32[] = z\n    n: f32[] = s[] + x[t]\n"
      "    final y = s\n    next s = n\n  }\n}");
  EXPECT_EQ(flops_of(scan), sym("T"));
}

Linearity linearity(const std::string& body, int operand = 0) {
  return linearity_in(
      parsed("(x: f32[N], w: f32[N], i64s: i64[N]) -> (y) { y: f32[i < N] = " + body + " }"),
      operand);
}

TEST(Analysis, Linearity) {
  EXPECT_EQ(linearity("w[i]"), Linearity::kIndependent);
  EXPECT_EQ(linearity("-x[i] * w[i] / 2 + x[0]"), Linearity::kLinear);
  EXPECT_EQ(linearity("x[i] + w[i]"), Linearity::kAffine);
  EXPECT_EQ(linearity("x[i] * x[0]"), Linearity::kNonlinear);
  EXPECT_EQ(linearity("w[i] / x[i]"), Linearity::kNonlinear);
  EXPECT_EQ(linearity("max(x[i], 0)"), Linearity::kNonlinear);
  EXPECT_EQ(linearity("x[i - 1 | 0]"), Linearity::kLinear);
  EXPECT_EQ(linearity("x[i - 1 | 1]"), Linearity::kAffine);
  EXPECT_EQ(linearity("select(w[i] < 0, x[i], 0)"), Linearity::kLinear);
  EXPECT_EQ(linearity("select(x[i] < 0, x[i], 0)"), Linearity::kNonlinear);
  EXPECT_EQ(linearity("x[i64s[i]]"), Linearity::kLinear);
  EXPECT_EQ(linearity("x[i64s[i]]", 2), Linearity::kNonlinear);
  EXPECT_EQ(linearity("f32(f64(x[i]))"), Linearity::kNonlinear) << "a narrowing cast rounds";
}

TEST(Analysis, LinearityThroughReductionsScattersAndScans) {
  EXPECT_EQ(linearity_in(parsed("(x: f32[N]) -> (y) { y: f32[] = sum[i < N] x[i] }"), 0),
            Linearity::kLinear);
  EXPECT_EQ(linearity_in(parsed("(x: f32[N]) -> (y) { y: f32[] = max[i < N] x[i] }"), 0),
            Linearity::kNonlinear);
  const std::string scatter =
      "(x: f32[N], z: f32[N]) -> (y) {\n  y: f32[i < N] = z[i] scatter add[u < N] [u] <- x[u]\n}";
  EXPECT_EQ(linearity_in(parsed(scatter), 0), Linearity::kAffine);
  const auto scan = [](const std::string& next) {
    return "(x: f32[T], w: f32[]) -> (y) {\n  zero: f32[] = 0\n  scan t < T {\n"
           "    carry s: f32[] = zero\n    n: f32[] = " +
           next + "\n    final y = s\n    next s = n\n  }\n}";
  };
  EXPECT_EQ(linearity_in(parsed(scan("s[] * w[] + x[t]")), 0), Linearity::kLinear);
  EXPECT_EQ(linearity_in(parsed(scan("s[] * w[] + x[t]")), 1), Linearity::kNonlinear);
  EXPECT_EQ(linearity_in(parsed(scan("s[] * x[t] + 1")), 0), Linearity::kNonlinear);
}

}  // namespace
}  // namespace hone
