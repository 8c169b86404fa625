// Writes ONNX models: the same interface, opset and metadata as were read; atomically.
#pragma once

#include <string>

#include "graph/model.h"
#include "support/error.h"

namespace hone {

struct ExportOptions {
  enum class ExternalData : uint8_t { kAuto, kAlways, kNever } external = ExternalData::kAuto;
  // kAuto: external data when the file would exceed this many bytes.
  uint64_t external_above = 2'000'000'000;
};

// A temporary file beside `path`, renamed when complete; nothing is left behind on failure.
[[nodiscard]] Result<void> export_onnx(const Model& model, const std::string& path,
                                       const ExportOptions& options = {});

}  // namespace hone
