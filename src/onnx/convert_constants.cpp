#include "onnx/convert_scope.h"

namespace hone {

void Scope::add_initializers(const onnx::GraphProto& proto) {
  for (const auto& tensor : proto.initializer()) {
    const std::string where = "initializer '" + tensor.name() + "'";
    try {
      if (tensor.name().empty()) throw_invalid("has no name");
      const auto taken = graph_.find_value(tensor.name());
      if (taken && graph_.value(*taken).kind != Value::Kind::kInput)
        throw_invalid("is given twice");
      if (!taken && !read_.contains(tensor.name())) continue;
      Buffer data = context_.reader.read(tensor);
      if (taken) {
        if (!graph_.value(*taken).constant.empty_handle()) throw_invalid("is given twice");
        graph_.value(*taken).constant = std::move(data);
        continue;
      }
      const ValueId id = graph_.add_constant(tensor.name(), std::move(data));
      graph_.value(id).doc = tensor.doc_string();
      graph_.value(id).metadata = metadata_of(tensor.metadata_props());
    } catch (const Failure& failure) {
      report(failure, where);
    }
  }
  for (const auto& sparse : proto.sparse_initializer())
    context_.errors.push_back({ErrorKind::kUnsupported,
                               "initializer '" + sparse.values().name() + "'", "is sparse",
                               "make it a dense tensor"});
}

// A constant of the graph instead of a Constant node, where the value is a plain tensor.
bool Scope::take_constant(const onnx::NodeProto& proto, const Node& node) {
  if (node.op != "Constant" || !node.domain.empty() || proto.output_size() != 1 ||
      node.attributes.size() != 1)
    return false;
  const auto& [name, attribute] = *node.attributes.begin();
  Buffer data;
  if (const auto* tensor = std::get_if<Buffer>(&attribute)) {
    data = *tensor;
  } else if (const auto* f = std::get_if<float>(&attribute)) {
    data = Buffer::of<float>(ElementType::kF32, {}, std::span(f, 1));
  } else if (const auto* fs = std::get_if<std::vector<float>>(&attribute)) {
    data = Buffer::of<float>(ElementType::kF32, {static_cast<int64_t>(fs->size())}, *fs);
  } else if (const auto* i = std::get_if<int64_t>(&attribute)) {
    data = Buffer::scalar_int(*i);
  } else if (const auto* is = std::get_if<std::vector<int64_t>>(&attribute)) {
    data = Buffer::of_ints(*is);
  } else if (const auto* s = std::get_if<std::string>(&attribute)) {
    data = Buffer::of_strings({}, {*s});
  } else if (const auto* ss = std::get_if<std::vector<std::string>>(&attribute)) {
    data = Buffer::of_strings({static_cast<int64_t>(ss->size())}, *ss);
  } else {
    return false;
  }
  if (!read_.contains(proto.output(0))) return true;
  const ValueId id = graph_.add_constant(proto.output(0), std::move(data));
  graph_.value(id).doc = node.doc;
  graph_.value(id).metadata = node.metadata;
  if (context_.ir_version < 4) graph_.value(id).metadata[kConstantNodeNote] = node.name;
  return true;
}

}  // namespace hone
