// One graph while it is converted, inside the graphs around it. Part of convert*.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/convert.h"

namespace hone {

[[nodiscard]] std::map<std::string, std::string> metadata_of(const auto& entries) {
  std::map<std::string, std::string> result;
  for (const auto& entry : entries) result[entry.key()] = entry.value();
  return result;
}

class Scope {
 public:
  // `place` goes in front of every message: the node that the graph belongs to.
  Scope(ConvertContext& context, const Opsets& opsets, Scope* parent, std::string place = {})
      : context_(context), opsets_(opsets), parent_(parent), place_(std::move(place)) {
    if (parent == nullptr) return;
    bindings_ = parent->bindings_;
    in_function_ = parent->in_function_;
  }

  Graph convert(const onnx::GraphProto& proto);
  Graph convert(const onnx::FunctionProto& function, const Graph& around, const Node& call);
  // What attributes that refer to the calling node's attributes stand for.
  void bind(Attributes bindings) { bindings_ = std::move(bindings), in_function_ = true; }

  void add_attribute(Node& node, const onnx::AttributeProto& proto);
  Attribute attribute_of(const onnx::AttributeProto& proto, const std::string& place);

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  void collect_reads(const Nodes& nodes);
  void add_inputs(const onnx::GraphProto& proto);
  void add_initializers(const onnx::GraphProto& proto);
  void add_nodes(const Nodes& nodes);
  void add_node(const onnx::NodeProto& proto);
  bool take_constant(const onnx::NodeProto& proto, const Node& node);
  void add_value_info(const onnx::GraphProto& proto);
  void add_outputs(const onnx::GraphProto& proto);
  void record_type(ValueId id, const onnx::TypeProto& type, const std::string& where);
  void name_open_dims(ValueId id);
  void note_declared_type(ValueId id, const onnx::TypeProto& type);

  // A value by name, of this graph or of those around it; the latter become outer values here and
  // captures of the node that holds this graph.
  std::optional<ValueId> find(const std::string& name);
  ValueId input_of(const std::string& name, const std::string& where);

  void report(std::string where, std::string reason, std::string hint = {});
  void report(const Failure& failure, const std::string& where);

  ConvertContext& context_;
  Opsets opsets_;
  Scope* parent_;
  std::string place_;
  Graph graph_;
  std::vector<ValueId> captures_;           // of the node at hand
  std::unordered_set<std::string> read_;    // names that nodes, subgraphs and outputs read
  std::unordered_set<std::string> later_;   // names that some node of this graph computes
  std::unordered_set<std::string> absent_;  // a function's inputs that the call leaves out
  Attributes bindings_;
  bool in_function_ = false;
};

}  // namespace hone
