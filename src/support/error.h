// Errors that users can cause: what went wrong, where, and what to do about it.
#pragma once

#include <expected>
#include <string>
#include <utility>
#include <vector>

namespace hone {

enum class ErrorKind {
  kInvalid,      // the input is broken: file, model, text, option
  kUnsupported,  // valid, but hone has no meaning for it
  kUnknown,      // cannot be decided yet: a value that only a run knows
  kSystem,       // files, memory, operating system
  kInterrupted,  // the user asked to stop
};

// One problem. `where` names the place (file, node, line), `hint` the remedy; both may be empty.
struct Error {
  ErrorKind kind = ErrorKind::kInvalid;
  std::string where;
  std::string reason;
  std::string hint;

  // "where: reason (hint)"
  [[nodiscard]] std::string to_string() const;
};

using Errors = std::vector<Error>;

template <typename T>
using Result = std::expected<T, Error>;

// All problems at once, for stages that can go on after the first one.
template <typename T>
using Results = std::expected<T, Errors>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string where, std::string reason,
                                   std::string hint = {}) {
  return std::unexpected(Error{kind, std::move(where), std::move(reason), std::move(hint)});
}

// Thrown inside operator definitions and builders, where every step may fail, and caught by the
// one function that calls them; it never crosses a module's border.
struct Failure {
  Error error;
};

[[noreturn]] void throw_invalid(std::string reason, std::string hint = {});
[[noreturn]] void throw_unsupported(std::string reason, std::string hint = {});
// The definition needs a value that is not known before a run.
[[noreturn]] void throw_unknown(std::string reason, std::string hint = {});

}  // namespace hone
