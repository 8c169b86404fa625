// Conversion between element types. Every number passes through one of two wide forms, so that
// there are as many loops as types and not as many as pairs: integers through int64 (the bits of
// uint64 for kU64), floats through double. Neither step rounds; the last one does, once.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "support/error.h"
#include "tensor/buffer.h"
#include "tensor/float_formats.h"

namespace hone {
namespace {

using enum ElementType;

constexpr size_t kChunk = 512;  // wide values on the stack at a time: 4 KiB each

template <typename T>
const T* typed(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}

template <typename In, typename Out>
void copy_cast(const In* in, size_t n, Out* out) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(in[i]);
}

template <typename In, typename Out, typename Function>
void transform(const In* in, size_t n, Out* out, Function function) {
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Out>(function(in[i]));
}

// All codes of a one-byte float type, decoded.
const std::array<float, 256>& decoded_codes(ElementType type) {
  static constexpr std::array kTypes = {kF8E4M3FN,   kF8E4M3FNUZ, kF8E5M2,
                                        kF8E5M2FNUZ, kF8E8M0,     kF4E2M1};
  static const auto tables = [] {
    std::array<std::array<float, 256>, kElementTypeCount> all{};
    for (const ElementType each : kTypes) {
      auto& table = all[static_cast<size_t>(each)];
      for (uint16_t code = 0; code < 256; ++code) table[code] = decode_float(each, code);
    }
    return all;
  }();
  return tables[static_cast<size_t>(type)];
}

void load_integers(ElementType type, const std::byte* in, size_t n, int64_t* out) {
  switch (type) {
    case kI8:
    case kI4:
    case kI2:
      return copy_cast(typed<int8_t>(in), n, out);
    case kU8:
    case kU4:
    case kU2:
      return copy_cast(typed<uint8_t>(in), n, out);
    case kI16:
      return copy_cast(typed<int16_t>(in), n, out);
    case kU16:
      return copy_cast(typed<uint16_t>(in), n, out);
    case kI32:
      return copy_cast(typed<int32_t>(in), n, out);
    case kU32:
      return copy_cast(typed<uint32_t>(in), n, out);
    case kBool:
      return transform(typed<uint8_t>(in), n, out, [](uint8_t x) { return x != 0; });
    default:
      return copy_cast(typed<int64_t>(in), n, out);
  }
}

void load_floats(ElementType type, const std::byte* in, size_t n, double* out) {
  switch (type) {
    case kF32:
      return copy_cast(typed<float>(in), n, out);
    case kF64:
      return copy_cast(typed<double>(in), n, out);
    case kF16:
      return transform(typed<uint16_t>(in), n, out, decode_f16);
    case kBF16:
      return transform(typed<uint16_t>(in), n, out, decode_bf16);
    default: {
      const auto& table = decoded_codes(type);
      return transform(typed<uint8_t>(in), n, out, [&](uint8_t code) { return table[code]; });
    }
  }
}

// The upper bits are dropped; sub-byte types are stored sign- or zero-extended.
void store_integers(ElementType type, const int64_t* in, size_t n, std::byte* out) {
  auto* bytes = reinterpret_cast<uint8_t*>(out);
  switch (type) {
    case kI8:
    case kU8:
      return copy_cast(in, n, bytes);
    case kI16:
    case kU16:
      return copy_cast(in, n, reinterpret_cast<uint16_t*>(out));
    case kI32:
    case kU32:
      return copy_cast(in, n, reinterpret_cast<uint32_t*>(out));
    case kBool:
      return transform(in, n, bytes, [](int64_t x) { return x != 0; });
    case kI4:
      return transform(in, n, bytes, [](int64_t x) { return ((x & 15) ^ 8) - 8; });
    case kU4:
      return transform(in, n, bytes, [](int64_t x) { return x & 15; });
    case kI2:
      return transform(in, n, bytes, [](int64_t x) { return ((x & 3) ^ 2) - 2; });
    case kU2:
      return transform(in, n, bytes, [](int64_t x) { return x & 3; });
    default:
      return copy_cast(in, n, reinterpret_cast<int64_t*>(out));
  }
}

// Round to odd: toward zero, and the last bit set when inexact. A second rounding to a format at
// least two bits narrower then gives what one rounding would have given.
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  if (back == value || std::isnan(value)) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  return std::bit_cast<float>((std::fabs(back) > std::fabs(value) ? bits - 1 : bits) | 1U);
}

double round_to_odd(uint64_t magnitude) {
  const int excess = 11 - std::countl_zero(magnitude);  // bits over the 53 of a double
  if (excess <= 0) return static_cast<double>(magnitude);
  const uint64_t lost = magnitude & ((uint64_t{1} << excess) - 1);
  const uint64_t kept = (magnitude >> excess) | static_cast<uint64_t>(lost != 0);
  return static_cast<double>(kept << excess);
}

double integer_to_double(int64_t value, bool is_unsigned, bool is_final) {
  const auto bits = static_cast<uint64_t>(value);
  if (is_unsigned) return is_final ? static_cast<double>(bits) : round_to_odd(bits);
  if (is_final) return static_cast<double>(value);
  return value < 0 ? -round_to_odd(0 - bits) : round_to_odd(bits);
}

struct Rounding {
  bool saturate;
  PowerRounding power;
};

void store_floats(ElementType type, const double* in, size_t n, std::byte* out, Rounding rounding) {
  auto* halves = reinterpret_cast<uint16_t*>(out);
  switch (type) {
    case kF32:
      return copy_cast(in, n, reinterpret_cast<float*>(out));
    case kF64:
      return copy_cast(in, n, reinterpret_cast<double*>(out));
    case kF16:
      return transform(in, n, halves, [](double x) { return encode_f16(round_to_odd(x)); });
    case kBF16:
      return transform(in, n, halves, [](double x) { return encode_bf16(round_to_odd(x)); });
    default:
      return transform(in, n, reinterpret_cast<uint8_t*>(out), [&](double x) {
        return encode_float(type, round_to_odd(x), rounding.saturate, rounding.power);
      });
  }
}

// The cast instructions of x86: the least integer stands for all that does not fit.
int64_t truncate_to_32(double x) {
  return x > -0x1.00000002p31 && x < 0x1p31 ? static_cast<int32_t>(x) : INT32_MIN;
}
int64_t truncate_to_64(double x) {
  return x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : INT64_MIN;
}
// As compilers build the unsigned cast: the upper half is shifted down, converted, and put back.
int64_t truncate_to_u64(double x) {
  if (!(x >= 0x1p63)) return truncate_to_64(x);
  return std::bit_cast<int64_t>(static_cast<uint64_t>(truncate_to_64(x - 0x1p63)) ^ (1ULL << 63));
}

void truncate(ElementType type, const double* in, size_t n, int64_t* out) {
  switch (type) {
    case kBool:
      return transform(in, n, out, [](double x) { return x != 0; });
    case kU64:
      return transform(in, n, out, truncate_to_u64);
    case kI64:
    case kU32:
      return transform(in, n, out, truncate_to_64);
    default:
      return transform(in, n, out, truncate_to_32);
  }
}

void convert_chunk(ElementType from, const std::byte* in, ElementType to, std::byte* out, size_t n,
                   Rounding rounding) {
  std::array<int64_t, kChunk> integers;
  std::array<double, kChunk> floats;
  if (is_float(from)) {
    load_floats(from, in, n, floats.data());
    if (is_float(to)) return store_floats(to, floats.data(), n, out, rounding);
    truncate(to, floats.data(), n, integers.data());
    return store_integers(to, integers.data(), n, out);
  }
  load_integers(from, in, n, integers.data());
  if (!is_float(to)) return store_integers(to, integers.data(), n, out);
  transform(integers.data(), n, floats.data(),
            [=](int64_t value) { return integer_to_double(value, from == kU64, to == kF64); });
  store_floats(to, floats.data(), n, out, rounding);
}

// The pairs that models convert by the gigabyte: straight loops, no wide form.
bool convert_directly(const Buffer& in, ElementType to, std::byte* out) {
  const auto n = static_cast<size_t>(in.count());
  const auto* in_floats = typed<float>(in.data());
  const auto* in_halves = typed<uint16_t>(in.data());
  auto* out_floats = reinterpret_cast<float*>(out);
  auto* out_halves = reinterpret_cast<uint16_t*>(out);
  const auto is_pair = [&](ElementType a, ElementType b) { return in.type() == a && to == b; };
  if (is_pair(kF32, kF16)) {
    transform(in_floats, n, out_halves, encode_f16);
  } else if (is_pair(kF32, kBF16)) {
    transform(in_floats, n, out_halves, encode_bf16);
  } else if (is_pair(kF16, kF32)) {
    transform(in_halves, n, out_floats, decode_f16);
  } else if (is_pair(kBF16, kF32)) {
    transform(in_halves, n, out_floats, decode_bf16);
  } else {
    return false;
  }
  return true;
}

bool is_number(ElementType type) { return is_float(type) || is_integer(type) || type == kBool; }

// A copy of one element, aligned even where borrowed memory is not.
struct Element {
  alignas(8) std::array<std::byte, 8> bytes{};

  Element(const Buffer& buffer, int64_t i) {
    const ElementType type = buffer.type();
    HONE_CHECK(is_number(type) || type == kField, "the element is not a number");
    HONE_CHECK(i >= 0 && i < buffer.count(), "element index out of range");
    const size_t size = size_of(type);
    std::memcpy(bytes.data(), buffer.data() + static_cast<size_t>(i) * size, size);
  }
};

}  // namespace

Buffer convert(const Buffer& buffer, ElementType to, bool saturate, PowerRounding rounding) {
  const ElementType from = buffer.type();
  if (from == to) return buffer;
  HONE_CHECK(from != kField && to != kField, "field elements are made by the evaluator only");
  if (!is_number(from) || !is_number(to)) {
    throw_unsupported("no conversion from " + std::string(name_of(from)) + " to " +
                      std::string(name_of(to)));
  }
  if (!buffer.is_aligned()) return convert(buffer.aligned(), to, saturate, rounding);
  Buffer result = Buffer::allocate(to, buffer.dims());
  std::byte* out = result.mutable_data();
  if (convert_directly(buffer, to, out)) return result;
  const auto count = static_cast<size_t>(buffer.count());
  for (size_t i = 0; i < count; i += kChunk) {
    convert_chunk(from, buffer.data() + i * size_of(from), to, out + i * size_of(to),
                  std::min(kChunk, count - i), {saturate, rounding});
  }
  return result;
}

double Buffer::as_double(int64_t i) const {
  if (!is_float(type_)) {
    return integer_to_double(as_int(i), type_ == kU64 || type_ == kField, true);
  }
  double value;
  load_floats(type_, Element(*this, i).bytes.data(), 1, &value);
  return value;
}

int64_t Buffer::as_int(int64_t i) const {
  if (is_float(type_)) return truncate_to_64(as_double(i));
  int64_t value;
  load_integers(type_, Element(*this, i).bytes.data(), 1, &value);
  return value;
}

}  // namespace hone
