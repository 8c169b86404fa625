#include "onnx/convert.h"
#include "onnx/encode.h"
#include "onnx/types.h"
#include "support/error.h"

namespace hone {
namespace {

void add_metadata(const std::map<std::string, std::string>& metadata, auto& out) {
  for (const auto& [key, text] : metadata) {
    if (key == kConstantNodeNote || key == kDeclaredTypeNote) continue;
    auto* entry = out.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
}

// Does the type that the source stated still hold? It may be less exact than what hone knows.
bool still_holds(const TensorType& declared, const TensorType& type) {
  if (declared.element != type.element) return false;
  if (!declared.shape || !type.shape) return true;
  if (declared.shape->size() != type.shape->size()) return false;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    const Dim& stated = (*declared.shape)[i];
    const Dim& known = (*type.shape)[i];
    if (stated.is_const() && known.is_const() && !stated.is(-1) && stated != known) return false;
  }
  return true;
}

onnx::TypeProto type_of(const Value& value) {
  onnx::TypeProto out;
  const auto note = value.metadata.find(kDeclaredTypeNote);
  if (note != value.metadata.end() && out.ParseFromString(note->second)) {
    const auto declared = tensor_type_of(out);
    if (declared &&
        (value.type.element == ElementType::kInvalid || still_holds(*declared, value.type)))
      return out;
  }
  if (value.type.element != ElementType::kInvalid) return type_proto_of(value.type);
  out.Clear();
  if (!value.opaque_type.empty() && !out.ParseFromString(value.opaque_type)) out.Clear();
  return out;
}

void add_info(const Value& value, onnx::ValueInfoProto& out) {
  out.set_name(value.name);
  onnx::TypeProto type = type_of(value);
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET) *out.mutable_type() = std::move(type);
  if (!value.doc.empty()) out.set_doc_string(value.doc);
  add_metadata(value.metadata, out);
}

// Is the type worth writing: does every dimension have a value or a name of the model's own?
bool says_something(const Value& value) {
  if (!value.doc.empty() || !value.metadata.empty() || !value.opaque_type.empty()) return true;
  if (value.type.element == ElementType::kInvalid) return false;
  const onnx::TypeProto type = type_proto_of(value.type);
  for (const auto& dim : type.tensor_type().shape().dim())
    if (!dim.has_dim_value() && !dim.has_dim_param()) return false;
  return type.tensor_type().has_shape();
}

}  // namespace

// Models before IR version 4 list every initializer as an input; a former Constant node must not
// become an input, so it becomes a node again.
void Encoder::constant(const Value& value, onnx::GraphProto& out) const {
  const auto note = value.metadata.find(kConstantNodeNote);
  if (ir_version_ < 4 && note != value.metadata.end()) {
    auto* node = out.add_node();
    node->set_op_type("Constant");
    if (!note->second.empty()) node->set_name(note->second);
    node->add_output(value.name);
    *node->add_attribute() = attribute("value", value.constant);
    return;
  }
  auto* tensor = out.add_initializer();
  tensor->set_name(value.name);
  this->tensor(value.constant, *tensor);
  if (!value.doc.empty()) tensor->set_doc_string(value.doc);
  add_metadata(value.metadata, *tensor);
}

onnx::GraphProto Encoder::graph(const Graph& graph) const {
  onnx::GraphProto out;
  out.set_name(graph.name);
  if (!graph.doc.empty()) out.set_doc_string(graph.doc);
  add_metadata(graph.metadata, out);
  const std::vector<int> uses = graph.use_counts();
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    add_info(value, *out.add_input());
    if (value.constant.empty_handle()) continue;
    auto* initial = out.add_initializer();
    initial->set_name(value.name);
    tensor(value.constant, *initial);
  }
  for (const ValueId id : graph.constants()) {
    if (uses[id.index()] == 0) continue;
    const int before = out.initializer_size();
    constant(graph.value(id), out);
    if (ir_version_ < 4 && out.initializer_size() > before)
      add_info(graph.value(id), *out.add_input());
  }
  std::vector<bool> is_output(graph.value_count(), false);
  for (const ValueId id : graph.outputs()) {
    if (is_output[id.index()]) continue;
    is_output[id.index()] = true;
  }
  for (const ValueId id : graph.outputs()) add_info(graph.value(id), *out.add_output());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    try {
      *out.add_node() = this->node(graph, node);
    } catch (Failure& failure) {
      if (failure.error.where.empty()) failure.error.where = node.label();
      throw;
    }
    for (const ValueId output : node.outputs) {
      if (!output.valid() || is_output[output.index()]) continue;
      const Value& value = graph.value(output);
      if (says_something(value)) add_info(value, *out.add_value_info());
    }
  }
  return out;
}

}  // namespace hone
