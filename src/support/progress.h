// A progress line for work that takes longer than two seconds.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hone {

// Calls `print` at most four times a second, and only once two seconds have passed.
class Progress {
 public:
  using Print = std::function<void(const std::string& line)>;
  explicit Progress(Print print) : print_(std::move(print)) {}

  void step(const std::string& what, size_t done, size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (!print_ || now - start_ < std::chrono::seconds(2)) return;
    if (now - last_ < std::chrono::milliseconds(250)) return;
    last_ = now;
    print_(what + ": " + std::to_string(done) + " of " + std::to_string(all));
    shown_ = true;
  }
  [[nodiscard]] bool shown() const { return shown_; }

 private:
  Print print_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
  bool shown_ = false;
};

}  // namespace hone
