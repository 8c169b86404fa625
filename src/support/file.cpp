#include "support/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hone {
namespace {

std::unexpected<Error> system_error(const std::string& path, const std::string& what, int code) {
  std::string hint;
  if (code == ENOENT) hint = "check the path";
  if (code == EACCES || code == EPERM || code == EROFS) hint = "check the permissions";
  if (code == ENOSPC || code == EDQUOT) hint = "free some space or choose another folder";
  return fail(ErrorKind::kSystem, path, what + ": " + std::strerror(code), hint);
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(path, "cannot open", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return system_error(path, "cannot read", errno);
  if (!S_ISREG(facts.st_mode))
    return fail(ErrorKind::kSystem, path, "is not a regular file", "give the path of a file");
  const auto size = static_cast<size_t>(facts.st_size);
  if (size == 0) return MappedFile{};
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) return system_error(path, "cannot map", errno);
  MappedFile result;
  result.bytes = {static_cast<const std::byte*>(start), size};
  result.owner = std::shared_ptr<const void>(start, [size](const void* p) {
    ::munmap(const_cast<void*>(p), size);
  });
  return result;
}

Result<std::string> read_text_file(const std::string& path) {
  Result<MappedFile> file = map_file(path);
  if (!file) return std::unexpected(std::move(file.error()));
  return std::string(reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size());
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return system_error(path, "cannot write", errno);
  return AtomicFile(path, std::move(temporary), descriptor);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      error_(other.error_),
      written_(other.written_) {}

AtomicFile::~AtomicFile() {
  close_descriptor();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::close_descriptor() {
  if (descriptor_ >= 0 && ::close(descriptor_) != 0 && error_ == 0) error_ = errno;
  descriptor_ = -1;
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kMaxPart = size_t{1} << 30;
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMaxPart));
    if (done < 0) {
      if (errno != EINTR) error_ = errno;
      continue;
    }
    bytes = bytes.subspan(static_cast<size_t>(done));
    written_ += static_cast<uint64_t>(done);
  }
}

Result<void> AtomicFile::commit() {
  // mkostemp makes files that only the owner reads; give the ones that open() would have given.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (error_ == 0 && ::fchmod(descriptor_, 0666 & ~mask) != 0) error_ = errno;
  if (error_ == 0 && ::fsync(descriptor_) != 0 && errno != EINVAL) error_ = errno;
  close_descriptor();
  if (error_ == 0 && ::rename(temporary_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return system_error(path_, "cannot write", error_);
  temporary_.clear();
  return {};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return std::unexpected(std::move(file.error()));
  file->write(text);
  return file->commit();
}

}  // namespace hone
