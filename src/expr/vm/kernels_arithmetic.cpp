#include "expr/vm/dispatch.h"
#include "expr/vm/kernel_loops.h"

namespace hone::vm {
namespace {

template <typename F, typename T>
KernelSet arithmetic() {
  if constexpr (sizeof(T) >= 4)
    return binary<F, T>();
  else
    return plain_binary<F, T>();
}

template <typename T>
KernelSet ring_kernel(Fn fn) {
  switch (fn) {
    case Fn::kAdd:
      return arithmetic<Add, T>();
    case Fn::kSub:
      return arithmetic<Sub, T>();
    case Fn::kMul:
      return arithmetic<Mul, T>();
    case Fn::kDiv:
      return arithmetic<Div, T>();
    case Fn::kNeg:
      return unary<Neg, T>();
    case Fn::kMin:
      return arithmetic<Min, T>();
    case Fn::kMax:
      return arithmetic<Max, T>();
    default:
      return {};
  }
}

template <typename T>
KernelSet number_kernel(Fn fn) {
  switch (fn) {
    case Fn::kAbs:
      return unary<Abs, T>();
    case Fn::kSign:
      return unary<Sign, T>();
    case Fn::kMod:
      return plain_binary<Mod, T>();
    case Fn::kFmod:
      return plain_binary<Fmod, T>();
    case Fn::kPow:
      return plain_binary<Pow, T>();
    case Fn::kFloor:
      return unary<Rounding<[](auto x) { return std::floor(x); }>, T>();
    case Fn::kCeil:
      return unary<Rounding<[](auto x) { return std::ceil(x); }>, T>();
    case Fn::kRound:
      return unary<Rounding<[](auto x) { return std::nearbyint(x); }>, T>();
    case Fn::kTrunc:
      return unary<Rounding<[](auto x) { return std::trunc(x); }>, T>();
    default:
      return ring_kernel<T>(fn);
  }
}

struct FloorDivide {
  static int64_t apply(int64_t a, int64_t b) {
    return Div::apply(Sub::apply(a, Mod::apply(a, b)), b);
  }
};

}  // namespace

KernelSet find_arithmetic(Fn fn, ElementType type) {
  return with_type(type, [fn]<typename T>(T) -> KernelSet {
    if constexpr (kIsBool<T>)
      return {};
    else if constexpr (kIsField<T>)
      return ring_kernel<T>(fn);
    else
      return number_kernel<T>(fn);
  });
}

Kernel find_floor_divide() { return binary_second_single<FloorDivide, int64_t, int64_t>; }

}  // namespace hone::vm
