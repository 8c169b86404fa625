#include "codegen/small_floats.h"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include "support/check.h"
#include "tensor/buffer.h"

namespace hone {
namespace {

using enum ElementType;

// Words of 32 bits with operators, so that the formulas below read like the reference.
struct Words {
  Builder& b;
  Value* v;

  Words(Builder& builder, Value* value) : b(builder), v(value) {}
  Words(const Words&) = default;
  Words& operator=(const Words& other) {
    v = other.v;
    return *this;
  }
  [[nodiscard]] Words with(Value* value) const { return {b, value}; }
  [[nodiscard]] Words constant(uint32_t value) const {
    return with(Builder::integer(b.integers_like(v, 32), value));
  }
  Words operator+(const Words& o) const { return with(b.CreateAdd(v, o.v)); }
  Words operator-(const Words& o) const { return with(b.CreateSub(v, o.v)); }
  Words operator&(const Words& o) const { return with(b.CreateAnd(v, o.v)); }
  Words operator|(const Words& o) const { return with(b.CreateOr(v, o.v)); }
  Words operator<<(const Words& o) const { return with(b.CreateShl(v, o.v)); }
  Words operator>>(const Words& o) const { return with(b.CreateLShr(v, o.v)); }
  Words operator+(uint32_t o) const { return *this + constant(o); }
  Words operator-(uint32_t o) const { return *this - constant(o); }
  Words operator&(uint32_t o) const { return *this & constant(o); }
  Words operator|(uint32_t o) const { return *this | constant(o); }
  Words operator<<(uint32_t o) const { return *this << constant(o); }
  Words operator>>(uint32_t o) const { return *this >> constant(o); }
  [[nodiscard]] Value* is(uint32_t o) const { return b.CreateICmpEQ(v, constant(o).v); }
  [[nodiscard]] Value* above(uint32_t o) const { return b.CreateICmpUGT(v, constant(o).v); }
  [[nodiscard]] Words where(Value* condition, const Words& otherwise) const {
    return with(b.CreateSelect(condition, v, otherwise.v));
  }
  [[nodiscard]] Words where(Value* condition, uint32_t otherwise) const {
    return where(condition, constant(otherwise));
  }
  [[nodiscard]] Value* as_float() const { return b.CreateBitCast(v, b.like(v, b.getFloatTy())); }
  [[nodiscard]] Value* truncated(unsigned bits) const {
    return b.CreateTrunc(v, b.integers_like(v, bits));
  }
};

Words bits_of_float(Builder& b, Value* value) {
  return {b, b.CreateBitCast(value, b.integers_like(value, 32))};
}

Value* decode_half(Builder& b, Value* code) {
  if (b.target.half)
    return b.CreateFPExt(b.CreateBitCast(code, b.like(code, b.getHalfTy())),
                         b.like(code, b.getFloatTy()));
  const Words bits{b, b.CreateZExt(code, b.integers_like(code, 32))};
  const Words sign = (bits & 0x8000U) << 16;
  const Words shifted = (bits & 0x7fffU) << 13;
  const Words exponent = shifted & 0x0f800000U;
  const Words normal =
      shifted + bits.constant(0x70000000U).where(exponent.is(0x0f800000U), 0x38000000U);
  Value* borrowed = (shifted + 0x38800000U).as_float();
  const Words subnormal =
      bits_of_float(b, b.CreateFSub(borrowed, Builder::real(borrowed->getType(), 0x1p-14)));
  return (sign | subnormal.where(exponent.is(0), normal)).as_float();
}

Value* encode_half(Builder& b, Value* value) {
  if (b.target.half)
    return b.CreateBitCast(b.CreateFPTrunc(value, b.like(value, b.getHalfTy())),
                           b.integers_like(value, 16));
  const Words bits = bits_of_float(b, value);
  const Words sign = (bits >> 16) & 0x8000U;
  const Words magnitude = bits & 0x7fffffffU;
  const Words normal = (magnitude + 0x0fffU + ((magnitude >> 13) & 1U) - 0x38000000U) >> 13;
  Value* shifted = b.CreateFAdd(magnitude.as_float(), Builder::real(value->getType(), 0.5));
  const Words subnormal = bits_of_float(b, shifted) - 0x3f000000U;
  const Words nan = ((magnitude >> 13) & 0x3ffU) | 0x7e00U;
  Words result = normal.where(magnitude.above(0x387fffffU), subnormal);
  result = bits.constant(0x7c00U).where(magnitude.above(0x477fffffU), result);
  return (sign | nan.where(magnitude.above(0x7f800000U), result)).truncated(16);
}

Value* encode_brain(Builder& b, Value* value) {
  const Words bits = bits_of_float(b, value);
  const Words rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  const Words nan = ((bits >> 16) & 0x8000U) | 0x7fc0U;
  return nan.where((bits & 0x7fffffffU).above(0x7f800000U), rounded).truncated(16);
}

// A sign, an exponent and a mantissa in at most 8 bits: tensor/float_formats.cpp explains the
// fields.
struct Format {
  uint32_t bits, mantissa_bits, bias, max, overflow, nan;
  bool unsigned_zero;
};

Format format_of(ElementType type) {
  switch (type) {
    case kF8E4M3FN:
      return {8, 3, 7, 0x7e, 0x7f, 0x7f, false};
    case kF8E4M3FNUZ:
      return {8, 3, 8, 0x7f, 0x80, 0x80, true};
    case kF8E5M2:
      return {8, 2, 15, 0x7b, 0x7c, 0x7e, false};
    case kF8E5M2FNUZ:
      return {8, 2, 16, 0x7f, 0x80, 0x80, true};
    default:
      HONE_CHECK(type == kF4E2M1, "not an 8-bit float");
      return {4, 1, 1, 0x7, 0x7, 0x0, false};
  }
}

// The nearest magnitude, ties to even; may exceed format.max.
Words round_magnitude(const Format& format, const Words& magnitude) {
  Builder& b = magnitude.b;
  const uint32_t least = 127 + 1 - format.bias;  // exponent field of the least normal number
  const Words exponent = magnitude >> 23;
  Value* subnormal = b.CreateICmpULT(exponent.v, exponent.constant(least).v);
  const Words lack = (exponent.constant(least) - exponent).where(subnormal, 0);
  // 25 shifts out all bits and rounds to zero.
  const Words wanted = lack + (23 - format.mantissa_bits);
  const Words shift = wanted.constant(25).where(wanted.above(25), wanted);
  const Words mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  const Words one = mantissa.constant(1);
  const Words kept = mantissa >> shift;
  const Words rest = mantissa & ((one << shift) - 1);
  const Words half = one << (shift - 1);
  Value* odd = (kept & 1).is(1);
  Value* up =
      b.CreateOr(b.CreateICmpUGT(rest.v, half.v), b.CreateAnd(b.CreateICmpEQ(rest.v, half.v), odd));
  const Words rounded = kept + one.where(up, 0);
  const Words field = (exponent - least) << format.mantissa_bits;
  return rounded.where(subnormal, field + rounded);
}

Value* encode_byte(Builder& b, const Format& format, Value* value, bool saturate) {
  const Words bits = bits_of_float(b, value);
  const Words magnitude = bits & 0x7fffffffU;
  const uint32_t sign_bit = 1U << (format.bits - 1);
  const Words sign = (bits >> (32 - format.bits)) & sign_bit;
  const Words finite = round_magnitude(format, magnitude);
  const Words rounded = bits.constant(0xff).where(magnitude.is(0x7f800000U), finite);
  Value* large = rounded.above(format.max);
  const bool to_nan = format.unsigned_zero && !saturate;
  const Words code = bits.constant(saturate ? format.max : format.overflow).where(large, rounded);
  Words result = code | sign;
  if (format.unsigned_zero) result = bits.constant(0).where(code.is(0), result);
  if (to_nan) result = bits.constant(format.nan).where(large, result);
  Words nan = bits.constant(format.nan);
  if (!format.unsigned_zero) nan = format.nan == 0 ? bits.constant(sign_bit) - sign : nan | sign;
  return nan.where(magnitude.above(0x7f800000U), result).truncated(8);
}

// E8M0: 2^(code - 127), rounded up.
Value* encode_power(Builder& b, Value* value, bool saturate) {
  const Words magnitude = bits_of_float(b, value) & 0x7fffffffU;
  Value* subnormal = b.CreateICmpULT(magnitude.v, magnitude.constant(0x00800000U).v);
  const Words fraction = ((magnitude & 0x3fffffU) << 1).where(subnormal, magnitude & 0x7fffffU);
  const Words floor = magnitude.constant(0).where(subnormal, magnitude >> 23);
  const Words code = floor + magnitude.constant(0).where(fraction.is(0), 1);
  Words result = magnitude.constant(saturate ? 0xfe : 0xff).where(code.above(0xfe), code);
  Value* tiny = b.CreateICmpULT(magnitude.v, magnitude.constant(0x00400000U).v);
  result = magnitude.constant(saturate ? 0 : 0xff).where(tiny, result);
  return magnitude.constant(0xff).where(magnitude.above(0x7f800000U), result).truncated(8);
}

// All codes decoded, as a constant of the module.
llvm::GlobalVariable* decoded_codes(Builder& b, ElementType type) {
  const std::string name = "hone.decode." + std::string(name_of(type));
  if (auto* known = b.module.getNamedGlobal(name)) return known;
  std::vector<float> values;
  for (uint16_t code = 0; code < 256; ++code) values.push_back(decode_float(type, code));
  llvm::Constant* table = llvm::ConstantDataArray::get(b.getContext(), values);
  return new llvm::GlobalVariable(b.module, table->getType(), true,
                                  llvm::GlobalValue::PrivateLinkage, table, name);
}

Value* decode_byte(Builder& b, ElementType type, Value* code) {
  llvm::GlobalVariable* table = decoded_codes(b, type);
  Value* index = b.CreateZExt(code, b.integers_like(code, 64));
  const int lanes = Builder::lanes_of(code);
  Value* result = llvm::PoisonValue::get(b.like(code, b.getFloatTy()));
  for (int i = 0; i < lanes; ++i) {
    Value* at = b.CreateInBoundsGEP(b.getFloatTy(), table, b.lane(index, i));
    Value* one = b.CreateLoad(b.getFloatTy(), at);
    result = lanes == 1 ? one : b.CreateInsertElement(result, one, static_cast<uint64_t>(i));
  }
  return result;
}

}  // namespace

Value* decode_small_float(Builder& b, ElementType type, Value* code) {
  if (type == kF16) return decode_half(b, code);
  if (type == kBF16)
    return (Words{b, b.CreateZExt(code, b.integers_like(code, 32))} << 16).as_float();
  return decode_byte(b, type, code);
}

Value* encode_small_float(Builder& b, ElementType type, Value* value, bool saturate) {
  if (type == kF16) return encode_half(b, value);
  if (type == kBF16) return encode_brain(b, value);
  if (type == kF8E8M0) return encode_power(b, value, saturate);
  return encode_byte(b, format_of(type), value, saturate);
}

}  // namespace hone
