// Whole files: read, mapped, and written so that a reader never sees a part.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "support/error.h"

namespace hone {

struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // unmaps when the last copy goes
};
[[nodiscard]] Result<MappedFile> map_file(const std::string& path);
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

// A file under a temporary name in the same folder, given its name by commit(). Without commit
// nothing is left behind.
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // After the first failure the others do nothing, and commit() reports it.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  [[nodiscard]] uint64_t written() const { return written_; }
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor)
      : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}
  void close_descriptor();

  std::string path_, temporary_;
  int descriptor_;
  int error_ = 0;
  uint64_t written_ = 0;
};

[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace hone
