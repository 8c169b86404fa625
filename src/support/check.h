// Invariants of hone itself: on in release builds, never reachable from input.
#pragma once

#include <stdexcept>
#include <string>

namespace hone {

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition,
                                      const std::string& why) {
  throw InternalError(std::string("internal error in ") + file + ":" + std::to_string(line) + ": " +
                      condition + ": " + why);
}

}  // namespace hone

#define HONE_CHECK(condition, why)                                                 \
  do {                                                                             \
    if (!(condition)) ::hone::check_failed(__FILE__, __LINE__, #condition, (why)); \
  } while (false)
