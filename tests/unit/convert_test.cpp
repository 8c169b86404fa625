#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {
namespace {

using enum ElementType;

// Expected codes below are of ml_dtypes 0.6 and of the tables in the ONNX Cast specification.
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Golden {
  ElementType type;
  float value;
  uint16_t saturated, unsaturated;
};

TEST(FloatFormats, EncodeGolden) {
  const Golden cases[] = {
      {kF16, 1.F / 3, 0x3555, 0x3555},    {kF16, 65519.F, 0x7bff, 0x7bff},
      {kF16, 65520.F, 0x7c00, 0x7c00},    {kF16, -kInf, 0xfc00, 0xfc00},
      {kF16, 0x1p-24F, 0x0001, 0x0001},   {kF16, 0x1p-25F, 0x0000, 0x0000},
      {kF16, 0x1.8p-24F, 0x0002, 0x0002}, {kF16, kNaN, 0x7e00, 0x7e00},
      {kF16, 2049.F, 0x6800, 0x6800},     {kF16, -0.F, 0x8000, 0x8000},
      {kBF16, 1e9F, 0x4e6e, 0x4e6e},      {kBF16, 0x1.fffffep127F, 0x7f80, 0x7f80},
      {kBF16, -kNaN, 0xffc0, 0xffc0},     {kBF16, 1e-30F, 0x0da2, 0x0da2},
      {kF8E4M3FN, 464.F, 0x7e, 0x7e},     {kF8E4M3FN, 465.F, 0x7e, 0x7f},
      {kF8E4M3FN, -kInf, 0xfe, 0xff},     {kF8E4M3FN, kNaN, 0x7f, 0x7f},
      {kF8E4M3FN, 0x1p-9F, 0x01, 0x01},   {kF8E4M3FN, 0x1p-10F, 0x00, 0x00},
      {kF8E4M3FN, -0.F, 0x80, 0x80},      {kF8E4M3FN, -1.F, 0xb8, 0xb8},
      {kF8E4M3FNUZ, -0.F, 0x00, 0x00},    {kF8E4M3FNUZ, 247.F, 0x7f, 0x7f},
      {kF8E4M3FNUZ, 248.F, 0x7f, 0x80},   {kF8E4M3FNUZ, -1e-30F, 0x00, 0x00},
      {kF8E4M3FNUZ, -1.F, 0xc0, 0xc0},    {kF8E4M3FNUZ, kNaN, 0x80, 0x80},
      {kF8E5M2, 61439.F, 0x7b, 0x7b},     {kF8E5M2, 61440.F, 0x7b, 0x7c},
      {kF8E5M2, kInf, 0x7b, 0x7c},        {kF8E5M2, -kNaN, 0xfe, 0xfe},
      {kF8E5M2FNUZ, kInf, 0x7f, 0x80},    {kF8E5M2FNUZ, -1.F, 0xc0, 0xc0},
      {kF4E2M1, 0.25F, 0x0, 0x0},         {kF4E2M1, 0.75F, 0x2, 0x2},
      {kF4E2M1, 5.F, 0x6, 0x6},           {kF4E2M1, -1e9F, 0xf, 0xf},
      {kF4E2M1, kNaN, 0x8, 0x8},          {kF4E2M1, -3.5F, 0xe, 0xe},
      {kF8E8M0, 0.F, 0x00, 0xff},         {kF8E8M0, kInf, 0xfe, 0xff},
      {kF8E8M0, 1.1F, 0x80, 0x80},        {kF8E8M0, 0.124F, 0x7c, 0x7c},
      {kF8E8M0, 0x1p-127F, 0x00, 0x00},   {kF8E8M0, 0x1.8p-127F, 0x01, 0x01},
      {kF8E8M0, 0x1p-130F, 0x00, 0xff},   {kF8E8M0, 0x1.8p127F, 0xfe, 0xff},
  };
  for (const Golden& c : cases) {
    EXPECT_EQ(encode_float(c.type, c.value, true), c.saturated) << name_of(c.type) << c.value;
    EXPECT_EQ(encode_float(c.type, c.value, false), c.unsaturated) << name_of(c.type) << c.value;
  }
}

TEST(FloatFormats, PowerRoundingModes) {
  using enum PowerRounding;
  EXPECT_EQ(encode_float(kF8E8M0, 3.F, true, kDown), 0x80);
  EXPECT_EQ(encode_float(kF8E8M0, 3.F, true, kNearest), 0x81);  // ties round up
  EXPECT_EQ(encode_float(kF8E8M0, 2.9F, true, kNearest), 0x80);
  EXPECT_EQ(encode_float(kF8E8M0, 2.9F, true, kUp), 0x81);
}

TEST(FloatFormats, DecodeGolden) {
  EXPECT_EQ(decode_float(kF16, 0x0001), 0x1p-24F);
  EXPECT_EQ(decode_float(kF16, 0x83ff), -0x1.ff8p-15F);
  EXPECT_EQ(decode_float(kF16, 0x7bff), 65504.F);
  EXPECT_EQ(decode_float(kF16, 0xfc00), -kInf);
  EXPECT_EQ(decode_float(kF8E4M3FN, 0x7e), 448.F);
  EXPECT_EQ(decode_float(kF8E4M3FNUZ, 0x7f), 240.F);
  EXPECT_EQ(decode_float(kF8E5M2, 0x01), 0x1p-16F);
  EXPECT_EQ(decode_float(kF8E5M2, 0x7c), kInf);
  EXPECT_TRUE(std::isnan(decode_float(kF8E5M2, 0x7d)));
  EXPECT_TRUE(std::isnan(decode_float(kF8E5M2FNUZ, 0x80)));
  EXPECT_EQ(decode_float(kF8E8M0, 0x00), 0x1p-127F);
  EXPECT_TRUE(std::isnan(decode_float(kF8E8M0, 0xff)));
  EXPECT_EQ(decode_float(kF4E2M1, 0x0f), -6.F);
}

TEST(FloatFormats, EveryCodeReadsBack) {
  for (const ElementType type :
       {kF16, kBF16, kF8E4M3FN, kF8E4M3FNUZ, kF8E5M2, kF8E5M2FNUZ, kF8E8M0, kF4E2M1}) {
    for (uint32_t code = 0; code < 1U << bits_of(type); ++code) {
      const float value = decode_float(type, static_cast<uint16_t>(code));
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode_float(type, value, false), code) << name_of(type);
    }
  }
}

template <typename To, typename From>
std::vector<To> converted(ElementType from, const std::vector<From>& values, ElementType to) {
  const Buffer in = Buffer::of<From>(from, {static_cast<int64_t>(values.size())}, values);
  const Buffer out = convert(in, to);
  return {out.as<To>().begin(), out.as<To>().end()};
}

TEST(Convert, FloatsToIntegersTowardZero) {
  const std::vector<float> values = {1.9F, -1.9F, 300.F, -300.F, 3e9F, kNaN, kInf, -kInf};
  EXPECT_EQ((converted<int32_t, float>(kF32, values, kI32)),
            (std::vector<int32_t>{1, -1, 300, -300, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN}));
  EXPECT_EQ((converted<uint8_t, float>(kF32, values, kU8)),
            (std::vector<uint8_t>{1, 255, 44, 212, 0, 0, 0, 0}));
  EXPECT_EQ((converted<int8_t, float>(kF32, values, kI4)),
            (std::vector<int8_t>{1, -1, -4, 4, 0, 0, 0, 0}));
  EXPECT_EQ((converted<uint64_t, float>(kF32, {1e19F, 1e20F, kNaN, -1.F}, kU64)),
            (std::vector<uint64_t>{9999999980506447872U, 0, 1ULL << 63, UINT64_MAX}));
}

TEST(Convert, IntegersDropUpperBits) {
  EXPECT_EQ((converted<int8_t, int16_t>(kI16, {200, -129}, kI8)), (std::vector<int8_t>{-56, 127}));
  EXPECT_EQ((converted<uint8_t, int64_t>(kI64, {-1, 17}, kU4)), (std::vector<uint8_t>{15, 1}));
  EXPECT_EQ((converted<int8_t, int64_t>(kI64, {2, 1}, kI2)), (std::vector<int8_t>{-2, 1}));
  EXPECT_EQ((converted<int64_t, uint32_t>(kU32, {UINT32_MAX}, kI64)),
            (std::vector<int64_t>{UINT32_MAX}));
}

TEST(Convert, BoolIsNotZero) {
  EXPECT_EQ((converted<uint8_t, int64_t>(kI64, {0, 256, -1}, kBool)),
            (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((converted<uint8_t, float>(kF32, {-0.F, 1e-40F, kNaN}, kBool)),
            (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((converted<float, uint8_t>(kBool, {0, 1}, kF32)), (std::vector<float>{0, 1}));
}

TEST(Convert, RoundsOnce) {
  // In f32 the first is the tie between two values of bf16, which would go to the even one, below.
  EXPECT_EQ((converted<uint16_t, double>(kF64, {1 + 0x1p-8 + 0x1p-40}, kBF16)),
            (std::vector<uint16_t>{0x3f81}));
  EXPECT_EQ((converted<uint16_t, double>(kF64, {1 + 0x1p-11 + 0x1p-40}, kF16)),
            (std::vector<uint16_t>{0x3c01}));
  EXPECT_EQ((converted<float, int64_t>(kI64, {(1LL << 60) + (1LL << 36) + 1}, kF32)),
            (std::vector<float>{0x1.000002p60F}));
  EXPECT_EQ((converted<float, uint64_t>(kU64, {UINT64_MAX}, kF32)), (std::vector<float>{0x1p64F}));
  EXPECT_EQ((converted<uint16_t, double>(kF64, {1e300}, kF16)), (std::vector<uint16_t>{0x7c00}));
}

TEST(Convert, LongArraysLikeSingleElements) {
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::ldexp(1.F + static_cast<float>(i) / 5000, static_cast<int>(i % 40) - 20);
  }
  for (const ElementType type : {kF16, kBF16}) {
    const auto codes = converted<uint16_t, float>(kF32, values, type);
    const auto back = converted<float, uint16_t>(type, codes, kF32);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], encode_float(type, values[i]));
      ASSERT_EQ(back[i], decode_float(type, codes[i]));
    }
  }
  const auto bytes = converted<uint8_t, float>(kF32, values, kF8E4M3FN);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(bytes[i], encode_float(kF8E4M3FN, values[i]));
  }
}

TEST(Convert, ReadsMisalignedBorrowedMemory) {
  const Buffer floats = convert(Buffer::of_ints(std::vector<int64_t>(100001, 3)), kF32);
  std::vector<std::byte> bytes(floats.byte_size() + 1);
  std::copy(floats.bytes().begin(), floats.bytes().end(), bytes.begin() + 1);
  const Buffer misaligned = Buffer::borrow(kF32, {100001}, bytes.data() + 1, nullptr);
  EXPECT_EQ(convert(misaligned, kI64), Buffer::of_ints(std::vector<int64_t>(100001, 3)));
  EXPECT_EQ(misaligned.as_double(100000), 3.0);
}

TEST(Convert, SameTypeSharesAndStringsFail) {
  const Buffer text = Buffer::of_strings({1}, {"1"});
  EXPECT_EQ(convert(text, kString), text);
  EXPECT_THROW((void)convert(text, kF32), Failure);
  EXPECT_THROW((void)convert(Buffer::scalar_int(1), kField), InternalError);
  const Buffer numbers = Buffer::of_ints({1, 2});
  EXPECT_EQ(convert(numbers, kI64).data(), numbers.data());
}

}  // namespace
}  // namespace hone
