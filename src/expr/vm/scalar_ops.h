// The meaning of scalar functions on one element of each compute type, as inline functions.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "expr/field.h"

namespace hone::vm {

// A byte that is false when 0, so that foreign data needs no check.
struct Bool {
  uint8_t byte = 0;
  explicit operator bool() const { return byte != 0; }
};
inline Bool make_bool(bool b) { return {static_cast<uint8_t>(b)}; }

// Integers compute in an unsigned type of at least 32 bits, where overflow wraps.
template <std::integral T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <typename T>
concept Real = std::floating_point<T>;
template <typename T>
concept Int = std::integral<T>;

struct Add {
  template <Real T>
  static T apply(T a, T b) {
    return a + b;
  }
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
  static Field apply(Field a, Field b) { return a + b; }
};
struct Sub {
  template <Real T>
  static T apply(T a, T b) {
    return a - b;
  }
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
  static Field apply(Field a, Field b) { return a - b; }
};
struct Mul {
  template <Real T>
  static T apply(T a, T b) {
    return a * b;
  }
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
  static Field apply(Field a, Field b) { return a * b; }
};
struct Neg {
  template <Real T>
  static T apply(T a) {
    return -a;
  }
  template <Int T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
  static Field apply(Field a) { return -a; }
};
// Toward zero.
struct Div {
  template <Real T>
  static T apply(T a, T b) {
    return a / b;
  }
  template <Int T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Neg::apply(a);
    return static_cast<T>(a / b);
  }
  static Field apply(Field a, Field b) { return a / b; }
};
struct Abs {
  template <Real T>
  static T apply(T a) {
    return std::fabs(a);
  }
  template <Int T>
  static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
// NaN wins, as in numpy.
struct Min {
  template <Real T>
  static T apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
  template <typename T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <Real T>
  static T apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
// Sign of the dividend.
struct Fmod {
  template <Real T>
  static T apply(T a, T b) {
    return std::fmod(a, b);
  }
  template <Int T>
  static T apply(T a, T b) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
// Sign of the divisor.
struct Mod {
  template <Real T>
  static T apply(T a, T b) {
    const T r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  }
  template <Int T>
  static T apply(T a, T b) {
    const T r = Fmod::apply(a, b);
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
};
struct Sign {
  template <Real T>
  static T apply(T a) {
    return a != a ? a : static_cast<T>((a > 0) - (a < 0));
  }
  template <Int T>
  static T apply(T a) {
    return static_cast<T>((a > 0) - (a < 0));
  }
};

// Toward zero; what no integer holds becomes the nearest one, NaN 0, then the bits wrap to T.
template <Int T, Real F>
T to_integer(F value) {
  if (value != value) return 0;
  if constexpr (std::is_same_v<T, uint64_t>) {
    if (value >= static_cast<F>(0x1p63))
      return value >= static_cast<F>(0x1p64) ? std::numeric_limits<uint64_t>::max()
                                             : static_cast<uint64_t>(value);
  }
  if (value >= static_cast<F>(0x1p63)) return static_cast<T>(std::numeric_limits<int64_t>::max());
  if (value < static_cast<F>(-0x1p63)) return static_cast<T>(std::numeric_limits<int64_t>::min());
  return static_cast<T>(static_cast<int64_t>(value));
}

struct Pow {
  template <Real T>
  static T apply(T a, T b) {
    return std::pow(a, b);
  }
  template <Int T>
  static T apply(T base, T exponent) {
    if (exponent < 0)
      return to_integer<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
    T result = 1;
    for (auto e = static_cast<std::make_unsigned_t<T>>(exponent); e != 0;
         e = static_cast<std::make_unsigned_t<T>>(e >> 1), base = Mul::apply(base, base))
      if (e & 1) result = Mul::apply(result, base);
    return result;
  }
};
// Rounding, identity on integers; halves to even.
template <auto F>
struct Rounding {
  template <Real T>
  static T apply(T a) {
    return static_cast<T>(F(a));
  }
  template <Int T>
  static T apply(T a) {
    return a;
  }
};

}  // namespace hone::vm
