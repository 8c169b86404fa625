#include <array>

#include "expr/vm/dispatch.h"
#include "expr/vm/kernel_loops.h"

namespace hone::vm {
namespace {

template <auto F>
struct Function {
  template <Real T>
  static T apply(T a) {
    return F(a);
  }
};

template <typename T>
KernelSet real_function(Fn fn) {
  switch (fn) {
    case Fn::kExp:
      return unary<Function<[](auto x) { return std::exp(x); }>, T>();
    case Fn::kExpm1:
      return unary<Function<[](auto x) { return std::expm1(x); }>, T>();
    case Fn::kLog:
      return unary<Function<[](auto x) { return std::log(x); }>, T>();
    case Fn::kLog1p:
      return unary<Function<[](auto x) { return std::log1p(x); }>, T>();
    case Fn::kSqrt:
      return unary<Function<[](auto x) { return std::sqrt(x); }>, T>();
    case Fn::kErf:
      return unary<Function<[](auto x) { return std::erf(x); }>, T>();
    case Fn::kTanh:
      return unary<Function<[](auto x) { return std::tanh(x); }>, T>();
    case Fn::kSin:
      return unary<Function<[](auto x) { return std::sin(x); }>, T>();
    case Fn::kCos:
      return unary<Function<[](auto x) { return std::cos(x); }>, T>();
    case Fn::kTan:
      return unary<Function<[](auto x) { return std::tan(x); }>, T>();
    case Fn::kAsin:
      return unary<Function<[](auto x) { return std::asin(x); }>, T>();
    case Fn::kAcos:
      return unary<Function<[](auto x) { return std::acos(x); }>, T>();
    case Fn::kAtan:
      return unary<Function<[](auto x) { return std::atan(x); }>, T>();
    case Fn::kSinh:
      return unary<Function<[](auto x) { return std::sinh(x); }>, T>();
    case Fn::kCosh:
      return unary<Function<[](auto x) { return std::cosh(x); }>, T>();
    case Fn::kAsinh:
      return unary<Function<[](auto x) { return std::asinh(x); }>, T>();
    case Fn::kAcosh:
      return unary<Function<[](auto x) { return std::acosh(x); }>, T>();
    case Fn::kAtanh:
      return unary<Function<[](auto x) { return std::atanh(x); }>, T>();
    default:
      return {};
  }
}

template <int Arity>
Field random_value(const KernelArgs& k, int64_t i) {
  std::array<Field, Arity> args;
  for (int a = 0; a < Arity; ++a) args[static_cast<size_t>(a)] = input<Field>(k, a)[i];
  return random_element(k.seed, static_cast<uint64_t>(k.tag), args);
}
template <int Arity>
void random_function(const KernelArgs& k) {
  for (int64_t i = 0; i < k.count; ++i) output<Field>(k)[i] = random_value<Arity>(k, i);
}
void random_test(const KernelArgs& k) {
  for (int64_t i = 0; i < k.count; ++i)
    output<Bool>(k)[i] = make_bool(random_value<1>(k, i).value & 1);
}

void field_power(const KernelArgs& k) {
  for (int64_t i = 0; i < k.count; ++i)
    output<Field>(k)[i] = power(input<Field>(k, 0)[i], static_cast<uint64_t>(k.tag));
}

}  // namespace

KernelSet find_transcendental(Fn fn, ElementType type) {
  if (type == ElementType::kF32) return real_function<float>(fn);
  if (type == ElementType::kF64) return real_function<double>(fn);
  if (type != ElementType::kField || !info_of(fn).opaque_in_field) return {};
  if (info_of(fn).boolean_result) return {random_test, nullptr, nullptr};
  return {info_of(fn).arity == 1 ? random_function<1> : random_function<2>, nullptr, nullptr};
}

Kernel find_field_power() { return field_power; }

}  // namespace hone::vm
