#include "tensor/element_type.h"

#include <array>

namespace hone {
namespace {

struct ElementFacts {
  ElementType type;
  std::string_view name;
  uint8_t bytes;  // in a Buffer
  uint8_t bits;   // in an ONNX file
};

using enum ElementType;
constexpr std::array kFacts = {
    ElementFacts{kInvalid, "invalid", 0, 0},
    ElementFacts{kF32, "f32", 4, 32},
    ElementFacts{kF64, "f64", 8, 64},
    ElementFacts{kF16, "f16", 2, 16},
    ElementFacts{kBF16, "bf16", 2, 16},
    ElementFacts{kI8, "i8", 1, 8},
    ElementFacts{kI16, "i16", 2, 16},
    ElementFacts{kI32, "i32", 4, 32},
    ElementFacts{kI64, "i64", 8, 64},
    ElementFacts{kU8, "u8", 1, 8},
    ElementFacts{kU16, "u16", 2, 16},
    ElementFacts{kU32, "u32", 4, 32},
    ElementFacts{kU64, "u64", 8, 64},
    ElementFacts{kBool, "bool", 1, 8},
    ElementFacts{kF8E4M3FN, "f8e4m3fn", 1, 8},
    ElementFacts{kF8E4M3FNUZ, "f8e4m3fnuz", 1, 8},
    ElementFacts{kF8E5M2, "f8e5m2", 1, 8},
    ElementFacts{kF8E5M2FNUZ, "f8e5m2fnuz", 1, 8},
    ElementFacts{kF8E8M0, "f8e8m0", 1, 8},
    ElementFacts{kI4, "i4", 1, 4},
    ElementFacts{kU4, "u4", 1, 4},
    ElementFacts{kI2, "i2", 1, 2},
    ElementFacts{kU2, "u2", 1, 2},
    ElementFacts{kF4E2M1, "f4e2m1", 1, 4},
    ElementFacts{kC64, "c64", 8, 64},
    ElementFacts{kC128, "c128", 16, 128},
    ElementFacts{kString, "string", 0, 0},
    ElementFacts{kField, "field", 8, 64},
};

constexpr bool in_enum_order() {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (static_cast<size_t>(kFacts[i].type) != i) return false;
  }
  return true;
}
static_assert(kFacts.size() == static_cast<size_t>(kElementTypeCount));
static_assert(in_enum_order(), "the table is indexed by the enum");

const ElementFacts& facts_of(ElementType type) { return kFacts[static_cast<size_t>(type)]; }

}  // namespace

std::string_view name_of(ElementType type) { return facts_of(type).name; }

std::optional<ElementType> element_type_of(std::string_view name) {
  for (const ElementFacts& facts : kFacts) {
    if (facts.name == name && facts.type != kInvalid) return facts.type;
  }
  return std::nullopt;
}

size_t size_of(ElementType type) { return facts_of(type).bytes; }

int bits_of(ElementType type) { return facts_of(type).bits; }

}  // namespace hone
