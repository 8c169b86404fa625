// Files mapped into memory, read-only: nothing is copied, and only what is read becomes resident.
#pragma once

#include <memory>
#include <string>

#include "onnx/wire.h"
#include "support/error.h"

namespace hone {

class MappedFile {
 public:
  // Throws a Failure that names the path when it cannot be read or is no regular file.
  static std::shared_ptr<const MappedFile> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] ByteSpan bytes() const { return bytes_; }

 private:
  explicit MappedFile(ByteSpan bytes) : bytes_(bytes) {}
  ByteSpan bytes_;
};

}  // namespace hone
