// Exact numbers in tensor expressions: rationals, powers of two and square roots, never doubles,
// so that a definition means the same in floats, in doubles, in a proof and in F_p.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

// sign * numerator / denominator * 2^exponent * sqrt(radicand), or an infinity, or NaN.
// Canonical: numerator and denominator odd and coprime, radicand square-free, zero is 0/1*2^0.
class Literal {
 public:
  enum class Kind : uint8_t { kFinite, kPositiveInfinity, kNegativeInfinity, kNan };

  Literal(int64_t value = 0);  // NOLINT: numbers are literals
  static Literal of_unsigned(uint64_t value);
  static Literal rational(int64_t numerator, int64_t denominator);
  static Literal of_double(double value);  // exactly that binary fraction
  static Literal infinity(bool negative = false);
  static Literal nan();
  // sqrt(value) of a non-negative rational.
  static Literal square_root(const Literal& value);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_finite() const { return kind_ == Kind::kFinite; }
  [[nodiscard]] bool is_zero() const { return is_finite() && numerator_ == 0; }
  [[nodiscard]] bool is(int64_t value) const { return *this == Literal(value); }
  [[nodiscard]] bool negative() const { return negative_; }
  [[nodiscard]] uint64_t numerator() const { return numerator_; }
  [[nodiscard]] uint64_t denominator() const { return denominator_; }
  [[nodiscard]] int exponent() const { return exponent_; }
  [[nodiscard]] uint64_t radicand() const { return radicand_; }

  [[nodiscard]] double to_double() const;               // nearest
  [[nodiscard]] std::optional<int64_t> to_int() const;  // when it is an integer in range
  // [-]N[pE][/D][*sqrt(R)]: "3", "-1/3", "5p-20" (5 * 2^-20), "3/4*sqrt(2)"; "inf", "-inf", "nan"
  [[nodiscard]] std::string to_string() const;
  [[nodiscard]] uint64_t hash() const;

  friend bool operator==(const Literal&, const Literal&) = default;
  // Exact results, or nothing where the form cannot hold them.
  friend std::optional<Literal> add(const Literal& a, const Literal& b);
  friend std::optional<Literal> multiply(const Literal& a, const Literal& b);
  friend std::optional<Literal> divide(const Literal& a, const Literal& b);
  [[nodiscard]] Literal negated() const;

 private:
  explicit Literal(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::kFinite;
  bool negative_ = false;
  uint64_t numerator_ = 0;
  uint64_t denominator_ = 1;
  int exponent_ = 0;
  uint64_t radicand_ = 1;
};

}  // namespace hone
