#include "expr/vm/dispatch.h"
#include "expr/vm/kernel_loops.h"

namespace hone::vm {
namespace {

struct Equal {
  template <typename T>
  static Bool apply(T a, T b) {
    return make_bool(a == b);
  }
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) == bool(b)); }
};
struct Less {
  template <typename T>
  static Bool apply(T a, T b) {
    return make_bool(a < b);
  }
};
struct LessEqual {
  template <typename T>
  static Bool apply(T a, T b) {
    return make_bool(a <= b);
  }
};
struct And {
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) & bool(b)); }
};
struct Or {
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) | bool(b)); }
};
struct Xor {
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) ^ bool(b)); }
};
struct Not {
  static Bool apply(Bool a) { return make_bool(!bool(a)); }
};
struct IsNan {
  template <Real T>
  static Bool apply(T a) {
    return make_bool(std::isnan(a));
  }
};
struct IsInf {
  template <Real T>
  static Bool apply(T a) {
    return make_bool(std::isinf(a));
  }
};

struct BitAnd {
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <Int T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct BitNot {
  template <Int T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
// Shifts by a negative or too large number give what is left after all bits are gone.
template <Int T>
bool shifts_out(T by) {
  return by < 0 || static_cast<uint64_t>(by) >= 8 * sizeof(T);
}
struct ShiftLeft {
  template <Int T>
  static T apply(T a, T by) {
    if (shifts_out(by)) return 0;
    return static_cast<T>(static_cast<Wrapping<T>>(a) << static_cast<unsigned>(by));
  }
};
struct ShiftRight {
  template <Int T>
  static T apply(T a, T by) {
    if (shifts_out(by)) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> static_cast<unsigned>(by));
  }
};

template <Int T>
KernelSet bit_kernel(Fn fn) {
  switch (fn) {
    case Fn::kBitAnd:
      return plain_binary<BitAnd, T>();
    case Fn::kBitOr:
      return plain_binary<BitOr, T>();
    case Fn::kBitXor:
      return plain_binary<BitXor, T>();
    case Fn::kBitNot:
      return unary<BitNot, T>();
    case Fn::kShiftLeft:
      return plain_binary<ShiftLeft, T>();
    case Fn::kShiftRight:
      return plain_binary<ShiftRight, T>();
    default:
      return {};
  }
}

KernelSet boolean_kernel(Fn fn) {
  switch (fn) {
    case Fn::kEq:
      return plain_binary<Equal, Bool>();
    case Fn::kAnd:
      return plain_binary<And, Bool>();
    case Fn::kOr:
      return plain_binary<Or, Bool>();
    case Fn::kXor:
      return plain_binary<Xor, Bool>();
    case Fn::kNot:
      return unary<Not, Bool>();
    default:
      return {};
  }
}

template <typename T>
KernelSet comparison(Fn fn) {
  switch (fn) {
    case Fn::kEq:
      return binary<Equal, T, Bool>();
    case Fn::kLt:
      return binary<Less, T, Bool>();
    case Fn::kLe:
      return binary<LessEqual, T, Bool>();
    default:
      return {};
  }
}

template <typename Bits>
void select_kernel(const KernelArgs& k) {
  const Bool* condition = input<Bool>(k, 0);
  const Bits* a = input<Bits>(k, 1);
  const Bits* b = input<Bits>(k, 2);
  Bits* __restrict out = output<Bits>(k);
  for (int64_t i = 0; i < k.count; ++i) out[i] = condition[i] ? a[i] : b[i];
}

}  // namespace

KernelSet find_logic(Fn fn, ElementType type) {
  return with_type(type, [fn]<typename T>(T) -> KernelSet {
    if (fn == Fn::kSelect) return {select_kernel<T>, nullptr, nullptr};
    if constexpr (kIsBool<T>) {
      return boolean_kernel(fn);
    } else {
      if constexpr (Real<T>) {
        if (fn == Fn::kIsNan) return unary<IsNan, T, Bool>();
        if (fn == Fn::kIsInf) return unary<IsInf, T, Bool>();
      }
      if constexpr (Int<T>)
        if (const KernelSet bits = bit_kernel<T>(fn); bits.arrays) return bits;
      return comparison<T>(fn);
    }
  });
}

KernelSet find_kernel(Fn fn, ElementType type) {
  for (const auto find : {find_arithmetic, find_logic, find_transcendental})
    if (const KernelSet found = find(fn, type); found.arrays) return found;
  return {};
}

}  // namespace hone::vm
