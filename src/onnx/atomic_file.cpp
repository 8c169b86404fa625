#include "onnx/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace hone {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;
constexpr size_t kMaxWrite = size_t{1} << 30;

mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  const std::filesystem::path target(path_);
  temporary_ = (target.parent_path() / ("." + target.filename().string() + ".XXXXXX")).string();
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) {
    const int code = errno;
    temporary_.clear();
    fail_with("create a file in its folder", code);
  }
  struct stat existing {};
  const bool replaces = ::stat(path_.c_str(), &existing) == 0;
  if (::fchmod(fd_, replaces ? existing.st_mode & 07777 : usual_mode()) != 0) errno = 0;
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail_with(const std::string& action, int code) const {
  throw Failure{{ErrorKind::kSystem, path_, "cannot " + action + ": " + std::strerror(code),
                 code == ENOSPC || code == EDQUOT ? "free some space; nothing was changed" : ""}};
}

void AtomicFile::write_through(ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), std::min(bytes.size(), kMaxWrite));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail_with("write the file", errno);
    size_ += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

void AtomicFile::drain() {
  write_through(bytes_of(buffer_));
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
  if (::fsync(fd_) != 0) fail_with("write the file", errno);
}

void AtomicFile::commit() {
  flush();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail_with("name the file", errno);
  temporary_.clear();
}

}  // namespace hone
