#include "support/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;
constexpr size_t kMaxWrite = size_t{1} << 30;

[[noreturn]] void throw_system(const std::string& path, const std::string& action, int code) {
  std::string hint;
  if (code == ENOENT || code == ENOTDIR) hint = "check the path";
  if (code == EACCES || code == EPERM || code == EROFS) hint = "check the permissions";
  if (code == ENOSPC || code == EDQUOT) hint = "free some space or choose another folder";
  throw Failure{{ErrorKind::kSystem, path, "cannot " + action + ": " + std::strerror(code), hint}};
}

void require_regular(const std::string& path, const struct stat& facts) {
  if (!S_ISREG(facts.st_mode))
    throw Failure{{ErrorKind::kSystem, path, "is not a regular file", "give the path of a file"}};
}

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  // A pipe without a writer must not block.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw_system(path, "open the file", errno);
  const Descriptor guard{fd};
  struct stat facts{};
  if (::fstat(fd, &facts) != 0) throw_system(path, "read the file", errno);
  require_regular(path, facts);
  const auto size = static_cast<size_t>(facts.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) throw_system(path, "map the file", errno);
  return std::shared_ptr<const MappedFile>(
      new MappedFile({static_cast<const std::byte*>(address), size}));
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  struct stat existing{};
  const bool replaces = ::stat(path_.c_str(), &existing) == 0;
  // The rename at the end would put a file in the place of a device or a pipe.
  if (replaces) require_regular(path_, existing);
  const std::filesystem::path target(path_);
  temporary_ = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    const int code = errno;
    temporary_.clear();
    throw_system(path_, "create a file in its folder", code);
  }
  // mkostemp makes files that only the owner reads. Other rights are no reason to fail.
  std::ignore = ::fchmod(fd_, replaces ? existing.st_mode & 07777 : usual_mode());
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_system(path_, "write the file", errno);
    size_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

void AtomicFile::drain() {
  write_through(std::as_bytes(std::span(buffer_)));
  buffer_.clear();
}

void AtomicFile::write(ByteSpan bytes) {
  if (bytes.size() >= kBufferBytes) {
    drain();
    return write_through(bytes);
  }
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (buffer_.size() >= kBufferBytes) drain();
}

void AtomicFile::align(uint64_t alignment) {
  const uint64_t beyond = size() % alignment;
  if (beyond != 0) buffer_.append(static_cast<size_t>(alignment - beyond), '\0');
}

void AtomicFile::flush() {
  drain();
  if (::fsync(fd_) != 0 && errno != EINVAL) throw_system(path_, "write the file", errno);
}

void AtomicFile::commit() {
  flush();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system(path_, "name the file", errno);
  temporary_.clear();
}

Result<std::string> read_text_file(const std::string& path) try {
  const auto file = MappedFile::open(path);
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
} catch (Failure& failure) {
  return std::unexpected(std::move(failure.error));
}

Result<void> write_file(const std::string& path, std::string_view text) try {
  AtomicFile file(path);
  file.write(text);
  file.commit();
  return {};
} catch (Failure& failure) {
  return std::unexpected(std::move(failure.error));
}

}  // namespace hone
