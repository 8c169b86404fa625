#include "onnx/wire.h"

#include <cstring>
#include <vector>

namespace hone {
namespace {

constexpr std::string_view kMagic = "hone-ref";
constexpr int kMaxDepth = 100;  // protobuf's own limit

enum WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kGroupBegin = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

[[noreturn]] void throw_broken(size_t offset) {
  throw_invalid("not a protobuf message: broken at byte " + std::to_string(offset),
                "the file is damaged or is no ONNX model");
}

// Which fields of a message lead to tensors.
std::optional<WireMessage> child_of(WireMessage kind, uint64_t field) {
  using enum WireMessage;
  switch (kind) {
    case kModel:
      if (field == 7) return kGraph;
      if (field == 20) return kTraining;
      if (field == 25) return kFunction;
      break;
    case kTraining:
      if (field == 1 || field == 2) return kGraph;
      break;
    case kFunction:
      if (field == 7) return kNode;
      if (field == 11) return kAttribute;
      break;
    case kGraph:
      if (field == 1) return kNode;
      if (field == 5) return kTensor;
      if (field == 15) return kSparseTensor;
      break;
    case kNode:
      if (field == 5) return kAttribute;
      break;
    case kAttribute:
      if (field == 5 || field == 10) return kTensor;
      if (field == 6 || field == 11) return kGraph;
      if (field == 22 || field == 23) return kSparseTensor;
      break;
    case kSparseTensor:
      if (field == 1 || field == 2) return kTensor;
      break;
    case kTensor:
      break;
  }
  return std::nullopt;
}

constexpr uint64_t kRawDataField = 9;

// Reads fields one after the other, never beyond the end.
class Cursor {
 public:
  Cursor(ByteSpan bytes, size_t begin, size_t end) : bytes_(bytes), at_(begin), end_(end) {}

  [[nodiscard]] bool done() const { return at_ == end_; }
  [[nodiscard]] size_t at() const { return at_; }

  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ == end_) throw_broken(at_);
      const auto byte = static_cast<uint64_t>(bytes_[at_++]);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    throw_broken(at_);
  }
  void skip(uint64_t count) {
    if (count > end_ - at_) throw_broken(at_);
    at_ += static_cast<size_t>(count);
  }
  // Skips the value of a field whose tag is read; groups with all they hold.
  void skip_value(uint64_t tag, int depth) {
    if (depth > kMaxDepth) throw_broken(at_);
    switch (tag & 7) {
      case kVarint:
        varint();
        return;
      case kFixed64:
        skip(8);
        return;
      case kBytes:
        skip(varint());
        return;
      case kFixed32:
        skip(4);
        return;
      case kGroupBegin:
        for (;;) {
          const uint64_t inner = varint();
          if ((inner & 7) == kGroupEnd) {
            if (inner >> 3 != tag >> 3) throw_broken(at_);
            return;
          }
          skip_value(inner, depth + 1);
        }
      default:
        throw_broken(at_);
    }
  }

 private:
  ByteSpan bytes_;
  size_t at_, end_;
};

size_t encode_varint(uint64_t value, std::byte* out) {
  size_t size = 0;
  while (value >= 0x80) {
    out[size++] = static_cast<std::byte>(value | 0x80);
    value >>= 7;
  }
  out[size++] = static_cast<std::byte>(value);
  return size;
}

size_t varint_size(uint64_t value) {
  std::byte unused[10];
  return encode_varint(value, unused);
}

// Two walks over the same fields: the first finds the new size of each nested message, in order
// of their beginnings, the second writes.
class Rewriter {
 public:
  Rewriter(ByteSpan bytes, const RawDataRewrite& rewrite,
           const std::function<void(ByteSpan)>& write)
      : bytes_(bytes), rewrite_(rewrite), write_(write) {}

  void run(WireMessage kind) {
    measure(kind, 0, bytes_.size(), 0);
    emit(kind, 0, bytes_.size());
    flush(bytes_.size());
  }

 private:
  // A length-delimited field that changes, or none: then the field was skipped.
  struct Field {
    size_t begin, end;  // of its value
    std::optional<WireMessage> child;
  };
  static std::optional<Field> next_changing(Cursor& cursor, WireMessage kind) {
    const uint64_t tag = cursor.varint();
    const uint64_t field = tag >> 3;
    if (field == 0 || field > 0x1fffffff) throw_broken(cursor.at());
    const auto child = child_of(kind, field);
    const bool raw = kind == WireMessage::kTensor && field == kRawDataField;
    if ((tag & 7) != kBytes || (!child && !raw)) {
      cursor.skip_value(tag, 0);
      return std::nullopt;
    }
    const uint64_t length = cursor.varint();
    const size_t begin = cursor.at();
    cursor.skip(length);
    return Field{begin, cursor.at(), child};
  }

  uint64_t measure(WireMessage kind, size_t begin, size_t end, int depth) {
    if (depth > kMaxDepth) throw_invalid("messages are nested too deep");
    const size_t slot = sizes_.size();
    sizes_.push_back(0);
    uint64_t size = 0;
    for (Cursor cursor(bytes_, begin, end); !cursor.done();) {
      const size_t start = cursor.at();
      const auto field = next_changing(cursor, kind);
      if (!field) {
        size += cursor.at() - start;
        continue;
      }
      const uint64_t length =
          field->child ? measure(*field->child, field->begin, field->end, depth + 1)
                       : rewrite_.size(bytes_.subspan(field->begin, field->end - field->begin));
      // Tags keep their bytes; only the length's varint may change its size.
      size += tag_size(start) + varint_size(length) + length;
    }
    return sizes_[slot] = size;
  }

  void emit(WireMessage kind, size_t begin, size_t end) {
    ++next_;
    for (Cursor cursor(bytes_, begin, end); !cursor.done();) {
      const size_t start = cursor.at();
      const auto field = next_changing(cursor, kind);
      if (!field) continue;
      flush(start + tag_size(start));
      const ByteSpan value = bytes_.subspan(field->begin, field->end - field->begin);
      std::byte length[10];
      const uint64_t size = field->child ? sizes_[next_] : rewrite_.size(value);
      write_(ByteSpan(length, encode_varint(size, length)));
      written_ = field->begin;
      if (field->child) {
        emit(*field->child, field->begin, field->end);
        flush(field->end);
      } else {
        rewrite_.write(value, write_);
        written_ = field->end;
      }
    }
  }

  size_t tag_size(size_t start) {
    Cursor cursor(bytes_, start, bytes_.size());
    cursor.varint();
    return cursor.at() - start;
  }
  // Bytes that stay as they are go out in long runs.
  void flush(size_t end) {
    if (end > written_) write_(bytes_.subspan(written_, end - written_));
    written_ = end;
  }

  ByteSpan bytes_;
  const RawDataRewrite& rewrite_;
  const std::function<void(ByteSpan)>& write_;
  std::vector<uint64_t> sizes_;
  size_t next_ = 0;
  size_t written_ = 0;
};

std::string rewritten(ByteSpan message, WireMessage kind, const RawDataRewrite& rewrite) {
  std::string out;
  rewrite_raw_data(message, kind, rewrite, [&out](ByteSpan part) {
    out.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return out;
}

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string encode(const RawReference& reference) {
  std::string out(kMagic);
  out.append(reinterpret_cast<const char*>(&reference.offset), 8);
  out.append(reinterpret_cast<const char*>(&reference.length), 8);
  return out;
}

std::optional<RawReference> decode_reference(std::string_view raw_data) {
  if (raw_data.size() != kMagic.size() + 16 || !raw_data.starts_with(kMagic)) return std::nullopt;
  RawReference reference;
  std::memcpy(&reference.offset, raw_data.data() + 8, 8);
  std::memcpy(&reference.length, raw_data.data() + 16, 8);
  return reference;
}

void rewrite_raw_data(ByteSpan message, WireMessage kind, const RawDataRewrite& rewrite,
                      const std::function<void(ByteSpan)>& write) {
  Rewriter(message, rewrite, write).run(kind);
}

std::string skeleton_of(ByteSpan message, WireMessage kind) {
  RawDataRewrite rewrite;
  rewrite.size = [](ByteSpan) { return kMagic.size() + 16; };
  rewrite.write = [message](ByteSpan raw_data, const std::function<void(ByteSpan)>& write) {
    const RawReference reference{static_cast<uint64_t>(raw_data.data() - message.data()),
                                 raw_data.size()};
    write(bytes_of(encode(reference)));
  };
  return rewritten(message, kind, rewrite);
}

std::string with_data(ByteSpan skeleton, WireMessage kind, ByteSpan file) {
  const auto data_of = [file](ByteSpan raw_data) {
    const auto reference = decode_reference(text_of(raw_data));
    if (!reference) return raw_data;
    return file.subspan(static_cast<size_t>(reference->offset),
                        static_cast<size_t>(reference->length));
  };
  RawDataRewrite rewrite;
  rewrite.size = [&](ByteSpan raw_data) { return data_of(raw_data).size(); };
  rewrite.write = [&](ByteSpan raw_data, const std::function<void(ByteSpan)>& write) {
    write(data_of(raw_data));
  };
  return rewritten(skeleton, kind, rewrite);
}

}  // namespace hone
