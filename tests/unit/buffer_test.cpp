#include "tensor/buffer.h"

#include <gtest/gtest.h>

#include "support/error.h"

namespace hone {
namespace {

using enum ElementType;

ErrorKind failure_kind_of(auto&& action) {
  try {
    (void)action();
  } catch (const Failure& failure) {
    return failure.error.kind;
  }
  return ErrorKind::kInterrupted;  // never thrown here
}

TEST(Buffer, AllocateIsZeroedAndAligned) {
  for (const int64_t count : {0, 1, 63, 1000}) {
    const Buffer buffer = Buffer::allocate(kF32, {count});
    ASSERT_NE(buffer.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0U);
    for (const float value : buffer.as<float>()) ASSERT_EQ(value, 0.F);
  }
}

TEST(Buffer, ImpossibleSizesAreFailures) {
  EXPECT_EQ(failure_kind_of([] { return Buffer::allocate(kF64, {1LL << 31, 1LL << 31}); }),
            ErrorKind::kSystem);
  EXPECT_EQ(failure_kind_of([] { return Buffer::allocate(kString, {1LL << 60}); }),
            ErrorKind::kSystem);
  EXPECT_EQ(failure_kind_of([] { return Buffer::allocate(kF32, {-1}); }), ErrorKind::kInvalid);
  EXPECT_EQ(failure_kind_of([] { return checked_count({1LL << 40, 1LL << 40}); }),
            ErrorKind::kInvalid);
  EXPECT_EQ(checked_count({1LL << 62}), 1LL << 62);
  EXPECT_EQ(checked_count({1LL << 40, 0, 1LL << 40}), 0);
  EXPECT_EQ(checked_count({}), 1);
}

TEST(Buffer, SharedOrBorrowedDataIsReadOnly) {
  Buffer buffer = Buffer::of_ints({1, 2, 3});
  EXPECT_NO_THROW((void)buffer.mutable_data());
  {
    const Buffer other = buffer;
    EXPECT_THROW((void)buffer.mutable_data(), InternalError);
  }
  EXPECT_NO_THROW((void)buffer.mutable_data());
  Buffer borrowed = Buffer::borrow(kI64, {3}, buffer.data(), nullptr);
  EXPECT_EQ(borrowed.data(), buffer.data());
  EXPECT_THROW((void)borrowed.mutable_data(), InternalError);
}

TEST(Buffer, BorrowKeepsTheOwnerAndCopiesUnalignedData) {
  auto owner = std::make_shared<std::vector<float>>(4, 2.5F);
  const Buffer buffer = Buffer::borrow(kF32, {2, 2}, owner->data(), owner);
  const std::weak_ptr<std::vector<float>> watch = owner;
  owner.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(buffer.as<float>()[3], 2.5F);
  const Buffer unaligned = Buffer::borrow(kF32, {2}, buffer.data() + 1, nullptr);
  EXPECT_NE(unaligned.data(), buffer.data() + 1);
  EXPECT_TRUE(std::equal(unaligned.bytes().begin(), unaligned.bytes().end(), buffer.data() + 1));
}

TEST(Buffer, StringsAreKeptAside) {
  const Buffer buffer = Buffer::of_strings({2}, {"a", ""});
  EXPECT_EQ(buffer.strings()[0], "a");
  EXPECT_EQ(buffer.byte_size(), 0U);
  EXPECT_EQ(buffer, Buffer::of_strings({2}, {"a", ""}));
  EXPECT_NE(buffer, Buffer::of_strings({2}, {"", "a"}));
  EXPECT_NE(buffer.content_hash(), Buffer::of_strings({2}, {"", "a"}).content_hash());
  EXPECT_EQ(Buffer::allocate(kString, {2}).strings().size(), 2U);
  EXPECT_THROW((void)Buffer::scalar_int(1).strings(), InternalError);
}

TEST(Buffer, ContentIsTypeDimsAndBits) {
  const Buffer a = Buffer::of_ints({1, 2});
  EXPECT_EQ(a, Buffer::of_ints({1, 2}));
  EXPECT_EQ(a.content_hash(), Buffer::of_ints({1, 2}).content_hash());
  for (const Buffer& b : {Buffer::of_ints({1, 3}), a.reshaped({2, 1}), a.reshaped({1, 2}),
                          Buffer::borrow(kU64, {2}, a.data(), nullptr)}) {
    EXPECT_NE(a, b);
    EXPECT_NE(a.content_hash(), b.content_hash());
  }
  EXPECT_EQ(a.reshaped({2, 1}).data(), a.data());
  EXPECT_THROW((void)a.reshaped({3}), InternalError);
  EXPECT_EQ(Buffer(), Buffer());
  EXPECT_TRUE(Buffer().empty_handle());
}

TEST(Buffer, ElementsAsNumbers) {
  EXPECT_EQ(Buffer::scalar_int(-5).as_double(0), -5.0);
  EXPECT_EQ(Buffer::of<uint64_t>(kU64, {1}, std::vector{UINT64_MAX}).as_double(0), 0x1p64);
  EXPECT_EQ(Buffer::of<uint16_t>(kF16, {1}, std::vector<uint16_t>{0xc100}).as_int(0), -2);
  EXPECT_EQ(Buffer::of<int8_t>(kI4, {1}, std::vector<int8_t>{-8}).as_int(0), -8);
  EXPECT_THROW((void)Buffer::scalar_int(1).as_int(1), InternalError);
  EXPECT_THROW((void)Buffer::of_strings({1}, {"1"}).as_double(0), InternalError);
}

}  // namespace
}  // namespace hone
