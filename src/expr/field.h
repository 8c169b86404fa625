// The prime field F_p, p = 2^61 - 1: exact arithmetic in which random points tell expressions
// apart. Elements are kept as canonical representatives in [0, p).
#pragma once

#include <cstdint>
#include <span>

#include "expr/literal.h"

namespace hone {

inline constexpr uint64_t kFieldPrime = (uint64_t{1} << 61) - 1;

struct Field {
  uint64_t value = 0;  // < kFieldPrime
  friend auto operator<=>(const Field&, const Field&) = default;
};

// p = 2^61 - 1, so 2^61 = 1: the high part of a number is added to its low part.
constexpr Field fold_into_field(uint64_t x) {
  x = (x & kFieldPrime) + (x >> 61);
  return {x >= kFieldPrime ? x - kFieldPrime : x};
}
constexpr Field fold_into_field(unsigned __int128 x) {
  const auto low = static_cast<uint64_t>(x) & kFieldPrime;
  const auto middle = static_cast<uint64_t>(x >> 61) & kFieldPrime;
  const auto high = static_cast<uint64_t>(x >> 122);
  return fold_into_field(low + middle + high);
}

constexpr Field operator+(Field a, Field b) {
  const uint64_t sum = a.value + b.value;
  return {sum >= kFieldPrime ? sum - kFieldPrime : sum};
}
constexpr Field operator-(Field a, Field b) {
  return {a.value >= b.value ? a.value - b.value : a.value + kFieldPrime - b.value};
}
constexpr Field operator-(Field a) { return Field{} - a; }
constexpr Field operator*(Field a, Field b) {
  return fold_into_field(static_cast<unsigned __int128>(a.value) * b.value);
}

[[nodiscard]] Field power(Field base, uint64_t exponent);
// Of 0: 0.
[[nodiscard]] Field inverse(Field a);
inline Field operator/(Field a, Field b) { return a * inverse(b); }

[[nodiscard]] Field field_of(int64_t value);
[[nodiscard]] Field field_of_unsigned(uint64_t value);
// The exact image of a binary fraction; infinities and NaN give fixed arbitrary elements.
[[nodiscard]] Field field_of(double value);
// Square roots that F_p lacks, infinities and NaN are constants drawn from the seed.
[[nodiscard]] Field field_of(const Literal& value, uint64_t seed);

// A random function: the same arguments give the same element, for one seed.
[[nodiscard]] Field random_element(uint64_t seed, uint64_t function, std::span<const Field> args);

}  // namespace hone
