// Reads ONNX models. Weights are mapped, not copied; unknown operators and domains stay as they
// are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "graph/model.h"
#include "ops/table.h"
#include "support/error.h"

namespace hone {

struct ImportOptions {
  bool check = true;                // ONNX's own checker
  bool allow_missing_data = false;  // weightless models, for inspection
  double max_inlined_nodes = 4e6;   // a small file of nested functions can stand for any number
};

// The operator table must outlive the model. Errors name the node, the reason and the remedy, all
// of them at once.
[[nodiscard]] Results<Model> import_onnx(const std::string& path, const OperatorTable& table,
                                         const ImportOptions& options = {});
// From memory; `bytes` is borrowed by the model's constants when `owner` keeps it alive.
[[nodiscard]] Results<Model> import_onnx_bytes(std::span<const std::byte> bytes,
                                               std::shared_ptr<const void> owner,
                                               const std::string& directory,
                                               const OperatorTable& table,
                                               const ImportOptions& options = {});

}  // namespace hone
