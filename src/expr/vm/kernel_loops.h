// Kernels made from functions of one element. Outputs never overlap inputs.
#pragma once

#include "expr/vm/kernels.h"

namespace hone::vm {

template <typename T>
const T* input(const KernelArgs& k, int i) {
  return reinterpret_cast<const T*>(k.in[i]);
}
template <typename T>
T* output(const KernelArgs& k) {
  return reinterpret_cast<T*>(k.out);
}

template <typename F, typename T, typename R>
void unary_kernel(const KernelArgs& k) {
  const T* __restrict a = input<T>(k, 0);
  R* __restrict out = output<R>(k);
  for (int64_t i = 0; i < k.count; ++i) out[i] = F::apply(a[i]);
}

template <typename F, typename T, typename R>
void binary_kernel(const KernelArgs& k) {
  const T* a = input<T>(k, 0);
  const T* b = input<T>(k, 1);
  R* __restrict out = output<R>(k);
  for (int64_t i = 0; i < k.count; ++i) out[i] = F::apply(a[i], b[i]);
}

template <typename F, typename T, typename R>
void binary_first_single(const KernelArgs& k) {
  const T a = *input<T>(k, 0);
  const T* b = input<T>(k, 1);
  R* __restrict out = output<R>(k);
  for (int64_t i = 0; i < k.count; ++i) out[i] = F::apply(a, b[i]);
}

template <typename F, typename T, typename R>
void binary_second_single(const KernelArgs& k) {
  const T* a = input<T>(k, 0);
  const T b = *input<T>(k, 1);
  R* __restrict out = output<R>(k);
  for (int64_t i = 0; i < k.count; ++i) out[i] = F::apply(a[i], b);
}

template <typename F, typename T, typename R = T>
KernelSet unary() {
  return {unary_kernel<F, T, R>, nullptr, nullptr};
}
template <typename F, typename T, typename R = T>
KernelSet binary() {
  return {binary_kernel<F, T, R>, binary_first_single<F, T, R>, binary_second_single<F, T, R>};
}
// For functions so slow, or types so rare, that variants for single operands are not worth it.
template <typename F, typename T, typename R = T>
KernelSet plain_binary() {
  return {binary_kernel<F, T, R>, nullptr, nullptr};
}

}  // namespace hone::vm
