// Operators that hone does not define but ONNX does, by a function body: the body becomes the
// node's expansion. Also completes the types of a whole graph, subgraphs included.
#pragma once

#include <map>
#include <string>

#include "onnx/convert.h"

namespace hone {

// Functions of the model itself that could not be inlined, by "domain:name:overload".
using LocalFunctions = std::map<std::string, const onnx::FunctionProto*>;
[[nodiscard]] LocalFunctions local_functions_of(const onnx::ModelProto& model);

// Infers types, expands what has no meaning, and again, until nothing new comes of it. Returns
// the nodes that are wrong for their inputs.
[[nodiscard]] Errors infer_and_expand(Graph& graph, const LocalFunctions& functions,
                                      ConvertContext& context);

}  // namespace hone
