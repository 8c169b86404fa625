#include "tensor/float_formats.h"

#include <array>
#include <cmath>
#include <limits>

#include "tensor/buffer.h"

namespace hone {
namespace {

// A sign, an exponent and a mantissa in at most 8 bits.
struct SmallFormat {
  int bits, mantissa_bits, bias;
  uint8_t max;         // the largest finite magnitude
  uint8_t overflow;    // magnitude of what is too large when not saturating
  uint8_t nan;         // magnitude, or all bits when unsigned_zero
  bool unsigned_zero;  // the "UZ" formats: the code of -0 is their only NaN

  [[nodiscard]] constexpr uint32_t sign_bit() const { return 1U << (bits - 1); }
};

constexpr SmallFormat kE4M3FN{8, 3, 7, 0x7e, 0x7f, 0x7f, false};
constexpr SmallFormat kE4M3FNUZ{8, 3, 8, 0x7f, 0x80, 0x80, true};
constexpr SmallFormat kE5M2{8, 2, 15, 0x7b, 0x7c, 0x7e, false};
constexpr SmallFormat kE5M2FNUZ{8, 2, 16, 0x7f, 0x80, 0x80, true};
// No infinity and no NaN: too large is always the maximum. For NaN the ONNX text says 6, but its
// conformance tests (and ml_dtypes) say zero of the opposite sign; the tests decide.
constexpr SmallFormat kE2M1{4, 1, 1, 0x7, 0x7, 0x0, false};

constexpr const SmallFormat* format_of(ElementType type) {
  switch (type) {
    case ElementType::kF8E4M3FN:
      return &kE4M3FN;
    case ElementType::kF8E4M3FNUZ:
      return &kE4M3FNUZ;
    case ElementType::kF8E5M2:
      return &kE5M2;
    case ElementType::kF8E5M2FNUZ:
      return &kE5M2FNUZ;
    case ElementType::kF4E2M1:
      return &kE2M1;
    default:
      return nullptr;
  }
}

float decode_small(const SmallFormat& format, uint32_t code) {
  const uint32_t sign = code & format.sign_bit();
  const uint32_t magnitude = code & (format.sign_bit() - 1);
  const float nan = std::copysign(std::numeric_limits<float>::quiet_NaN(), sign != 0 ? -1.F : 1.F);
  if (format.unsigned_zero && sign != 0 && magnitude == 0) return nan;
  if (magnitude > format.max) {
    const bool infinite = magnitude == format.overflow && format.overflow != format.nan;
    return infinite ? (sign != 0 ? -INFINITY : INFINITY) : nan;
  }
  const uint32_t mantissa_mask = (1U << format.mantissa_bits) - 1;
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint32_t implicit = exponent == 0 ? 0 : mantissa_mask + 1;
  const auto mantissa = static_cast<float>((magnitude & mantissa_mask) | implicit);
  const float value =
      std::ldexp(mantissa, std::max(exponent, 1) - format.bias - format.mantissa_bits);
  return sign != 0 ? -value : value;
}

uint32_t encode_nan(const SmallFormat& format, bool negative) {
  if (format.unsigned_zero) return format.nan;
  if (format.nan == 0) return negative ? 0 : format.sign_bit();
  return format.nan | (negative ? format.sign_bit() : 0);
}

// The nearest magnitude, ties to even; may exceed format.max. `magnitude` is a finite float's.
uint32_t round_magnitude(const SmallFormat& format, uint32_t magnitude) {
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int least_exponent = 1 - format.bias;
  const int shift = 23 - format.mantissa_bits + std::max(0, least_exponent - exponent);
  if (shift > 24) return 0;  // below half of the least magnitude; floats' subnormals, too
  const uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  const uint32_t kept = mantissa >> shift;
  const uint32_t rest = mantissa & ((1U << shift) - 1), half = 1U << (shift - 1);
  const uint32_t rounded = kept + static_cast<uint32_t>(rest > half || (rest == half && kept % 2));
  if (exponent < least_exponent) return rounded;
  // The implicit one adds 1 to the exponent field, and so does a carry of the rounding.
  const auto field = static_cast<uint32_t>(exponent - least_exponent);
  return (field << format.mantissa_bits) + rounded;
}

uint32_t encode_small(const SmallFormat& format, float value, bool saturate) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const bool negative = bits >> 31;
  if (magnitude > 0x7f800000U) return encode_nan(format, negative);
  uint32_t code = magnitude == 0x7f800000U ? 0xffU : round_magnitude(format, magnitude);
  if (code > format.max) {
    if (format.unsigned_zero && !saturate) return format.nan;
    code = saturate ? format.max : format.overflow;
  }
  if (format.unsigned_zero && code == 0) return 0;
  return code | (negative ? format.sign_bit() : 0);
}

// E8M0: the code e means 2^(e - 127), 255 NaN.
float decode_power(uint32_t code) {
  if (code == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 0 ? 0x00400000U : code << 23);
}

// The sign is ignored, as in ONNX's reference: negative numbers are unspecified there. Zero counts
// as below the range.
uint32_t encode_power(float value, bool saturate, PowerRounding rounding) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(value) & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return 0xff;
  if (magnitude < 0x00400000U) return saturate ? 0 : 0xff;  // below 2^-127
  // 2^-127 <= value < 2^-126 is subnormal in f32: double it to have exponent and fraction there.
  const bool subnormal = magnitude < 0x00800000U;
  const uint32_t fraction = subnormal ? (magnitude & 0x3fffffU) << 1 : magnitude & 0x7fffffU;
  uint32_t code = subnormal ? 0 : magnitude >> 23;
  if (rounding == PowerRounding::kUp) code += static_cast<uint32_t>(fraction != 0);
  if (rounding == PowerRounding::kNearest) code += static_cast<uint32_t>(fraction >= 0x400000U);
  return code < 0xff ? code : saturate ? 0xfe : 0xff;
}

}  // namespace

float decode_float(ElementType type, uint16_t bits) {
  if (type == ElementType::kF16) return decode_f16(bits);
  if (type == ElementType::kBF16) return decode_bf16(bits);
  if (type == ElementType::kF8E8M0) return decode_power(bits & 0xffU);
  const SmallFormat* format = format_of(type);
  HONE_CHECK(format != nullptr, "not a narrow float type");
  return decode_small(*format, bits & (2 * format->sign_bit() - 1));
}

uint16_t encode_float(ElementType type, float value, bool saturate, PowerRounding rounding) {
  if (type == ElementType::kF16) return encode_f16(value);
  if (type == ElementType::kBF16) return encode_bf16(value);
  if (type == ElementType::kF8E8M0) {
    return static_cast<uint16_t>(encode_power(value, saturate, rounding));
  }
  const SmallFormat* format = format_of(type);
  HONE_CHECK(format != nullptr, "not a narrow float type");
  return static_cast<uint16_t>(encode_small(*format, value, saturate));
}

}  // namespace hone
