#include "onnx/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hone {
namespace {

[[noreturn]] void throw_system(const std::string& path, const std::string& action, int code) {
  throw Failure{{ErrorKind::kSystem, path, "cannot " + action + ": " + std::strerror(code), {}}};
}

struct Descriptor {
  int fd;
  ~Descriptor() { ::close(fd); }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  // A pipe without a writer must not block.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw_system(path, "open the file", errno);
  const Descriptor guard{fd};
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_system(path, "read the file's size", errno);
  if (!S_ISREG(status.st_mode))
    throw Failure{{ErrorKind::kInvalid, path, "is not a regular file", {}}};
  const auto size = static_cast<size_t>(status.st_size);
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

}  // namespace hone
