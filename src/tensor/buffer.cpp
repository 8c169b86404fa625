#include "tensor/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/error.h"
#include "support/hash.h"

namespace hone {
namespace {

constexpr size_t kAlignment = 64;
// Larger requests are mistakes; refused here because sanitizers abort on them.
constexpr int64_t kMaxBytes = int64_t{1} << 40;
// Borrowed memory of up to this size is copied rather than left misaligned.
constexpr size_t kSmallBytes = size_t{1} << 16;

[[noreturn]] void throw_no_memory(ElementType type, const std::vector<int64_t>& dims) {
  throw Failure{{ErrorKind::kSystem,
                 {},
                 "no memory for a tensor " + TensorType{type, to_shape(dims)}.to_string(),
                 {}}};
}

// calloc rather than aligned_alloc and memset: the system hands out zero pages lazily.
std::shared_ptr<void> allocate_zeroed(size_t bytes) {
  void* block = std::calloc(1, bytes + kAlignment);
  return block == nullptr ? nullptr : std::shared_ptr<void>(block, std::free);
}

std::byte* align_up(void* pointer) {
  auto* bytes = static_cast<std::byte*>(pointer);
  const auto misalignment = reinterpret_cast<uintptr_t>(bytes) % kAlignment;
  return bytes + (kAlignment - misalignment);
}

size_t alignment_of(ElementType type) {
  const size_t size = size_of(type);
  const bool complex = type == ElementType::kC64 || type == ElementType::kC128;
  return complex ? size / 2 : size;
}

}  // namespace

int64_t checked_count(const std::vector<int64_t>& dims) {
  bool has_zero = false;
  for (const int64_t dim : dims) {
    if (dim < 0) throw_invalid("negative dimension in shape " + to_string(to_shape(dims)));
    has_zero |= dim == 0;
  }
  if (has_zero) return 0;
  int64_t count = 1;
  for (const int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count) || count > (int64_t{1} << 62)) {
      throw_invalid("too many elements in shape " + to_string(to_shape(dims)));
    }
  }
  return count;
}

Buffer Buffer::allocate(ElementType type, std::vector<int64_t> dims) {
  HONE_CHECK(type != ElementType::kInvalid, "a buffer needs an element type");
  Buffer buffer;
  buffer.count_ = checked_count(dims);
  const auto element_bytes =
      static_cast<int64_t>(type == ElementType::kString ? sizeof(std::string) : size_of(type));
  if (buffer.count_ > kMaxBytes / element_bytes) throw_no_memory(type, dims);
  buffer.type_ = type;
  try {
    if (type == ElementType::kString) {
      buffer.owner_ = std::make_shared<std::vector<std::string>>(buffer.count_);
    } else {
      auto block = allocate_zeroed(static_cast<size_t>(buffer.count_ * element_bytes));
      if (block == nullptr) throw_no_memory(type, dims);
      buffer.writable_ = align_up(block.get());
      buffer.data_ = buffer.writable_;
      buffer.owner_ = std::move(block);
    }
  } catch (const std::bad_alloc&) {
    throw_no_memory(type, dims);
  }
  buffer.dims_ = std::move(dims);
  return buffer;
}

Buffer Buffer::borrow(ElementType type, std::vector<int64_t> dims, const void* data,
                      std::shared_ptr<const void> owner) {
  HONE_CHECK(size_of(type) != 0, "only fixed-size elements can be borrowed");
  Buffer buffer;
  buffer.type_ = type;
  buffer.count_ = checked_count(dims);
  buffer.dims_ = std::move(dims);
  buffer.data_ = static_cast<const std::byte*>(data);
  buffer.owner_ = std::move(owner);
  return buffer.byte_size() <= kSmallBytes ? buffer.aligned() : buffer;
}

bool Buffer::is_aligned() const {
  return reinterpret_cast<uintptr_t>(data_) % std::max<size_t>(alignment_of(type_), 1) == 0;
}

Buffer Buffer::aligned() const {
  if (is_aligned()) return *this;
  Buffer copy = allocate(type_, dims_);
  if (count_ != 0) std::memcpy(copy.writable_, data_, byte_size());
  return copy;
}

Buffer Buffer::of_strings(std::vector<int64_t> dims, std::vector<std::string> values) {
  Buffer buffer;
  buffer.type_ = ElementType::kString;
  buffer.count_ = checked_count(dims);
  HONE_CHECK(static_cast<int64_t>(values.size()) == buffer.count_, "value count differs");
  buffer.dims_ = std::move(dims);
  buffer.owner_ = std::make_shared<const std::vector<std::string>>(std::move(values));
  return buffer;
}

Buffer Buffer::of_ints(const std::vector<int64_t>& values) {
  return of<int64_t>(ElementType::kI64, {static_cast<int64_t>(values.size())}, values);
}

Buffer Buffer::scalar_int(int64_t value) {
  return of<int64_t>(ElementType::kI64, {}, std::span<const int64_t>(&value, 1));
}

std::byte* Buffer::mutable_data() {
  HONE_CHECK(writable_ != nullptr, "borrowed data is read-only");
  HONE_CHECK(owner_.use_count() == 1, "shared data is read-only");
  return writable_;
}

const std::vector<std::string>& Buffer::strings() const {
  HONE_CHECK(type_ == ElementType::kString, "the buffer has no strings");
  return *static_cast<const std::vector<std::string>*>(owner_.get());
}

Buffer Buffer::reshaped(std::vector<int64_t> dims) const {
  HONE_CHECK(checked_count(dims) == count_, "a reshape keeps the element count");
  Buffer buffer = *this;
  buffer.dims_ = std::move(dims);
  return buffer;
}

bool operator==(const Buffer& a, const Buffer& b) {
  if (a.type_ != b.type_ || a.dims_ != b.dims_) return false;
  if (a.type_ == ElementType::kString) return a.strings() == b.strings();
  return a.data_ == b.data_ || a.byte_size() == 0 ||
         std::memcmp(a.data_, b.data_, a.byte_size()) == 0;
}

uint64_t Buffer::content_hash() const {
  uint64_t h = mix_hash(static_cast<uint64_t>(type_) + 1);
  h = combine_hash(h, dims_.size());
  for (const int64_t dim : dims_) h = combine_hash(h, static_cast<uint64_t>(dim));
  if (type_ != ElementType::kString) return hash_bytes(bytes(), h);
  for (const std::string& text : strings()) h = hash_text(text, h);
  return h;
}

}  // namespace hone
