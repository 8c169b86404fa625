// Protobuf bytes of a model with the large part taken out. Every TensorProto.raw_data is replaced
// by a reference of 24 bytes, so that the protobuf library sees only a small skeleton of a file
// while the weights stay where they are, mapped; and the other way round when a file is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"
#include "support/file.h"

namespace hone {

// The messages on the way from a file to its tensors.
enum class WireMessage : uint8_t {
  kModel,
  kTraining,
  kFunction,
  kGraph,
  kNode,
  kAttribute,
  kSparseTensor,
  kTensor,
};

// What stands in raw_data instead of the data. On import `offset` counts from the start of the
// file; on export it is the number of a buffer and `length` its size in the file.
struct RawReference {
  uint64_t offset = 0;
  uint64_t length = 0;
};
[[nodiscard]] std::string encode(const RawReference& reference);
// Nothing when the bytes are no reference. All raw_data of a skeleton are references, so a file
// cannot forge one; only tensors that the onnx library itself makes are not.
[[nodiscard]] std::optional<RawReference> decode_reference(std::string_view raw_data);

// What to write for a raw_data field: its new size first, then its bytes.
struct RawDataRewrite {
  std::function<uint64_t(ByteSpan raw_data)> size;
  std::function<void(ByteSpan raw_data, const std::function<void(ByteSpan)>& write)> write;
};

// Writes `message` with every raw_data in it rewritten and the lengths around it corrected; all
// other bytes stay as they are. Any bytes are safe: what is not protobuf is a Failure.
void rewrite_raw_data(ByteSpan message, WireMessage kind, const RawDataRewrite& rewrite,
                      const std::function<void(ByteSpan)>& write);

// The message with references into itself instead of data.
[[nodiscard]] std::string skeleton_of(ByteSpan message, WireMessage kind);
// The inverse: references replaced by the parts of `file` that they name.
[[nodiscard]] std::string with_data(ByteSpan skeleton, WireMessage kind, ByteSpan file);

[[nodiscard]] inline ByteSpan bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace hone
