#include "codegen/storage.h"

#include "codegen/small_floats.h"
#include "machine/element_support.h"
#include "support/check.h"

namespace hone {
namespace {

using enum ElementType;

bool is_small_float(ElementType type) { return is_float(type) && type != kF32 && type != kF64; }

// The lowest bits, extended again by sign or by zeros.
Value* keep_bits(Builder& b, ElementType type, Value* value) {
  const int excess = 8 - bits_of(type);
  llvm::Constant* by = Builder::integer(value->getType(), excess);
  Value* high = b.CreateShl(value, by);
  return is_signed_int(type) ? b.CreateAShr(high, by) : b.CreateLShr(high, by);
}

bool is_sub_byte(ElementType type) { return is_integer(type) && bits_of(type) < 8; }

}  // namespace

ElementType compute_element(ElementType type) {
  if (is_small_float(type)) return kF32;
  if (is_sub_byte(type)) return is_signed_int(type) ? kI8 : kU8;
  return type;
}

llvm::Type* value_type(llvm::LLVMContext& context, ElementType type, int lanes) {
  HONE_CHECK(can_emit(type), "no machine type for " + std::string(name_of(type)));
  llvm::Type* element = nullptr;
  switch (compute_element(type)) {
    case kF32:
      element = llvm::Type::getFloatTy(context);
      break;
    case kF64:
      element = llvm::Type::getDoubleTy(context);
      break;
    case kBool:
      element = llvm::Type::getInt1Ty(context);
      break;
    default:
      element = llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * size_of(type)));
  }
  return Builder::vector_of(element, lanes);
}

llvm::Type* storage_type(llvm::LLVMContext& context, ElementType type, int lanes) {
  if (type == kF32 || type == kF64) return value_type(context, type, lanes);
  const auto bits = static_cast<unsigned>(8 * size_of(type));
  return Builder::vector_of(llvm::Type::getIntNTy(context, bits), lanes);
}

Value* decode(Builder& b, ElementType type, Value* stored) {
  if (type == kBool) return b.CreateICmpNE(stored, llvm::Constant::getNullValue(stored->getType()));
  return is_small_float(type) ? decode_small_float(b, type, stored) : stored;
}

Value* encode(Builder& b, ElementType type, Value* value) {
  if (type == kBool) return b.CreateZExt(value, b.integers_like(value, 8));
  if (is_small_float(type)) return encode_small_float(b, type, value, false);
  return is_sub_byte(type) ? keep_bits(b, type, value) : value;
}

Value* narrow(Builder& b, ElementType type, Value* value, bool saturate) {
  if (is_sub_byte(type)) return keep_bits(b, type, value);
  if (!is_small_float(type)) return value;
  return decode_small_float(b, type, encode_small_float(b, type, value, saturate));
}

}  // namespace hone
