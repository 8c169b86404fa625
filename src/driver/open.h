// From a file or from memory to a session: what `hone run`, the C interface and Python share.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "driver/session.h"

namespace hone {

struct OpenOptions {
  std::string engine = "native";  // or "reference"
  std::string target = "host";    // a CPU that this machine can stand in for
  std::string directory;          // of external data, for models from memory
  SessionOptions session;
};

// Sets one option by its name: threads, engine, target, directory, cache_size, shape:INPUT=1,3,4
// and symbol:NAME=8. For interfaces that pass text.
[[nodiscard]] Result<void> set_option(OpenOptions& options, const std::string& key,
                                      const std::string& value);

// All problems of the model at once.
[[nodiscard]] Results<std::unique_ptr<Session>> open_session(const std::string& path,
                                                             const OpenOptions& options);
// The bytes are borrowed, for as long as the session lives.
[[nodiscard]] Results<std::unique_ptr<Session>> open_session_bytes(
    std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
    const OpenOptions& options);
// The model's nodes point into `owner`.
[[nodiscard]] Result<std::unique_ptr<Session>> open_session_model(Model model,
                                                                  std::shared_ptr<const void> owner,
                                                                  const OpenOptions& options);

}  // namespace hone
