#include <cstring>
#include <limits>

#include "expr/vm/dispatch.h"
#include "expr/vm/kernels.h"

namespace hone::vm {
namespace {

struct AndOp {
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) & bool(b)); }
};
struct OrOp {
  static Bool apply(Bool a, Bool b) { return make_bool(bool(a) | bool(b)); }
};

template <typename F, typename T>
void vertical(std::byte* acc_bytes, const std::byte* value_bytes, int64_t count) {
  T* __restrict acc = reinterpret_cast<T*>(acc_bytes);
  const T* __restrict value = reinterpret_cast<const T*>(value_bytes);
  for (int64_t i = 0; i < count; ++i) acc[i] = F::apply(acc[i], value[i]);
}

// Several partial results side by side: shorter chains of operations, and smaller errors.
template <typename F, typename T>
T combine_row(const T* value, int64_t cols) {
  constexpr int kLanes = 16;
  T lane[kLanes];
  if (cols < kLanes) {
    T result = value[0];
    for (int64_t c = 1; c < cols; ++c) result = F::apply(result, value[c]);
    return result;
  }
  for (int l = 0; l < kLanes; ++l) lane[l] = value[l];
  int64_t c = kLanes;
  for (; c + kLanes <= cols; c += kLanes)
    for (int l = 0; l < kLanes; ++l) lane[l] = F::apply(lane[l], value[c + l]);
  for (int l = 0; c < cols; ++c, ++l) lane[l] = F::apply(lane[l], value[c]);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] = F::apply(lane[l], lane[l + width]);
  return lane[0];
}

template <typename F, typename T>
void horizontal(std::byte* acc_bytes, const std::byte* value_bytes, int64_t rows, int64_t cols) {
  T* acc = reinterpret_cast<T*>(acc_bytes);
  const T* value = reinterpret_cast<const T*>(value_bytes);
  if (cols == 0) return;
  for (int64_t r = 0; r < rows; ++r)
    acc[r] = F::apply(acc[r], combine_row<F>(value + r * cols, cols));
}

// Whether a later value takes the place of the best one. NaN beats all, as in numpy.
template <bool Max, bool Last>
struct Beats {
  template <typename T>
  static bool apply(T value, T best) {
    if constexpr (Real<T>) {
      if (best != best) return Last && value != value;
      if (value != value) return true;
    }
    if (Last && value == best) return true;
    return Max ? best < value : value < best;
  }
};

template <typename B, typename T>
void arg_update(T& best, int64_t& position, T value, int64_t at) {
  if (position >= 0 && !B::apply(value, best)) return;
  best = value;
  position = at;
}
template <typename B, typename T>
void arg_vertical(ArgState acc, const std::byte* value, int64_t count, int64_t position) {
  for (int64_t i = 0; i < count; ++i)
    arg_update<B>(reinterpret_cast<T*>(acc.best)[i], acc.position[i],
                  reinterpret_cast<const T*>(value)[i], position);
}
template <typename B, typename T>
void arg_horizontal(ArgState acc, const std::byte* value, int64_t rows, int64_t cols,
                    int64_t first) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      arg_update<B>(reinterpret_cast<T*>(acc.best)[r], acc.position[r],
                    reinterpret_cast<const T*>(value)[r * cols + c], first + c);
}

template <typename F, typename T>
CombineKernels combiner(T identity) {
  CombineKernels kernels;
  kernels.vertical = vertical<F, T>;
  kernels.horizontal = horizontal<F, T>;
  std::memcpy(kernels.identity, &identity, sizeof(T));
  return kernels;
}
template <typename B, typename T>
CombineKernels arg_combiner() {
  CombineKernels kernels;
  kernels.arg_vertical = arg_vertical<B, T>;
  kernels.arg_horizontal = arg_horizontal<B, T>;
  return kernels;
}

template <typename T>
T lowest() {
  if constexpr (kIsField<T>)
    return {0};
  else if constexpr (Real<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}
template <typename T>
T highest() {
  if constexpr (kIsField<T>)
    return {kFieldPrime - 1};
  else if constexpr (Real<T>)
    return std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::max();
}

template <typename T>
CombineKernels number_combiner(Combiner kind) {
  switch (kind) {
    case Combiner::kSum:
      return combiner<Add, T>(T{});
    case Combiner::kProduct:
      return combiner<Mul, T>(T{1});
    case Combiner::kMax:
      return combiner<Max, T>(lowest<T>());
    case Combiner::kMin:
      return combiner<Min, T>(highest<T>());
    case Combiner::kArgMaxFirst:
      return arg_combiner<Beats<true, false>, T>();
    case Combiner::kArgMaxLast:
      return arg_combiner<Beats<true, true>, T>();
    case Combiner::kArgMinFirst:
      return arg_combiner<Beats<false, false>, T>();
    case Combiner::kArgMinLast:
      return arg_combiner<Beats<false, true>, T>();
    default:
      return {};
  }
}

}  // namespace

CombineKernels find_combiner(Combiner kind, ElementType type) {
  return with_type(type, [kind]<typename T>(T) -> CombineKernels {
    if constexpr (kIsBool<T>) {
      if (kind == Combiner::kAnd || kind == Combiner::kMin) return combiner<AndOp, T>(Bool{1});
      if (kind == Combiner::kOr || kind == Combiner::kMax) return combiner<OrOp, T>(Bool{0});
      return {};
    } else {
      return number_combiner<T>(kind);
    }
  });
}

bool is_arg(Combiner combiner) { return combiner >= Combiner::kArgMaxFirst; }

}  // namespace hone::vm
