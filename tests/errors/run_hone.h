// Runs the built program as a user would, in a folder of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hone {

struct Ran {
  int code = -1;  // 128 + signal when it was killed
  std::string out, err;
};

// A fresh folder that goes with the object.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // `hone ARGUMENTS` with the sandbox as working folder; standard input is empty.
  [[nodiscard]] Ran hone(const std::vector<std::string>& arguments) const;
  void write(const std::string& name, const std::string& bytes) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  // All that lies in the folder, sorted, subfolders with a "/".
  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_, logs_;
};

}  // namespace hone
