#include "tensor/type.h"

namespace hone {

std::string TensorType::to_string() const {
  return std::string(name_of(element)) + (shape ? hone::to_string(*shape) : "[?]");
}

}  // namespace hone
