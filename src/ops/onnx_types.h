// ONNX's numbers for element types (TensorProto.DataType), which some attributes carry.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/element_type.h"

namespace hone {

[[nodiscard]] std::optional<ElementType> element_type_of_onnx(int64_t number);
[[nodiscard]] int64_t onnx_number(ElementType type);

}  // namespace hone
