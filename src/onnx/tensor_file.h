// One tensor in a file of its own, as ONNX's test data has them (TensorProto).
#pragma once

#include <string>

#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {

[[nodiscard]] Result<Buffer> read_tensor_file(const std::string& path);

}  // namespace hone
