#include "onnx/tensor_reader.h"

#include <algorithm>
#include <cstring>

#include "onnx/tensor_file.h"
#include "ops/onnx_types.h"
#include "support/check.h"
#include "support/file.h"

namespace hone {
namespace {

bool is_packed(ElementType type) { return bits_of(type) > 0 && bits_of(type) < 8; }

std::vector<int64_t> dims_of(const onnx::TensorProto& tensor) {
  return {tensor.dims().begin(), tensor.dims().end()};
}

void require_count(int64_t needed, int64_t given, const char* field) {
  if (needed != given)
    throw_invalid("needs " + std::to_string(needed) + " values in " + field + ", but has " +
                  std::to_string(given));
}

template <typename T, typename Values>
Buffer from_values(ElementType type, std::vector<int64_t> dims, const Values& values,
                   const char* field) {
  const int64_t parts = type == ElementType::kC64 || type == ElementType::kC128 ? 2 : 1;
  const int64_t count = checked_count(dims);
  if (count > values.size()) require_count(count * parts, values.size(), field);
  require_count(count * parts, values.size(), field);
  Buffer buffer = Buffer::allocate(type, std::move(dims));
  auto* out = reinterpret_cast<T*>(buffer.mutable_data());
  for (int i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values.Get(i));
  return buffer;
}

Buffer from_int32(ElementType type, std::vector<int64_t> dims, const onnx::TensorProto& tensor) {
  const auto& values = tensor.int32_data();
  if (is_packed(type)) {
    const int64_t count = checked_count(dims);
    require_count(static_cast<int64_t>(file_bytes(type, count)), values.size(), "int32_data");
    std::string packed;
    for (const int32_t value : values) packed.push_back(static_cast<char>(value));
    Buffer buffer = Buffer::allocate(type, std::move(dims));
    unpack(type, bytes_of(packed), buffer.mutable_data(), count);
    return buffer;
  }
  switch (size_of(type)) {
    case 1:
      return from_values<uint8_t>(type, std::move(dims), values, "int32_data");
    case 2:
      return from_values<uint16_t>(type, std::move(dims), values, "int32_data");
    default:
      return from_values<int32_t>(type, std::move(dims), values, "int32_data");
  }
}

Buffer from_strings(std::vector<int64_t> dims, const onnx::TensorProto& tensor) {
  require_count(checked_count(dims), tensor.string_data_size(), "string_data");
  return Buffer::of_strings(std::move(dims),
                            {tensor.string_data().begin(), tensor.string_data().end()});
}

Buffer from_typed_field(ElementType type, std::vector<int64_t> dims,
                        const onnx::TensorProto& tensor) {
  using enum ElementType;
  switch (type) {
    case kString:
      return from_strings(std::move(dims), tensor);
    case kF32:
    case kC64:
      return from_values<float>(type, std::move(dims), tensor.float_data(), "float_data");
    case kF64:
    case kC128:
      return from_values<double>(type, std::move(dims), tensor.double_data(), "double_data");
    case kI64:
      return from_values<int64_t>(type, std::move(dims), tensor.int64_data(), "int64_data");
    case kU64:
      return from_values<uint64_t>(type, std::move(dims), tensor.uint64_data(), "uint64_data");
    case kU32:
      return from_values<uint32_t>(type, std::move(dims), tensor.uint64_data(), "uint64_data");
    default:
      return from_int32(type, std::move(dims), tensor);
  }
}

// Bytes other than 0 and 1 are not booleans to the code that computes with them.
void normalise_bool(Buffer& buffer) {
  for (uint8_t& value : buffer.as_mutable<uint8_t>()) value = value != 0 ? 1 : 0;
}

bool has_typed_data(const onnx::TensorProto& tensor) {
  return tensor.float_data_size() + tensor.int32_data_size() + tensor.string_data_size() +
             tensor.int64_data_size() + tensor.double_data_size() + tensor.uint64_data_size() >
         0;
}

}  // namespace

uint64_t file_bytes(ElementType type, int64_t count) {
  const auto elements = static_cast<uint64_t>(count);
  const auto bits = static_cast<uint64_t>(bits_of(type));
  if (bits >= 8) return elements * (bits / 8);
  const uint64_t per_byte = bits == 0 ? 1 : 8 / bits;
  return elements / per_byte + (elements % per_byte != 0 ? 1 : 0);
}

void unpack(ElementType type, ByteSpan packed, std::byte* elements, int64_t count) {
  const int bits = bits_of(type);
  const auto per_byte = static_cast<size_t>(8 / bits);
  const int mask = (1 << bits) - 1;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    int value =
        (std::to_integer<int>(packed[i / per_byte]) >> (static_cast<int>(i % per_byte) * bits)) &
        mask;
    if (is_signed_int(type) && value > mask / 2) value -= mask + 1;
    elements[i] = static_cast<std::byte>(value);
  }
}

std::string pack(const Buffer& buffer) {
  const int bits = bits_of(buffer.type());
  const auto per_byte = static_cast<size_t>(8 / bits);
  const int mask = (1 << bits) - 1;
  std::string packed(file_bytes(buffer.type(), buffer.count()), '\0');
  for (size_t i = 0; i < static_cast<size_t>(buffer.count()); ++i) {
    const int value = (std::to_integer<int>(buffer.data()[i]) & mask)
                      << (static_cast<int>(i % per_byte) * bits);
    packed[i / per_byte] =
        static_cast<char>(static_cast<unsigned char>(packed[i / per_byte]) | value);
  }
  return packed;
}

Buffer TensorReader::from_raw(ElementType type, std::vector<int64_t> dims, ByteSpan raw,
                              const std::shared_ptr<const void>& owner) const {
  if (type == ElementType::kString) throw_invalid("strings cannot be in raw_data");
  const int64_t count = checked_count(dims);
  // The first test keeps the multiplication of the second from overflowing.
  if (static_cast<uint64_t>(count) / 8 > raw.size() || file_bytes(type, count) != raw.size())
    throw_invalid("has " + std::to_string(raw.size()) +
                  " bytes of data, which do not fit its type " +
                  TensorType{type, to_shape(dims)}.to_string());
  const bool as_it_is = !is_packed(type) && type != ElementType::kBool;
  if (as_it_is && owner) return Buffer::borrow(type, std::move(dims), raw.data(), owner);
  Buffer buffer = Buffer::allocate(type, std::move(dims));
  if (count == 0) return buffer;
  if (is_packed(type)) {
    unpack(type, raw, buffer.mutable_data(), count);
  } else {
    std::memcpy(buffer.mutable_data(), raw.data(), raw.size());
  }
  if (type == ElementType::kBool) normalise_bool(buffer);
  return buffer;
}

ByteSpan TensorReader::raw_data_of(const onnx::TensorProto& tensor) const {
  if (!has_references_ || tensor.raw_data().empty()) return bytes_of(tensor.raw_data());
  const auto reference = decode_reference(tensor.raw_data());
  HONE_CHECK(reference && reference->offset <= file_.size() &&
                 reference->length <= file_.size() - reference->offset,
             "all data of a skeleton are references into its file");
  return file_.subspan(static_cast<size_t>(reference->offset),
                       static_cast<size_t>(reference->length));
}

Buffer TensorReader::read_unnamed(const onnx::TensorProto& tensor) {
  const auto type = element_type_of_onnx(tensor.data_type());
  if (!type || *type == ElementType::kInvalid)
    throw_unsupported("has element type " + std::to_string(tensor.data_type()) +
                      ", which hone does not know");
  if (tensor.has_segment()) throw_unsupported("is split into segments");
  std::vector<int64_t> dims = dims_of(tensor);
  const int64_t count = checked_count(dims);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (*type == ElementType::kString) throw_invalid("strings cannot be external data");
    if (allow_missing_) {
      try {
        auto part = external_.find(tensor, file_bytes(*type, count));
        return from_raw(*type, std::move(dims), part.bytes, part.owner);
      } catch (const Failure&) {
        return Buffer::allocate(*type, dims_of(tensor));
      }
    }
    auto part = external_.find(tensor, file_bytes(*type, count));
    return from_raw(*type, std::move(dims), part.bytes, part.owner);
  }
  const ByteSpan raw = raw_data_of(tensor);
  if (!raw.empty()) {
    if (has_typed_data(tensor)) throw_invalid("has data in two fields");
    return from_raw(*type, std::move(dims), raw, has_references_ ? owner_ : nullptr);
  }
  if (count == 0 || (allow_missing_ && !has_typed_data(tensor)))
    return Buffer::allocate(*type, std::move(dims));
  Buffer buffer = from_typed_field(*type, std::move(dims), tensor);
  if (*type == ElementType::kBool) normalise_bool(buffer);
  return buffer;
}

Buffer TensorReader::read(const onnx::TensorProto& tensor) {
  try {
    return read_unnamed(tensor);
  } catch (Failure& failure) {
    if (failure.error.where.empty()) failure.error.where = "tensor '" + tensor.name() + "'";
    throw;
  }
}

Result<Buffer> read_tensor_file(const std::string& path) {
  try {
    const auto file = MappedFile::open(path);
    onnx::TensorProto tensor;
    const std::string skeleton = skeleton_of(file->bytes(), WireMessage::kTensor);
    if (!tensor.ParseFromString(skeleton))
      return fail(ErrorKind::kInvalid, path, "is not a tensor");
    return TensorReader(file->bytes(), file, ExternalFiles({}), false).read(tensor);
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure.error));
  }
}

}  // namespace hone
