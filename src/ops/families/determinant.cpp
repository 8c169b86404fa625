// Determinants of matrices.
#include <cmath>

#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

// Gauss with row exchanges: the product of the pivots, with a sign per exchange.
double determinant(std::vector<double> a, size_t n) {
  double result = 1;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      result = -result;
      for (size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
    }
    result *= a[k * n + k];
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return result;
}

std::vector<Buffer> run_det(const OpContext&, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  if (x.rank() < 2 || !is_float(x.type()) || x.dims().end()[-1] != x.dims().end()[-2])
    throw_invalid("the input must be square matrices of floats");
  const int64_t n = x.dims().back();
  const std::vector<int64_t> dims(x.dims().begin(), x.dims().end() - 2);
  std::vector<double> results;
  for (int64_t m = 0; m < checked_count(dims); ++m) {
    std::vector<double> matrix;
    for (int64_t i = 0; i < n * n; ++i) matrix.push_back(x.as_double(m * n * n + i));
    results.push_back(determinant(std::move(matrix), static_cast<size_t>(n)));
  }
  return {of_doubles(x.type(), dims, results)};
}

std::vector<TensorType> infer_det(OpContext& c) {
  const Shape& shape = c.shape(0);
  if (shape.size() < 2) throw_invalid("the input must be square matrices");
  return {{c.type(0), Shape(shape.begin(), shape.end() - 2)}};
}

}  // namespace

void register_determinant(OperatorTable& table) {
  table.add({.name = "Det",
             .since = 11,
             .doc = "The determinant of each matrix.",
             .inputs = "x",
             .opaque_reason = "elimination with row exchanges has no expression form",
             .kernel = run_det,
             .infer = infer_det,
             .example = "Det(x: f32[2, 3, 3])"});
}

}  // namespace hone
