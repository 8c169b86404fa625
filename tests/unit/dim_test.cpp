#include "tensor/dim.h"

#include <random>

#include <gtest/gtest.h>

#include "support/error.h"
#include "tensor/type.h"

namespace hone {
namespace {

const Dim N = Dim::symbol("N");
const Dim M = Dim::symbol("M");
const Dim H = Dim::symbol("H");

std::string failure_of(auto&& action) {
  try {
    (void)action();
  } catch (const Failure& failure) {
    return failure.error.reason;
  }
  return "";
}

TEST(Dim, EqualPolynomialsCompareEqual) {
  EXPECT_EQ((N + 1) * (N - 1), N * N - 1);
  EXPECT_EQ(N * M + M * N, 2 * M * N);
  EXPECT_EQ(((N + M) * H).hash(), (H * M + H * N).hash());
  EXPECT_EQ(N - N, Dim(0));
  EXPECT_TRUE((N - N).is_const());
  EXPECT_NE(N, M);
  EXPECT_NE(N * N, N);
  EXPECT_NE(N + 1, N);
}

TEST(Dim, CompareIsATotalOrder) {
  EXPECT_EQ(compare(N + M, M + N), 0);
  EXPECT_EQ(compare(N, M), -compare(M, N));
  EXPECT_LT(compare(Dim(1), Dim(2)), 0);
}

TEST(Dim, OverflowIsAFailure) {
  const Dim big = INT64_MAX;
  EXPECT_NE(failure_of([&] { return big + 1; }).find("64 bits"), std::string::npos);
  EXPECT_NE(failure_of([&] { return big * N * 2; }), "");
  EXPECT_NE(failure_of([&] { return Dim(INT64_MIN) - 1; }), "");
  EXPECT_NE(failure_of([&] { return floor_div(Dim(INT64_MIN), -1); }), "");
  EXPECT_NE(failure_of([&] { return (N * N).evaluate({{"N", INT64_MAX}}); }), "");
}

TEST(Dim, DivisionByZeroIsAFailure) {
  EXPECT_EQ(failure_of([] { return floor_div(N + 1, 0); }), "dimension N + 1 is divided by 0");
  EXPECT_NE(failure_of([] { return mod(N, 0); }), "");
  EXPECT_NE(failure_of([] { return floor_div(N, M).evaluate({{"N", 1}, {"M", 0}}); }), "");
}

TEST(Dim, FloorDivRoundsTowardMinusInfinity) {
  EXPECT_EQ(floor_div(Dim(7), 2), Dim(3));
  EXPECT_EQ(floor_div(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(floor_div(Dim(7), -2), Dim(-4));
  EXPECT_EQ(floor_div(Dim(-7), -2), Dim(3));
  EXPECT_EQ(mod(Dim(-7), 2), Dim(1));
  EXPECT_EQ(mod(Dim(7), -2), Dim(-1));
  EXPECT_EQ(ceil_div(Dim(7), 2), Dim(4));
  EXPECT_EQ(ceil_div(Dim(-7), 2), Dim(-3));
}

TEST(Dim, FloorDivCancels) {
  EXPECT_EQ(floor_div(4 * N + 8 * M, 4), N + 2 * M);
  EXPECT_EQ(floor_div(N + M, N + M), Dim(1));
  EXPECT_EQ(floor_div(N * M * 6, 2 * M), 3 * N);
  EXPECT_EQ(floor_div(N * M + H * M, M), N + H);
  EXPECT_EQ(floor_div((N + 1) * (M + 2), N + 1), M + 2);
  EXPECT_EQ(floor_div(N * H, M * H), floor_div(N, M));
  EXPECT_EQ(floor_div(-N, -M), floor_div(N, M));
}

TEST(Dim, FloorDivSplitsOffMultiples) {
  EXPECT_EQ(floor_div(4 * N + 3, 4), N);
  EXPECT_EQ(floor_div(4 * N - 1, 4), N - 1);
  EXPECT_EQ(floor_div(4 * N + M, 4), N + floor_div(M, 4));
  EXPECT_EQ(floor_div(N * M + 3, M), N + floor_div(Dim(3), M));
  EXPECT_EQ(floor_div(N - 1, 2) + 1, ceil_div(N, 2));
  EXPECT_EQ(floor_div(4 * N + 6, 8), floor_div(N + 1, 2));
}

TEST(Dim, FloorDivStaysWhereItMust) {
  EXPECT_NE(floor_div(N, 2) * 2, N);
  EXPECT_NE(floor_div(N + 1, 2), floor_div(N, 2));
  EXPECT_EQ(floor_div(N, 2).to_string(), "N/2");
  EXPECT_NE(floor_div(floor_div(N, 2) + floor_div(M, 2), 2), floor_div(N + M, 4));
}

TEST(Dim, NestedDivisionsMerge) {
  EXPECT_EQ(floor_div(floor_div(N, 2), 3), floor_div(N, 6));
  EXPECT_EQ(floor_div(floor_div(N, 2) + 1, 3), floor_div(N + 2, 6));
  EXPECT_EQ(floor_div(floor_div(N, M), 3), floor_div(N, 3 * M));
  EXPECT_EQ(mod(mod(N, 12), 4), mod(N, 4));
  EXPECT_NE(mod(mod(N, 6), 4), mod(N, 4));
}

TEST(Dim, BoundsDecideDivision) {
  EXPECT_EQ(floor_div(N, N + 1), Dim(0));
  EXPECT_EQ(mod(N, N + 1), N);
  EXPECT_EQ(floor_div(N - 1, N), Dim(0));
  EXPECT_FALSE(floor_div(Dim(1), N).is_const());  // 1 for N = 1
}

TEST(Dim, ModSimplifies) {
  EXPECT_EQ(mod(4 * N + 3, 4), Dim(3));
  EXPECT_EQ(mod(4 * N + 7, 4), Dim(3));
  EXPECT_EQ(mod(N * M, M), Dim(0));
  EXPECT_EQ(mod(2 * N, 4), 2 * mod(N, 2));
  EXPECT_EQ(mod(N, 1), Dim(0));
}

TEST(Dim, MinAndMaxOfComparable) {
  EXPECT_EQ(min(N + 1, N), N);
  EXPECT_EQ(max(N + 1, N), N + 1);
  EXPECT_EQ(max(N, 0), N);
  EXPECT_EQ(min(N + M, N), N);
  EXPECT_EQ(min(N, INT64_MAX), N);
  EXPECT_EQ(min(N - 1, INT64_MAX), N - 1);
  EXPECT_EQ(max(Dim(INT64_MIN), INT64_MAX), Dim(INT64_MAX));
  EXPECT_EQ(min(max(N - 3, 0), N), max(N - 3, 0));
  EXPECT_EQ(max(N, 1).to_string(), "max(1, N)");
}

TEST(Dim, MinAndMaxAreCommutativeAndAssociative) {
  EXPECT_EQ(min(N, M), min(M, N));
  EXPECT_EQ(min(min(N, M), H), min(N, min(H, M)));
  EXPECT_EQ(max(max(N, M), N), max(M, N));
  EXPECT_NE(min(N, M), max(N, M));
}

TEST(Dim, TextKeepsPrecedence) {
  EXPECT_EQ((2 * N + floor_div(H, 2) - 1).to_string(), "2*N + H/2 - 1");
  EXPECT_EQ(Dim(-3).to_string(), "-3");
  EXPECT_EQ((-N).to_string(), "-N");
  EXPECT_EQ((-floor_div(N, 2)).to_string(), "-(N/2)");
  EXPECT_EQ((M - floor_div(N, 2)).to_string(), "M - N/2");
  EXPECT_EQ((3 * floor_div(N, 2)).to_string(), "3*(N/2)");
  EXPECT_EQ((M * mod(N, 2)).to_string(), "M*(N%2)");
  EXPECT_EQ(floor_div(N + 1, 2).to_string(), "(N + 1)/2");
  EXPECT_EQ(floor_div(N, M + 1).to_string(), "N/(M + 1)");
  EXPECT_EQ(floor_div(H, M * N).to_string(), "H/(M*N)");
  EXPECT_EQ(min(N, 5).to_string(), "min(5, N)");
  EXPECT_EQ(Dim(INT64_MIN).to_string(), "-9223372036854775808");
}

TEST(Dim, SubstituteNormalises) {
  EXPECT_EQ(floor_div(N, 4).substitute({{"N", 4 * M + 3}}), M);
  EXPECT_EQ(min(N, M).substitute({{"N", M + 2}}), M);
  EXPECT_EQ((N * N - M).substitute({{"M", N * N}}), Dim(0));
  EXPECT_EQ((N + M).substitute({{"N", M}, {"M", N}}), N + M);
  EXPECT_EQ(mod(N, 3).substitute({{"N", 8}}), Dim(2));
}

TEST(Dim, EvaluateNeedsEverySymbol) {
  EXPECT_EQ((N * M + 1).evaluate({{"N", 2}, {"M", 3}}), 7);
  EXPECT_EQ((N * M + 1).evaluate({{"N", 2}}), std::nullopt);
  std::set<std::string> symbols;
  (floor_div(N, 2) * M).collect_symbols(symbols);
  EXPECT_EQ(symbols, (std::set<std::string>{"M", "N"}));
}

// The oracle: an expression built at random from Dims and, next to it, from plain numbers.
struct Sample {
  Dim dim;
  int64_t value;
};

class RandomExpressions : public testing::Test {
 protected:
  std::mt19937 random{7};
  std::map<std::string, int64_t> values;

  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }
  Sample leaf() {
    static const char* const names[] = {"N", "M", "H"};
    const char* name = names[pick(0, 2)];
    if (pick(0, 2) == 0) {
      const int64_t number = pick(-9, 9);
      return {number, number};
    }
    return {Dim::symbol(name), values[name]};
  }
  Sample expression(int depth) {
    if (depth == 0) return leaf();
    const Sample a = expression(depth - 1), b = expression(depth - 1);
    switch (pick(0, 7)) {
      case 0:
        return {a.dim - b.dim, a.value - b.value};
      case 1:
        return {a.dim * b.dim, a.value * b.value};
      case 2:
        return {min(a.dim, b.dim), std::min(a.value, b.value)};
      case 3:
        return {max(a.dim, b.dim), std::max(a.value, b.value)};
      case 4:
        if (b.value != 0) return {floor_div(a.dim, b.dim), floor_div(a.value, b.value)};
        return a;
      case 5:
        if (b.value != 0) return {mod(a.dim, b.dim), floor_mod(a.value, b.value)};
        return a;
      case 6:
        if (b.value != 0) return {ceil_div(a.dim, b.dim), -floor_div(-a.value, b.value)};
        return a;
      default:
        return {a.dim + b.dim, a.value + b.value};
    }
  }
};

TEST_F(RandomExpressions, AgreeWithPlainNumbers) {
  for (int round = 0; round < 10000; ++round) {
    // 0 is a legal value; expression() takes care that no divisor vanishes.
    for (const char* name : {"N", "M", "H"}) values[name] = pick(0, 12);
    const Sample sample = expression(static_cast<int>(pick(1, 4)));
    std::map<std::string, Dim> dims(values.begin(), values.end());
    ASSERT_EQ(sample.dim.evaluate(values), sample.value) << sample.dim.to_string();
    ASSERT_EQ(sample.dim.substitute(dims), Dim(sample.value)) << sample.dim.to_string();
    ASSERT_EQ(sample.dim.substitute({}), sample.dim) << sample.dim.to_string();
  }
}

TEST(Shape, TextAndCount) {
  const Shape shape = {N, 3, N + 1};
  EXPECT_EQ(to_string(shape), "[N, 3, N + 1]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count(shape), 3 * N * N + 3 * N);
  EXPECT_EQ(element_count({}), Dim(1));
  EXPECT_EQ(to_ints(shape), std::nullopt);
  EXPECT_EQ(to_ints(to_shape({2, 3})), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ((TensorType{ElementType::kF32, shape}.to_string()), "f32[N, 3, N + 1]");
  EXPECT_EQ((TensorType{ElementType::kF32, std::nullopt}.to_string()), "f32[?]");
}

TEST(Shape, UnifyBindsSymbols) {
  std::map<std::string, int64_t> bindings;
  EXPECT_TRUE(unify({2 * N, N, 3}, {8, 4, 3}, bindings));
  EXPECT_EQ(bindings.at("N"), 4);
  EXPECT_TRUE(unify({N}, {4}, bindings));
  EXPECT_FALSE(unify({N}, {5}, bindings));
  EXPECT_FALSE(unify({2 * N}, {7}, bindings));
  EXPECT_FALSE(unify({N, N}, {4}, bindings));
  EXPECT_TRUE(unify({M + 1}, {5}, bindings));  // M is unknown: no contradiction
}

}  // namespace
}  // namespace hone
