// Whole files: mapped for reading, and written so that a reader never sees a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "support/error.h"

namespace hone {

using ByteSpan = std::span<const std::byte>;

// A file in memory, read-only: nothing is copied, and only what is read becomes resident.
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

// A file that appears complete or not at all: written under another name in the same folder,
// flushed to the disk, then renamed. Without commit() nothing is left behind.
class AtomicFile {
 public:
  // These throw a Failure that names the path and what the system said.
  explicit AtomicFile(std::string path);
  void write(ByteSpan bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  // Zeros up to the next multiple of `alignment`.
  void align(uint64_t alignment);
  // All data is on the disk; only the name is missing.
  void flush();
  void commit();

  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] uint64_t size() const { return size_ + buffer_.size(); }

 private:
  void write_through(ByteSpan bytes);
  void drain();

  std::string path_, temporary_;
  int fd_ = -1;
  uint64_t size_ = 0;   // bytes handed to the system
  std::string buffer_;  // many writes are of a few bytes
};

[[nodiscard]] Result<std::string> read_text_file(const std::string& path);
[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace hone
