#include "expr/literal.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/error.h"
#include "support/hash.h"

namespace hone {
namespace {

using Wide = unsigned __int128;

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

Wide gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide r = a % b;
    a = b;
    b = r;
  }
  return a;
}

// value = outside^2 * inside with `inside` square-free. Trial division: radicands are small.
void extract_square(uint64_t value, uint64_t& outside, uint64_t& inside) {
  outside = 1;
  inside = 1;
  for (uint64_t f = 2; f <= value / f; ++f) {
    while (value % (f * f) == 0) {
      outside *= f;
      value /= f * f;
    }
    if (value % f == 0) {
      inside *= f;
      value /= f;
    }
  }
  inside *= value;
}

struct Parts {
  bool negative;
  Wide numerator;
  Wide denominator;
  int exponent;
};

// Reduces to odd coprime numerator and denominator; false when they do not fit 64 bits.
bool reduce(Parts& p) {
  if (p.numerator == 0) {
    p = {false, 0, 1, 0};
    return true;
  }
  while ((p.numerator & 1) == 0) {
    p.numerator >>= 1;
    ++p.exponent;
  }
  while ((p.denominator & 1) == 0) {
    p.denominator >>= 1;
    --p.exponent;
  }
  const Wide g = gcd(p.numerator, p.denominator);
  p.numerator /= g;
  p.denominator /= g;
  return p.numerator <= kMax && p.denominator <= kMax;
}

}  // namespace

Literal::Literal(int64_t value) {
  *this = of_unsigned(value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  negative_ = value < 0;
}

Literal Literal::of_unsigned(uint64_t value) {
  Literal result(Kind::kFinite);
  if (value == 0) return result;
  result.exponent_ = std::countr_zero(value);
  result.numerator_ = value >> result.exponent_;
  return result;
}

Literal Literal::rational(int64_t numerator, int64_t denominator) {
  if (denominator == 0) throw_invalid("a literal is divided by zero");
  return *divide(Literal(numerator), Literal(denominator));
}

Literal Literal::of_double(double value) {
  if (std::isnan(value)) return nan();
  if (std::isinf(value)) return infinity(value < 0);
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(value), &exponent);
  Literal result = of_unsigned(static_cast<uint64_t>(std::ldexp(mantissa, 53)));
  if (result.is_zero()) return result;
  result.exponent_ += exponent - 53;
  result.negative_ = value < 0;
  return result;
}

Literal Literal::infinity(bool negative) {
  return Literal(negative ? Kind::kNegativeInfinity : Kind::kPositiveInfinity);
}

Literal Literal::nan() { return Literal(Kind::kNan); }

Literal Literal::square_root(const Literal& value) {
  if (!value.is_finite() || value.negative_ || value.radicand_ != 1)
    throw_invalid("a square root of " + value.to_string() + " is not an exact literal");
  // sqrt(n/d * 2^e) = sqrt(n*d*2^(e%2)) / d * 2^(e/2)
  const bool odd = (value.exponent_ & 1) != 0;
  const Wide product = Wide{value.numerator_} * value.denominator_ * (odd ? 2 : 1);
  if (product > (Wide{1} << 40)) throw_invalid("the literal under a square root is too large");
  if (product == 0) return Literal(0);
  uint64_t outside = 1;
  Literal result = value;
  extract_square(static_cast<uint64_t>(product), outside, result.radicand_);
  Parts p{false, outside, value.denominator_, (value.exponent_ - (odd ? 1 : 0)) / 2};
  reduce(p);
  result.numerator_ = static_cast<uint64_t>(p.numerator);
  result.denominator_ = static_cast<uint64_t>(p.denominator);
  result.exponent_ = p.exponent;
  return result;
}

double Literal::to_double() const {
  switch (kind_) {
    case Kind::kPositiveInfinity:
      return std::numeric_limits<double>::infinity();
    case Kind::kNegativeInfinity:
      return -std::numeric_limits<double>::infinity();
    case Kind::kNan:
      return std::numeric_limits<double>::quiet_NaN();
    case Kind::kFinite:
      break;
  }
  long double value = static_cast<long double>(numerator_) / static_cast<long double>(denominator_);
  if (radicand_ != 1) value *= std::sqrt(static_cast<long double>(radicand_));
  value = std::ldexp(value, exponent_);
  return static_cast<double>(negative_ ? -value : value);
}

std::optional<int64_t> Literal::to_int() const {
  if (!is_finite() || denominator_ != 1 || radicand_ != 1 || exponent_ < 0) return std::nullopt;
  if (numerator_ == 0) return 0;
  if (exponent_ > 63 || std::bit_width(numerator_) + exponent_ > 63) {
    const bool lowest = negative_ && numerator_ == 1 && exponent_ == 63;
    return lowest ? std::optional(std::numeric_limits<int64_t>::min()) : std::nullopt;
  }
  const auto magnitude = static_cast<int64_t>(numerator_ << exponent_);
  return negative_ ? -magnitude : magnitude;
}

std::string Literal::to_string() const {
  switch (kind_) {
    case Kind::kPositiveInfinity:
      return "inf";
    case Kind::kNegativeInfinity:
      return "-inf";
    case Kind::kNan:
      return "nan";
    case Kind::kFinite:
      break;
  }
  uint64_t top = numerator_;
  uint64_t bottom = denominator_;
  int exponent = exponent_;
  if (exponent > 0 && std::bit_width(top) + exponent <= 64) {
    top <<= exponent;
    exponent = 0;
  } else if (exponent < 0 && exponent >= -16 && std::bit_width(bottom) - exponent <= 64) {
    bottom <<= -exponent;
    exponent = 0;
  }
  std::string text = negative_ ? "-" : "";
  text += std::to_string(top);
  if (exponent != 0) text += "p" + std::to_string(exponent);
  if (bottom != 1) text += "/" + std::to_string(bottom);
  if (radicand_ != 1) text += "*sqrt(" + std::to_string(radicand_) + ")";
  return text;
}

uint64_t Literal::hash() const {
  uint64_t h = combine_hash(static_cast<uint64_t>(kind_) * 2 + (negative_ ? 1 : 0), numerator_);
  h = combine_hash(h, denominator_);
  h = combine_hash(h, static_cast<uint64_t>(exponent_));
  return combine_hash(h, radicand_);
}

Literal Literal::negated() const {
  Literal result = *this;
  switch (kind_) {
    case Kind::kPositiveInfinity:
      return infinity(true);
    case Kind::kNegativeInfinity:
      return infinity(false);
    case Kind::kNan:
      return result;
    case Kind::kFinite:
      break;
  }
  if (numerator_ != 0) result.negative_ = !negative_;
  return result;
}

std::optional<Literal> add(const Literal& a, const Literal& b) {
  if (!a.is_finite() || !b.is_finite()) return std::nullopt;
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.radicand_ != b.radicand_) return std::nullopt;
  const int exponent = std::min(a.exponent_, b.exponent_);
  const int shift_a = a.exponent_ - exponent;
  const int shift_b = b.exponent_ - exponent;
  if (shift_a > 30 || shift_b > 30 || a.denominator_ > (1U << 16) || b.denominator_ > (1U << 16))
    return std::nullopt;
  const Wide left = (Wide{a.numerator_} << shift_a) * b.denominator_;
  const Wide right = (Wide{b.numerator_} << shift_b) * a.denominator_;
  Parts p{a.negative_, 0, Wide{a.denominator_} * b.denominator_, exponent};
  if (a.negative_ == b.negative_) {
    p.numerator = left + right;
  } else {
    p.negative = left >= right ? a.negative_ : b.negative_;
    p.numerator = left >= right ? left - right : right - left;
  }
  if (!reduce(p)) return std::nullopt;
  if (p.numerator == 0) return Literal(0);
  Literal result = a;
  result.negative_ = p.negative;
  result.numerator_ = static_cast<uint64_t>(p.numerator);
  result.denominator_ = static_cast<uint64_t>(p.denominator);
  result.exponent_ = p.exponent;
  return result;
}

std::optional<Literal> multiply(const Literal& a, const Literal& b) {
  if (!a.is_finite() || !b.is_finite()) return std::nullopt;
  if (a.is_zero() || b.is_zero()) return Literal(0);
  // sqrt(r) * sqrt(s) = g * sqrt(r/g * s/g) with g = gcd(r, s), as both are square-free
  const uint64_t g = std::gcd(a.radicand_, b.radicand_);
  const Wide radicand = Wide{a.radicand_ / g} * (b.radicand_ / g);
  if (radicand > (Wide{1} << 40)) return std::nullopt;
  const Wide gn = gcd(a.numerator_, b.denominator_);
  const Wide gd = gcd(b.numerator_, a.denominator_);
  const Wide top = (a.numerator_ / gn) * (b.numerator_ / gd);
  const Wide bottom = (a.denominator_ / gd) * (b.denominator_ / gn);
  if (top > (Wide{1} << 100) || g > (1U << 20)) return std::nullopt;
  Parts p{a.negative_ != b.negative_, top * g, bottom, a.exponent_ + b.exponent_};
  if (!reduce(p)) return std::nullopt;
  Literal result = a;
  result.negative_ = p.negative;
  result.numerator_ = static_cast<uint64_t>(p.numerator);
  result.denominator_ = static_cast<uint64_t>(p.denominator);
  result.exponent_ = p.exponent;
  result.radicand_ = static_cast<uint64_t>(radicand);
  return result;
}

std::optional<Literal> divide(const Literal& a, const Literal& b) {
  if (!a.is_finite() || !b.is_finite() || b.is_zero()) return std::nullopt;
  // 1 / (n/d * 2^e * sqrt(r)) = d/n * 2^-e * sqrt(r) / r
  Literal inverse = b;
  Parts p{b.negative_, b.denominator_, Wide{b.numerator_} * b.radicand_, -b.exponent_};
  if (!reduce(p)) return std::nullopt;
  inverse.numerator_ = static_cast<uint64_t>(p.numerator);
  inverse.denominator_ = static_cast<uint64_t>(p.denominator);
  inverse.exponent_ = p.exponent;
  return multiply(a, inverse);
}

}  // namespace hone
