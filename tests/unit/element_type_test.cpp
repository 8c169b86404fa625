#include "tensor/element_type.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using enum ElementType;

TEST(ElementType, NamesAreUniqueAndReadBack) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_of(name_of(type)), type) << name_of(type);
  }
  EXPECT_EQ(name_of(kF8E4M3FNUZ), "f8e4m3fnuz");
  EXPECT_EQ(element_type_of("float"), std::nullopt);
  EXPECT_EQ(element_type_of("invalid"), std::nullopt);
  EXPECT_EQ(element_type_of(""), std::nullopt);
}

TEST(ElementType, SubByteTypesTakeAByteInMemory) {
  for (const ElementType type : {kI4, kU4, kI2, kU2, kF4E2M1}) {
    EXPECT_EQ(size_of(type), 1U) << name_of(type);
    EXPECT_LT(bits_of(type), 8) << name_of(type);
  }
  EXPECT_EQ(bits_of(kU2), 2);
  EXPECT_EQ(size_of(kString), 0U);
  EXPECT_EQ(size_of(kC128), 16U);
  EXPECT_EQ(size_of(kField), 8U);
}

TEST(ElementType, OtherTypesTakeTheirBits) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (bits_of(type) < 8) continue;
    EXPECT_EQ(static_cast<size_t>(bits_of(type)), 8 * size_of(type)) << name_of(type);
  }
}

TEST(ElementType, ClassesAreDisjoint) {
  for (int i = 0; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_LE(is_float(type) + is_signed_int(type) + is_unsigned_int(type), 1) << name_of(type);
  }
  EXPECT_TRUE(is_float(kF4E2M1));
  EXPECT_TRUE(is_integer(kI2));
  EXPECT_FALSE(is_integer(kBool));
  EXPECT_FALSE(is_float(kC64));
}

}  // namespace
}  // namespace hone
