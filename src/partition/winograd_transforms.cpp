#include "partition/winograd_transforms.h"

#include <array>

namespace hone {
namespace {

// One direction of a transform, as few operations on scalars.
std::vector<Scalar> apply(const LinearCode& code, const std::vector<Scalar>& values) {
  return run(code, values, [](const Literal& factor, const Scalar& a, int sign, const Scalar& b) {
    const bool negative = factor.negative();
    const Literal size = negative ? factor.negated() : factor;
    const Scalar scaled = size.is(1) ? a : a * Scalar::literal(ElementType::kF32, size);
    if (sign == 0) return negative ? -scaled : scaled;
    if (!negative) return sign > 0 ? scaled + b : scaled - b;
    return sign > 0 ? b - scaled : -(scaled + b);
  });
}

template <typename F>
ScalarGrid both_ways(const ScalarGrid& grid, F transform) {
  ScalarGrid first;
  for (const std::vector<Scalar>& line : grid) first.push_back(transform(line));
  ScalarGrid result(0);
  std::vector<std::vector<Scalar>> columns;
  for (size_t j = 0; j < first[0].size(); ++j) {
    std::vector<Scalar> column;
    for (const std::vector<Scalar>& line : first) column.push_back(line[j]);
    columns.push_back(transform(column));
  }
  for (size_t i = 0; i < columns[0].size(); ++i) {
    std::vector<Scalar> line;
    for (const std::vector<Scalar>& column : columns) line.push_back(column[i]);
    result.push_back(std::move(line));
  }
  return result;
}

}  // namespace

ScalarGrid transform(const LinearCode& code, const ScalarGrid& grid) {
  return both_ways(grid, [&](const std::vector<Scalar>& line) { return apply(code, line); });
}

Buffer transformed_weights(const Buffer& weights, int64_t channels, int64_t outputs,
                           const int64_t (&strides)[4], const LiteralMatrix& filter) {
  const size_t n = filter.size();
  std::vector<std::array<double, 3>> f;
  for (const std::vector<Literal>& row : filter)
    f.push_back({row[0].to_double(), row[1].to_double(), row[2].to_double()});
  Buffer result =
      Buffer::allocate(ElementType::kF32, {static_cast<int64_t>(n * n), channels, outputs});
  const auto from = weights.as<float>();
  const auto to = result.as_mutable<float>();
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      double g[3][3];
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 3; ++s)
          g[r][s] = static_cast<double>(from[static_cast<size_t>(k * strides[0] + c * strides[1] +
                                                                 r * strides[2] + s * strides[3])]);
      for (size_t i = 0; i < n; ++i) {
        double row[3];
        for (size_t s = 0; s < 3; ++s)
          row[s] = f[i][0] * g[0][s] + f[i][1] * g[1][s] + f[i][2] * g[2][s];
        for (size_t j = 0; j < n; ++j) {
          const double value = f[j][0] * row[0] + f[j][1] * row[1] + f[j][2] * row[2];
          to[static_cast<size_t>((static_cast<int64_t>(i * n + j) * channels + c) * outputs + k)] =
              static_cast<float>(value);
        }
      }
    }
  return result;
}

}  // namespace hone
