// NumPy's .npy files, version 1 and 2, little-endian, C order.
#pragma once

#include <string>

#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {

[[nodiscard]] Result<Buffer> read_npy(const std::string& path);
// Types that NumPy does not have (bf16, 8-bit floats) are written as f32. Atomic.
[[nodiscard]] Result<void> write_npy(const std::string& path, const Buffer& buffer);

}  // namespace hone
