#include "lower/winograd.h"

#include <map>
#include <optional>

#include "support/check.h"

namespace hone {
namespace {

Literal exact(const std::optional<Literal>& value) {
  HONE_CHECK(value.has_value(), "the entries of Winograd's matrices are literals");
  return *value;
}

// A sum of square roots with rational factors, by radicand: on the way to a matrix, entries need
// not be single literals.
class Surd {
 public:
  Surd(const Literal& value) { include(value); }  // NOLINT: literals are surds
  friend Surd operator+(Surd a, const Surd& b) {
    for (const auto& [radicand, part] : b.parts_) a.include(part);
    return a;
  }
  friend Surd operator*(const Surd& a, const Surd& b) {
    Surd result(0);
    for (const auto& [r, left] : a.parts_)
      for (const auto& [s, right] : b.parts_) result.include(exact(multiply(left, right)));
    return result;
  }
  [[nodiscard]] Literal literal() const {
    HONE_CHECK(parts_.size() <= 1, "the entries of Winograd's matrices are literals");
    return parts_.empty() ? Literal(0) : parts_.begin()->second;
  }

 private:
  void include(const Literal& value) {
    if (value.is_zero()) return;
    const auto [at, added] = parts_.try_emplace(value.radicand(), value);
    if (added) return;
    at->second = exact(add(at->second, value));
    if (at->second.is_zero()) parts_.erase(at);
  }
  std::map<uint64_t, Literal> parts_;
};

// prod (x - a) over all points but one; the coefficients, lowest first.
std::vector<Surd> product_without(const std::vector<Literal>& points, size_t except) {
  std::vector<Surd> product = {Literal(1)};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == except) continue;
    std::vector<Surd> next(product.size() + 1, Surd(0));
    for (size_t k = 0; k < product.size(); ++k) {
      next[k + 1] = next[k + 1] + product[k];
      next[k] = next[k] + product[k] * points[i].negated();
    }
    product = std::move(next);
  }
  return product;
}

Literal power(const Literal& base, int exponent) {
  Literal result(1);
  for (int i = 0; i < exponent; ++i) result = exact(multiply(result, base));
  return result;
}

// prod_{i != j} (a_j - a_i)
Literal denominator(const std::vector<Literal>& points, size_t j) {
  Surd result(1);
  for (size_t i = 0; i < points.size(); ++i)
    if (i != j) result = result * (Surd(points[j]) + Surd(points[i].negated()));
  return result.literal();
}

}  // namespace

WinogradMatrices winograd_matrices(int results, int taps, const std::vector<Literal>& points) {
  HONE_CHECK(results >= 1 && taps >= 1 && std::ssize(points) == results + taps - 2,
             "F(m, r) takes m + r - 2 points besides infinity");
  const size_t size = points.size() + 1;
  WinogradMatrices matrices{results, taps, LiteralMatrix(static_cast<size_t>(results)), {}, {}};
  for (size_t j = 0; j < size; ++j) {
    const bool at_infinity = j + 1 == size;
    auto& polynomial = matrices.input.emplace_back();
    for (const Surd& coefficient : product_without(points, j))
      polynomial.push_back(coefficient.literal());
    polynomial.resize(size);
    auto& taps_row = matrices.filter.emplace_back();
    const Literal scale = at_infinity ? Literal(1) : denominator(points, j);
    for (int k = 0; k < taps; ++k)
      taps_row.push_back(at_infinity ? Literal(k + 1 == taps ? 1 : 0)
                                     : exact(divide(power(points[j], k), scale)));
    for (int i = 0; i < results; ++i)
      matrices.output[static_cast<size_t>(i)].push_back(
          at_infinity ? Literal(i + 1 == results ? 1 : 0) : power(points[j], i));
  }
  return matrices;
}

WinogradMatrices winograd_matrices(int results) {
  HONE_CHECK(results == 2 || results == 4, "there are points for F(2, 3) and F(4, 3)");
  if (results == 2) return winograd_matrices(2, 3, {0, 1, -1});
  const Literal root = Literal::square_root(2);
  const Literal half = Literal::square_root(Literal::rational(1, 2));
  return winograd_matrices(4, 3, {0, half, half.negated(), root, root.negated()});
}

}  // namespace hone
