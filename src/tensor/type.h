// Type of a tensor: element type and shape, the shape possibly unknown.
#pragma once

#include <optional>
#include <string>

#include "tensor/dim.h"
#include "tensor/element_type.h"

namespace hone {

struct TensorType {
  ElementType element = ElementType::kInvalid;
  std::optional<Shape> shape;  // none: even the rank is unknown

  [[nodiscard]] bool is_const() const { return shape && hone::is_const(*shape); }
  [[nodiscard]] std::string to_string() const;  // "f32[N, 3]", "f32[?]" without a shape
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

}  // namespace hone
