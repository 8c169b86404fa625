// From hone's graphs to ONNX's messages.
#pragma once

#include <functional>
#include <string>

#include "graph/graph.h"
#include "onnx/onnx_pb.h"

namespace hone {

// Fills in the data of a tensor whose name, type and dims are set.
using TensorEncoder = std::function<void(const Buffer&, onnx::TensorProto&)>;

class Encoder {
 public:
  Encoder(TensorEncoder data, int64_t ir_version)
      : data_(std::move(data)), ir_version_(ir_version) {}

  // These throw a Failure for what only native code can have.
  [[nodiscard]] onnx::NodeProto node(const Graph& graph, const Node& node) const;
  [[nodiscard]] onnx::AttributeProto attribute(const std::string& name,
                                               const Attribute& attribute) const;
  [[nodiscard]] onnx::GraphProto graph(const Graph& graph) const;
  // Gives the data of a tensor that was kept as it stood to the TensorEncoder, too.
  void adopt(onnx::TensorProto& tensor) const;

 private:
  void tensor(const Buffer& buffer, onnx::TensorProto& out) const;
  void constant(const Value& value, onnx::GraphProto& out) const;

  TensorEncoder data_;
  int64_t ir_version_;
};

}  // namespace hone
