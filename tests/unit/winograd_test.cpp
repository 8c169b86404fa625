#include "lower/winograd.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expr/field.h"

namespace hone {
namespace {

// One kind of numbers, for matrices, code and convolutions alike.
template <typename T>
struct Numbers;
template <>
struct Numbers<Field> {
  static Field of(const Literal& value) { return field_of(value, 1); }
  static Field random(std::mt19937_64& random) { return field_of_unsigned(random()); }
};
template <>
struct Numbers<float> {
  static float of(const Literal& value) { return static_cast<float>(value.to_double()); }
  static float random(std::mt19937_64& random) {
    return std::uniform_real_distribution<float>(-1, 1)(random);
  }
};

template <typename T>
using Vector = std::vector<T>;
template <typename T>
using Grid = std::vector<std::vector<T>>;

template <typename T>
Vector<T> times(const LiteralMatrix& matrix, const Vector<T>& x) {
  Vector<T> y;
  for (const auto& row : matrix) {
    T sum = Numbers<T>::of(0);
    for (size_t j = 0; j < row.size(); ++j) sum = sum + Numbers<T>::of(row[j]) * x[j];
    y.push_back(sum);
  }
  return y;
}

template <typename T>
Vector<T> times(const LinearCode& code, const Vector<T>& x) {
  return run(code, x, [](const Literal& factor, const T& a, int sign, const T& b) {
    const T product = Numbers<T>::of(factor) * a;
    return sign == 0 ? product : sign > 0 ? product + b : product - b;
  });
}

// matrix * grid * transposed matrix
template <typename T, typename Matrix>
Grid<T> both_ways(const Matrix& matrix, const Grid<T>& grid) {
  const auto once = [&](const Grid<T>& lines) {
    Grid<T> columns;
    for (const Vector<T>& line : lines) columns.push_back(times(matrix, line));
    Grid<T> result(columns[0].size());
    for (const Vector<T>& column : columns)
      for (size_t i = 0; i < column.size(); ++i) result[i].push_back(column[i]);
    return result;
  };
  return once(once(grid));
}

template <typename T>
Grid<T> random_grid(size_t size, std::mt19937_64& random) {
  Grid<T> grid(size, Vector<T>(size));
  for (auto& row : grid)
    for (T& value : row) value = Numbers<T>::random(random);
  return grid;
}

template <typename T>
Vector<T> random_vector(size_t size, std::mt19937_64& random) {
  Vector<T> values(size);
  for (T& value : values) value = Numbers<T>::random(random);
  return values;
}

void expect_exact(const WinogradMatrices& w) {
  std::mt19937_64 random(7);
  const auto taps = static_cast<size_t>(w.taps);
  const auto results = static_cast<size_t>(w.results);
  const auto d = random_vector<Field>(taps + results - 1, random);
  const auto g = random_vector<Field>(taps, random);
  const auto transformed = times(w.filter, g);
  auto products = times(linear_code(w.input), d);
  EXPECT_EQ(products, times(w.input, d));
  for (size_t i = 0; i < products.size(); ++i) products[i] = products[i] * transformed[i];
  const auto y = times(linear_code(w.output), products);
  EXPECT_EQ(y, times(w.output, products));
  for (size_t i = 0; i < results; ++i) {
    Field expected{};
    for (size_t k = 0; k < taps; ++k) expected = expected + d[i + k] * g[k];
    EXPECT_EQ(y[i], expected) << "F(" << results << ", " << taps << ")[" << i << "]";
  }
}

TEST(Winograd, IsExactOverAField) {
  expect_exact(winograd_matrices(2));
  expect_exact(winograd_matrices(4));
  expect_exact(winograd_matrices(4, 3, {0, 1, -1, 2, -2}));
  expect_exact(winograd_matrices(2, 5, {0, 1, -1, 2, -2}));
  expect_exact(winograd_matrices(3, 2, {0, 1, -1}));
  expect_exact(winograd_matrices(1, 3, {1, -1}));
  expect_exact(winograd_matrices(3, 1, {1, -1}));
  expect_exact(winograd_matrices(
      6, 3, {0, 1, -1, 2, -2, Literal::rational(1, 2), Literal::rational(-1, 2)}));
  expect_exact(winograd_matrices(2, 2, {Literal::rational(3, 7), -5}));
}

TEST(Winograd, IsExactInTwoDimensions) {
  std::mt19937_64 random(3);
  for (const int m : {2, 4}) {
    const WinogradMatrices w = winograd_matrices(m);
    const auto size = static_cast<size_t>(m);
    const auto d = random_grid<Field>(size + 2, random);
    const auto g = random_grid<Field>(3, random);
    auto products = both_ways(linear_code(w.input), d);
    const auto transformed = both_ways(w.filter, g);
    for (size_t i = 0; i < products.size(); ++i)
      for (size_t j = 0; j < products.size(); ++j)
        products[i][j] = products[i][j] * transformed[i][j];
    const auto y = both_ways(linear_code(w.output), products);
    for (size_t i = 0; i < size; ++i)
      for (size_t j = 0; j < size; ++j) {
        Field expected{};
        for (size_t r = 0; r < 3; ++r)
          for (size_t s = 0; s < 3; ++s) expected = expected + d[i + r][j + s] * g[r][s];
        EXPECT_EQ(y[i][j], expected);
      }
  }
}

TEST(Winograd, MatricesAreTheKnownOnes) {
  const WinogradMatrices w = winograd_matrices(2);
  const Literal half = Literal::rational(1, 2);
  EXPECT_EQ(w.input, (LiteralMatrix{{-1, 0, 1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}}));
  EXPECT_EQ(w.output, (LiteralMatrix{{1, 1, 1, 0}, {0, 1, -1, 1}}));
  EXPECT_EQ(
      w.filter,
      (LiteralMatrix{{-1, 0, 0}, {half, half, half}, {half, half.negated(), half}, {0, 0, 1}}));
}

// Additions, multiplications and fused multiply-adds count one each.
TEST(Winograd, TransformsTakeFewOperations) {
  const auto operations = [](const LiteralMatrix& matrix) {
    return linear_code(matrix).steps.size();
  };
  const auto multiplications = [](const LiteralMatrix& m) {
    return linear_code(m).multiplications();
  };
  const WinogradMatrices two = winograd_matrices(2);
  EXPECT_EQ(operations(two.input), 4U);
  EXPECT_EQ(operations(two.output), 4U);
  EXPECT_EQ(multiplications(two.input) + multiplications(two.output), 0);
  const WinogradMatrices four = winograd_matrices(4);
  EXPECT_EQ(operations(four.input), 12U);
  EXPECT_EQ(operations(four.output), 12U);
  EXPECT_EQ(multiplications(four.input), 10);
  EXPECT_EQ(multiplications(four.output), 6);
}

TEST(Winograd, CodeSharesEvenAndOddParts) {
  EXPECT_EQ(to_text(linear_code(winograd_matrices(4).output)), R"(t6 = x1 + x2
t7 = x3 + x4
t8 = x1 - x2
t9 = x3 - x4
t10 = x0 + t6
t11 = t7 + t10
t12 = 1/2*sqrt(2)*t8
t13 = 1*sqrt(2)*t9 + t12
t14 = 1/2*t6
t15 = 2*t7 + t14
t16 = 1/4*sqrt(2)*t8 + x5
t17 = 2*sqrt(2)*t9 + t16
y0 = t11
y1 = t13
y2 = t15
y3 = t17
)");
}

TEST(Winograd, CodeOfAnyMatrixIsRight) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    const size_t rows = 1 + random() % 6;
    const size_t columns = 1 + random() % 6;
    LiteralMatrix matrix(rows, std::vector<Literal>(columns));
    for (auto& row : matrix) {
      for (Literal& entry : row)
        if (random() % 3 != 0)
          entry = Literal::rational(static_cast<int64_t>(random() % 7) - 3,
                                    1 + static_cast<int64_t>(random() % 2));
      row[random() % columns] = 1;
    }
    const auto x = random_vector<Field>(columns, random);
    const LinearCode code = linear_code(matrix);
    EXPECT_EQ(times(code, x), times(matrix, x)) << to_text(code);
    size_t plain = 0;
    for (const auto& row : matrix)
      plain += columns - static_cast<size_t>(std::ranges::count_if(row, &Literal::is_zero));
    EXPECT_LE(code.steps.size(), plain);
  }
}

// The mean error of F(m x m, 3 x 3) in floats over many channels, relative to the results.
double float_error(const WinogradMatrices& w) {
  std::mt19937_64 random(5);
  const auto size = static_cast<size_t>(w.results);
  const LinearCode input = linear_code(w.input);
  const LinearCode output = linear_code(w.output);
  double error = 0;
  double norm = 0;
  for (int tile = 0; tile < 20; ++tile) {
    Grid<float> sums(size + 2, Vector<float>(size + 2));
    Grid<double> expected(size, Vector<double>(size));
    for (int channel = 0; channel < 64; ++channel) {
      const auto d = random_grid<float>(size + 2, random);
      const auto g = random_grid<float>(3, random);
      const auto v = both_ways(input, d);
      const auto u = both_ways(w.filter, g);
      for (size_t i = 0; i < v.size(); ++i)
        for (size_t j = 0; j < v.size(); ++j) sums[i][j] = std::fma(u[i][j], v[i][j], sums[i][j]);
      for (size_t i = 0; i < size; ++i)
        for (size_t j = 0; j < size; ++j)
          for (size_t r = 0; r < 3; ++r)
            for (size_t s = 0; s < 3; ++s)
              expected[i][j] += static_cast<double>(d[i + r][j + s]) * static_cast<double>(g[r][s]);
    }
    const auto y = both_ways(output, sums);
    for (size_t i = 0; i < size; ++i)
      for (size_t j = 0; j < size; ++j) {
        error += std::abs(static_cast<double>(y[i][j]) - expected[i][j]);
        norm += std::abs(expected[i][j]);
      }
  }
  return error / norm;
}

TEST(Winograd, RoundsLittle) {
  const double two = float_error(winograd_matrices(2));
  const double four = float_error(winograd_matrices(4));
  const double integers = float_error(winograd_matrices(4, 3, {0, 1, -1, 2, -2}));
  EXPECT_LT(two, 3e-7);
  EXPECT_LT(four, 1.5e-6);
  EXPECT_LT(four, 0.8 * integers) << two << " " << four << " " << integers;
}

}  // namespace
}  // namespace hone
