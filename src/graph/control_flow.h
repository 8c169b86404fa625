// If, Loop and Scan on the reference engine: operators whose attributes are graphs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "graph/interpreter.h"

namespace hone {

[[nodiscard]] bool is_control_flow(const Node& node);

// `captured` holds the values that the subgraphs read by name.
[[nodiscard]] Result<std::vector<Buffer>> run_control_flow(
    const Node& node, std::span<const Buffer> operands,
    const std::map<std::string, Buffer>& captured, const InterpretOptions& options);

}  // namespace hone
