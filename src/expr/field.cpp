#include "expr/field.h"

#include <cmath>

#include "support/hash.h"

namespace hone {
namespace {

// Names of the random constants; functions use small numbers (Fn).
enum RandomConstant : uint64_t {
  kInfinity = 0x10000,
  kNegativeInfinity,
  kNan,
  kMissingRoot,
};

Field power_of_two(int64_t exponent) {
  const int64_t reduced = ((exponent % 61) + 61) % 61;
  return {uint64_t{1} << reduced};
}

// p = 3 mod 4: if a is a square, a^((p+1)/4) is a root of it.
Field square_root(uint64_t radicand, uint64_t seed) {
  const Field a = field_of_unsigned(radicand);
  const Field root = power(a, (kFieldPrime + 1) / 4);
  if (root * root == a) return root;
  // -1 is no square, so -a is one: name the missing root after it.
  return random_element(seed, kMissingRoot, std::span(&a, 1));
}

}  // namespace

Field power(Field base, uint64_t exponent) {
  Field result{1};
  for (; exponent != 0; exponent >>= 1, base = base * base)
    if (exponent & 1) result = result * base;
  return result;
}

Field inverse(Field a) { return power(a, kFieldPrime - 2); }

Field field_of_unsigned(uint64_t value) { return fold_into_field(value); }

Field field_of(int64_t value) {
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const Field image = fold_into_field(magnitude);
  return value < 0 ? -image : image;
}

Field field_of(double value) {
  if (std::isnan(value)) return random_element(0, kNan, {});
  if (std::isinf(value)) return random_element(0, value > 0 ? kInfinity : kNegativeInfinity, {});
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // an integer times 2^-53
  const auto integer = static_cast<int64_t>(std::ldexp(mantissa, 53));
  return field_of(integer) * power_of_two(exponent - 53);
}

Field field_of(const Literal& value, uint64_t seed) {
  switch (value.kind()) {
    case Literal::Kind::kPositiveInfinity:
      return random_element(seed, kInfinity, {});
    case Literal::Kind::kNegativeInfinity:
      return random_element(seed, kNegativeInfinity, {});
    case Literal::Kind::kNan:
      return random_element(seed, kNan, {});
    case Literal::Kind::kFinite:
      break;
  }
  Field result = field_of_unsigned(value.numerator()) * power_of_two(value.exponent());
  if (value.denominator() != 1) result = result / field_of_unsigned(value.denominator());
  if (value.radicand() != 1) result = result * square_root(value.radicand(), seed);
  return value.negative() ? -result : result;
}

Field random_element(uint64_t seed, uint64_t function, std::span<const Field> args) {
  uint64_t h = combine_hash(seed, function);
  for (const Field& arg : args) h = combine_hash(h, arg.value);
  return fold_into_field(mix_hash(h ^ 0x5851f42d4c957f2dU));
}

}  // namespace hone
