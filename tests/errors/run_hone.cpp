#include "errors/run_hone.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hone {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Between fork and exec: only what is safe there.
[[noreturn]] void become(const std::vector<char*>& arguments, const char* folder, int out,
                         int err) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (::chdir(folder) != 0 || ::dup2(nothing, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0)
    ::_exit(126);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

Sandbox::Sandbox() {
  std::string pattern = (fs::temp_directory_path() / "hone_errors.XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  logs_ = pattern;
  folder_ = logs_ / "work";
  fs::create_directory(folder_);
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::permissions(folder_, fs::perms::owner_all, ignored);
  fs::remove_all(logs_, ignored);
}

Ran Sandbox::hone(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {HONE_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const fs::path out_path = logs_ / "stdout";
  const fs::path err_path = logs_ / "stderr";
  const int out = ::open(out_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const int err = ::open(err_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  const pid_t child = ::fork();
  if (child == 0) become(pointers, folder_.c_str(), out, err);
  ::close(out);
  ::close(err);
  int status = 0;
  ::waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, contents(out_path), contents(err_path)};
}

void Sandbox::write(const std::string& name, const std::string& bytes) const {
  std::ofstream file(folder_ / name, std::ios::binary);
  file << bytes;
  file.close();
  EXPECT_TRUE(file.good()) << name;
}

std::string Sandbox::read(const std::string& name) const { return contents(folder_ / name); }

std::vector<std::string> Sandbox::files() const {
  std::vector<std::string> result;
  for (const auto& entry : fs::recursive_directory_iterator(folder_))
    result.push_back(fs::relative(entry.path(), folder_).string() +
                     (entry.is_directory() ? "/" : ""));
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace hone
