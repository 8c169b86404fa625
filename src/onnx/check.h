// ONNX's own rules for a model, applied to its skeleton: versions, operators' signatures,
// functions.
#pragma once

#include <functional>

#include "onnx/onnx_pb.h"
#include "support/error.h"

namespace hone {

// IR version and opsets that hone cannot read.
[[nodiscard]] Errors check_versions(const onnx::ModelProto& model);

// Every node against its operator's schema: number of inputs and outputs, attributes, subgraphs.
// Tensors are taken out for the time of the check (they are references, which the checker would
// take for data) and are the reader's business.
[[nodiscard]] Errors check_nodes(onnx::ModelProto& model);

// Replaces calls of the model's own functions by their bodies. Functions of another opset version
// than the model's remain. Refuses models that would become absurdly large.
[[nodiscard]] Errors inline_functions(onnx::ModelProto& model, double max_nodes);

// Visits all tensors, in a fixed order: initializers, attributes, subgraphs, functions, training.
using TensorVisit = std::function<void(onnx::TensorProto&)>;
void for_each_tensor(onnx::ModelProto& model, const TensorVisit& visit);
void for_each_tensor(onnx::AttributeProto& attribute, const TensorVisit& visit);

}  // namespace hone
