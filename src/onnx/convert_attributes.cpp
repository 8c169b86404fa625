#include "onnx/convert_scope.h"

namespace hone {
namespace {

using onnx::AttributeProto;

// Files before IR version 2 do not state the type.
AttributeProto::AttributeType type_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.ints_size() > 0) return AttributeProto::INTS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return AttributeProto::GRAPHS;
  return AttributeProto::UNDEFINED;
}

}  // namespace

Attribute Scope::attribute_of(const AttributeProto& proto, const std::string& place) {
  const auto graph_of = [&](const onnx::GraphProto& graph) -> std::shared_ptr<const Graph> {
    Scope inner(context_, opsets_, this, place);
    return std::make_shared<const Graph>(inner.convert(graph));
  };
  switch (type_of(proto)) {
    case AttributeProto::FLOAT:
      return proto.f();
    case AttributeProto::INT:
      return proto.i();
    case AttributeProto::STRING:
      return proto.s();
    case AttributeProto::TENSOR:
      return context_.reader.read(proto.t());
    case AttributeProto::GRAPH:
      return graph_of(proto.g());
    case AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case AttributeProto::INTS:
      return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case AttributeProto::TENSORS: {
      std::vector<Buffer> tensors;
      for (const auto& tensor : proto.tensors()) tensors.push_back(context_.reader.read(tensor));
      return tensors;
    }
    case AttributeProto::GRAPHS: {
      std::vector<std::shared_ptr<const Graph>> graphs;
      for (const auto& graph : proto.graphs()) graphs.push_back(graph_of(graph));
      return graphs;
    }
    default: {
      const std::string skeleton = proto.SerializeAsString();
      return OpaqueAttribute{
          with_data(bytes_of(skeleton), WireMessage::kAttribute, context_.reader.file())};
    }
  }
}

void Scope::add_attribute(Node& node, const AttributeProto& proto) {
  const std::string where = node.label() + ", attribute " + proto.name();
  try {
    if (!proto.ref_attr_name().empty()) {
      if (!in_function_) throw_invalid("refers to a function's attribute outside of a function");
      const auto bound = bindings_.find(proto.ref_attr_name());
      if (bound != bindings_.end()) node.attributes[proto.name()] = bound->second;
      return;  // an optional attribute that the call leaves out
    }
    if (proto.name().empty()) throw_invalid("has no name");
    Attribute attribute = attribute_of(proto, where);
    if (!node.attributes.emplace(proto.name(), std::move(attribute)).second)
      throw_invalid("is given twice");
  } catch (const Failure& failure) {
    report(failure, where);
  }
}

Attribute convert_attribute(const AttributeProto& proto, ConvertContext& context) {
  return Scope(context, {}, nullptr).attribute_of(proto, {});
}

}  // namespace hone
