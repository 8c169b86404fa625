#include "onnx/encode.h"

#include "onnx/check.h"
#include "ops/onnx_types.h"
#include "support/error.h"

namespace hone {
namespace {

using onnx::AttributeProto;

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

}  // namespace

void Encoder::tensor(const Buffer& buffer, onnx::TensorProto& out) const {
  out.set_data_type(static_cast<int32_t>(onnx_number(buffer.type())));
  for (const int64_t dim : buffer.dims()) out.add_dims(dim);
  if (buffer.type() == ElementType::kString) {
    for (const std::string& text : buffer.strings()) out.add_string_data(text);
  } else {
    data_(buffer, out);
  }
}

void Encoder::adopt(onnx::TensorProto& tensor) const {
  // Present but empty is no reference either.
  if (tensor.raw_data().empty()) return tensor.clear_raw_data();
  const std::string raw = std::move(*tensor.mutable_raw_data());
  tensor.clear_raw_data();
  data_(Buffer::of<uint8_t>(ElementType::kU8, {static_cast<int64_t>(raw.size())},
                            {reinterpret_cast<const uint8_t*>(raw.data()), raw.size()}),
        tensor);
}

AttributeProto Encoder::attribute(const std::string& name, const Attribute& attribute) const {
  AttributeProto out;
  out.set_name(name);
  const auto set_graph = [&](const std::shared_ptr<const Graph>& graph) {
    return graph ? this->graph(*graph) : onnx::GraphProto{};
  };
  std::visit(Match{
                 [&](int64_t v) { out.set_type(AttributeProto::INT), out.set_i(v); },
                 [&](float v) { out.set_type(AttributeProto::FLOAT), out.set_f(v); },
                 [&](const std::string& v) { out.set_type(AttributeProto::STRING), out.set_s(v); },
                 [&](const std::vector<int64_t>& v) {
                   out.set_type(AttributeProto::INTS);
                   out.mutable_ints()->Add(v.begin(), v.end());
                 },
                 [&](const std::vector<float>& v) {
                   out.set_type(AttributeProto::FLOATS);
                   out.mutable_floats()->Add(v.begin(), v.end());
                 },
                 [&](const std::vector<std::string>& v) {
                   out.set_type(AttributeProto::STRINGS);
                   for (const std::string& text : v) out.add_strings(text);
                 },
                 [&](const Buffer& v) {
                   out.set_type(AttributeProto::TENSOR);
                   tensor(v, *out.mutable_t());
                 },
                 [&](const std::vector<Buffer>& v) {
                   out.set_type(AttributeProto::TENSORS);
                   for (const Buffer& buffer : v) tensor(buffer, *out.add_tensors());
                 },
                 [&](const std::shared_ptr<const Graph>& v) {
                   out.set_type(AttributeProto::GRAPH);
                   *out.mutable_g() = set_graph(v);
                 },
                 [&](const std::vector<std::shared_ptr<const Graph>>& v) {
                   out.set_type(AttributeProto::GRAPHS);
                   for (const auto& graph : v) *out.add_graphs() = set_graph(graph);
                 },
                 [&](const std::vector<Dim>&) {
                   throw_unsupported("attribute " + name + " is symbolic",
                                     "only rules can have it");
                 },
                 [&](const OpaqueAttribute& v) {
                   if (!out.ParseFromString(v.bytes))
                     throw_invalid("attribute " + name + " is damaged");
                   for_each_tensor(out, [this](onnx::TensorProto& tensor) { adopt(tensor); });
                 },
             },
             attribute);
  return out;
}

onnx::NodeProto Encoder::node(const Graph& graph, const Node& node) const {
  if (node.inline_expr)
    throw_unsupported("is an inline tensor expression", "it exists in native code only");
  onnx::NodeProto out;
  const auto name_of = [&](ValueId id) {
    return id.valid() ? graph.value(id).name : std::string();
  };
  for (const ValueId input : node.inputs) out.add_input(name_of(input));
  for (const ValueId output : node.outputs) out.add_output(name_of(output));
  if (!node.name.empty()) out.set_name(node.name);
  out.set_op_type(node.op);
  if (!node.domain.empty()) out.set_domain(node.domain);
  if (!node.overload.empty()) out.set_overload(node.overload);
  if (!node.doc.empty()) out.set_doc_string(node.doc);
  for (const auto& [name, value] : node.attributes) *out.add_attribute() = attribute(name, value);
  for (const auto& [key, text] : node.metadata) {
    auto* entry = out.add_metadata_props();
    entry->set_key(key);
    entry->set_value(text);
  }
  return out;
}

}  // namespace hone
