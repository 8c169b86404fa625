// Types of values as ONNX writes them.
//
// A dimension without a name and value is -1 in a recorded type until `infer` or the importer names
// it "unknown_<value>_<axis>"; export makes such symbols nameless again. A model's own dim_param of
// that form is kept apart by an underscore at its end.
#pragma once

#include <optional>
#include <string>

#include "onnx/onnx_pb.h"
#include "tensor/type.h"

namespace hone {

[[nodiscard]] std::string symbol_of_dim_param(const std::string& name);
// Nothing: the dimension has no name.
[[nodiscard]] std::optional<std::string> dim_param_of_symbol(const std::string& symbol);
[[nodiscard]] std::string unnamed_symbol(int value, size_t axis);

// Nothing where it is no tensor, or of an element type that hone does not have. Throws a Failure
// for impossible dimensions.
[[nodiscard]] std::optional<TensorType> tensor_type_of(const onnx::TypeProto& type);
// Dimensions that are neither numbers nor plain symbols are left open.
[[nodiscard]] onnx::TypeProto type_proto_of(const TensorType& type);

}  // namespace hone
