#include "support/error.h"

namespace hone {

std::string Error::to_string() const {
  std::string text = where.empty() ? reason : where + ": " + reason;
  if (!hint.empty()) text += " (" + hint + ")";
  return text;
}

void throw_invalid(std::string reason, std::string hint) {
  throw Failure{{ErrorKind::kInvalid, {}, std::move(reason), std::move(hint)}};
}

void throw_unsupported(std::string reason, std::string hint) {
  throw Failure{{ErrorKind::kUnsupported, {}, std::move(reason), std::move(hint)}};
}

void throw_unknown(std::string reason, std::string hint) {
  throw Failure{{ErrorKind::kUnknown, {}, std::move(reason), std::move(hint)}};
}

}  // namespace hone
