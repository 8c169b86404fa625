#include "expr/vm/dispatch.h"
#include "expr/vm/kernel_loops.h"
#include "support/hash.h"
#include "tensor/buffer.h"
#include "tensor/float_formats.h"

namespace hone::vm {
namespace {

// A field element has no size, so its integer is an arbitrary small one, the same each time.
template <Int T>
T small_integer(Field a) {
  return static_cast<T>(mix_hash(a.value) % 8);
}

template <typename To, typename From>
To cast_one(From a) {
  if constexpr (kIsBool<From>) {
    if constexpr (kIsBool<To>)
      return make_bool(bool(a));
    else if constexpr (kIsField<To>)
      return {uint64_t{bool(a)}};
    else
      return static_cast<To>(bool(a));
  } else if constexpr (kIsField<From>) {
    if constexpr (kIsField<To>)
      return a;
    else if constexpr (kIsBool<To>)
      return make_bool(a.value != 0);
    else if constexpr (Int<To>)
      return small_integer<To>(a);
    else
      return static_cast<To>(a.value);
  } else if constexpr (kIsBool<To>) {
    return make_bool(a != 0);
  } else if constexpr (kIsField<To>) {
    if constexpr (Real<From>)
      return field_of(static_cast<double>(a));
    else if constexpr (std::is_signed_v<From>)
      return field_of(static_cast<int64_t>(a));
    else
      return field_of_unsigned(a);
  } else if constexpr (Real<From> && Int<To>) {
    return to_integer<To>(a);
  } else {
    return static_cast<To>(a);
  }
}

template <typename From, typename To>
struct Cast {
  static To apply(From a) { return cast_one<To>(a); }
};

struct RoundToF16 {
  static float apply(float a) { return decode_f16(encode_f16(a)); }
};
struct RoundToBF16 {
  static float apply(float a) { return decode_bf16(encode_bf16(a)); }
};
void round_to_format(const KernelArgs& k) {
  const auto type = static_cast<ElementType>(k.tag & 0xff);
  const bool saturate = (k.tag & kWrap) == 0;
  for (int64_t i = 0; i < k.count; ++i)
    output<float>(k)[i] = decode_float(type, encode_float(type, input<float>(k, 0)[i], saturate));
}

// The lowest bits, extended again by sign or by zeros.
template <int Bits>
struct KeepBits {
  template <Int T>
  static T apply(T a) {
    const auto high = static_cast<uint8_t>(static_cast<uint8_t>(a) << (8 - Bits));
    return static_cast<T>(static_cast<T>(high) >> (8 - Bits));
  }
};

}  // namespace

Kernel find_cast(ElementType from, ElementType to) {
  return with_type(from, [to]<typename From>(From) -> Kernel {
    return with_type(
        to, []<typename To>(To) -> Kernel { return unary_kernel<Cast<From, To>, From, To>; });
  });
}

Kernel find_narrowing(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return unary_kernel<RoundToF16, float, float>;
    case ElementType::kBF16:
      return unary_kernel<RoundToBF16, float, float>;
    case ElementType::kI4:
      return unary_kernel<KeepBits<4>, int8_t, int8_t>;
    case ElementType::kU4:
      return unary_kernel<KeepBits<4>, uint8_t, uint8_t>;
    case ElementType::kI2:
      return unary_kernel<KeepBits<2>, int8_t, int8_t>;
    case ElementType::kU2:
      return unary_kernel<KeepBits<2>, uint8_t, uint8_t>;
    default:
      return is_float(type) && size_of(type) == 1 ? round_to_format : nullptr;
  }
}

ElementType compute_type(ElementType type, Numbers numbers) {
  if (is_float(type)) {
    if (numbers == Numbers::kDouble) return ElementType::kF64;
    if (numbers == Numbers::kField) return ElementType::kField;
    return type == ElementType::kF64 ? type : ElementType::kF32;
  }
  if (type == ElementType::kI4 || type == ElementType::kI2) return ElementType::kI8;
  if (type == ElementType::kU4 || type == ElementType::kU2) return ElementType::kU8;
  return type;
}

}  // namespace hone::vm
