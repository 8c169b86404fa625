// Codecs of f16 and bf16, inline so that loops over them vectorise: selects instead of branches.
#pragma once

#include <bit>
#include <cstdint>

namespace hone {

inline float decode_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t shifted = (bits & 0x7fffU) << 13;  // exponent and mantissa in f32's places
  const uint32_t exponent = shifted & 0x0f800000U;
  // Infinity and NaN move to f32's largest exponent, others from bias 15 to bias 127.
  const uint32_t normal = shifted + (exponent == 0x0f800000U ? 0x70000000U : 0x38000000U);
  // Subnormals are mantissa * 2^-24: borrow an implicit one and subtract it again.
  const float subnormal = std::bit_cast<float>(shifted + 0x38800000U) - 0x1p-14F;
  const uint32_t magnitude = exponent == 0 ? std::bit_cast<uint32_t>(subnormal) : normal;
  return std::bit_cast<float>(sign | magnitude);
}

// NaN becomes quiet and keeps the upper bits of its payload, as the F16C instructions do.
inline uint16_t encode_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  // Round to nearest even at bit 13; the carry moves into the exponent as it should.
  const uint32_t normal = (magnitude + 0x0fffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  // Adding 0.5 makes the sum's last bit worth 2^-24, f16's unit, so the addition itself rounds.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3f000000U;
  const uint32_t nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  uint32_t result = magnitude < 0x38800000U ? subnormal : normal;
  result = magnitude >= 0x47800000U ? 0x7c00U : result;  // 65536 and more: infinity
  result = magnitude > 0x7f800000U ? nan : result;
  return static_cast<uint16_t>(sign | result);
}

inline float decode_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t encode_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const uint32_t nan = ((bits >> 16) & 0x8000U) | 0x7fc0U;
  return static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

}  // namespace hone
