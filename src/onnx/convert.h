// From ONNX's graphs and functions to hone's: names become ids, tensors buffers, every node gets
// its operator and opset. Problems are collected, all of them, with the node they belong to.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "graph/graph.h"
#include "onnx/onnx_pb.h"
#include "onnx/tensor_reader.h"
#include "ops/table.h"

namespace hone {

using Opsets = std::map<std::string, int64_t>;  // "" is ai.onnx

// What every graph of one model shares.
struct ConvertContext {
  const OperatorTable& table;
  TensorReader& reader;
  int64_t ir_version = 0;
  Opsets opsets;  // of the model; functions may have others
  Errors errors;
};

// Notes that importer leaves in Value::metadata for the exporter; never written to a file.
// A constant that was a Constant node of this name (models before IR version 4 list initializers
// as inputs, so such a constant must not become one).
inline constexpr const char* kConstantNodeNote = "hone.constant_node";
// The TypeProto that the file states for an input or output, where hone's type says it otherwise.
inline constexpr const char* kDeclaredTypeNote = "hone.declared_type";

[[nodiscard]] Opsets opsets_of(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports);

[[nodiscard]] Graph convert_graph(const onnx::GraphProto& graph, const Opsets& opsets,
                                  ConvertContext& context);

// The body of a function as a graph whose inputs and outputs are those of `call`, by position; an
// absent operand of the call is absent in the body too.
[[nodiscard]] Graph convert_function(const onnx::FunctionProto& function, const Graph& around,
                                     const Node& call, const Attributes& defaults,
                                     ConvertContext& context);

// Attributes without subgraphs and references, such as an operator's defaults.
[[nodiscard]] Attribute convert_attribute(const onnx::AttributeProto& proto,
                                          ConvertContext& context);

}  // namespace hone
