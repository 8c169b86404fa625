// A file that appears complete or not at all: written under another name in the same folder,
// flushed to the disk, then renamed.
#pragma once

#include <string>

#include "onnx/wire.h"
#include "support/error.h"

namespace hone {

class AtomicFile {
 public:
  // These throw a Failure that names the path and what the system said.
  explicit AtomicFile(std::string path);
  void write(ByteSpan bytes);
  // Zeros up to the next multiple of `alignment`.
  void align(uint64_t alignment);
  // All data is on the disk; only the name is missing.
  void flush();
  void commit();

  ~AtomicFile();  // removes what was not committed
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] uint64_t size() const { return size_ + buffer_.size(); }

 private:
  void write_through(ByteSpan bytes);
  void drain();
  [[noreturn]] void fail_with(const std::string& action, int code) const;

  std::string path_, temporary_;
  int fd_ = -1;
  uint64_t size_ = 0;      // bytes handed to the system
  std::string buffer_;     // many writes are of a few bytes
};

}  // namespace hone
