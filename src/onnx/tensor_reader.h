// Tensors of a model as buffers: borrowed from the mapped file where they lie there as hone wants
// them, decoded otherwise.
#pragma once

#include <memory>
#include <string>

#include "onnx/external_data.h"
#include "onnx/onnx_pb.h"
#include "onnx/wire.h"
#include "tensor/buffer.h"

namespace hone {

class TensorReader {
 public:
  // `file` is what the references of the skeleton point into, kept alive by `owner`; without an
  // owner data is copied. With `allow_missing`, tensors without data read as zeros.
  TensorReader(ByteSpan file, std::shared_ptr<const void> owner, ExternalFiles external,
               bool allow_missing)
      : file_(file),
        owner_(std::move(owner)),
        external_(std::move(external)),
        allow_missing_(allow_missing) {}

  // For tensors that hold their data: of the onnx library's own making, or alone in a file.
  static TensorReader of_literals() {
    TensorReader reader({}, nullptr, ExternalFiles({}), false);
    reader.has_references_ = false;
    return reader;
  }

  // Throws a Failure that names the tensor.
  Buffer read(const onnx::TensorProto& tensor);
  [[nodiscard]] ByteSpan file() const { return file_; }

 private:
  Buffer read_unnamed(const onnx::TensorProto& tensor);
  [[nodiscard]] ByteSpan raw_data_of(const onnx::TensorProto& tensor) const;
  Buffer from_raw(ElementType type, std::vector<int64_t> dims, ByteSpan raw,
                  const std::shared_ptr<const void>& owner) const;

  ByteSpan file_;
  std::shared_ptr<const void> owner_;
  ExternalFiles external_;
  bool allow_missing_;
  bool has_references_ = true;
};

// Bytes of `count` elements in a file: sub-byte types are packed, lowest bits first.
[[nodiscard]] uint64_t file_bytes(ElementType type, int64_t count);
// Elements of a sub-byte type, one a byte, as they stand in a file; and back.
void unpack(ElementType type, ByteSpan packed, std::byte* elements, int64_t count);
[[nodiscard]] std::string pack(const Buffer& buffer);

}  // namespace hone
