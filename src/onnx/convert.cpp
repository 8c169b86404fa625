#include "onnx/convert.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "onnx/convert_scope.h"
#include "onnx/types.h"
#include "support/check.h"

namespace hone {
namespace {

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace

Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets[domain_of(import.domain())] = import.version();
  return opsets;
}

void Scope::report(std::string where, std::string reason, std::string hint) {
  if (!place_.empty()) where = place_ + ", " + where;
  context_.errors.push_back(
      {ErrorKind::kInvalid, std::move(where), std::move(reason), std::move(hint)});
}

void Scope::report(const Failure& failure, const std::string& where) {
  Error error = failure.error;
  error.where = error.where.empty() || error.where == where ? where : where + ", " + error.where;
  if (!place_.empty()) error.where = place_ + ", " + error.where;
  context_.errors.push_back(std::move(error));
}

void Scope::record_type(ValueId id, const onnx::TypeProto& type, const std::string& where) {
  Value& value = graph_.value(id);
  try {
    // A file may state two types; the later one holds.
    if (const auto tensor = tensor_type_of(type)) {
      value.type = *tensor;
      value.opaque_type.clear();
    } else if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET) {
      value.type = {};
      value.opaque_type = type.SerializeAsString();
    }
  } catch (const Failure& failure) {
    report(failure, where);
  }
}

// Values that nothing computes keep their recorded types, so open dimensions get their names here.
void Scope::name_open_dims(ValueId id) {
  Value& value = graph_.value(id);
  if (!value.type.shape) return;
  for (size_t axis = 0; axis < value.type.shape->size(); ++axis)
    if ((*value.type.shape)[axis].is(-1))
      (*value.type.shape)[axis] = Dim::symbol(unnamed_symbol(id.value, axis));
}

void Scope::add_inputs(const onnx::GraphProto& proto) {
  std::unordered_set<std::string> weights;
  if (context_.ir_version < 4)
    for (const auto& tensor : proto.initializer()) weights.insert(tensor.name());
  for (const auto& info : proto.input()) {
    const std::string where = "input '" + info.name() + "'";
    if (info.name().empty()) {
      report("graph inputs", "an input has no name");
      continue;
    }
    if (graph_.find_value(info.name())) {
      report(where, "is listed twice");
      continue;
    }
    // Before IR version 4 all initializers had to be inputs too, and were constants all the same.
    if (weights.contains(info.name())) continue;
    const ValueId id = graph_.add_input(info.name(), {});
    record_type(id, info.type(), where);
    name_open_dims(id);
    graph_.value(id).doc = info.doc_string();
    graph_.value(id).metadata = metadata_of(info.metadata_props());
    note_declared_type(id, info.type());
  }
}

// What hone's types do not hold (denotations) is kept beside them.
void Scope::note_declared_type(ValueId id, const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return;
  bool denoted = !type.denotation().empty();
  for (const auto& dim : type.tensor_type().shape().dim())
    denoted = denoted || dim.has_denotation();
  if (denoted) graph_.value(id).metadata[kDeclaredTypeNote] = type.SerializeAsString();
}

std::optional<ValueId> Scope::find(const std::string& name) {
  if (const auto id = graph_.find_value(name)) return id;
  if (parent_ == nullptr) return std::nullopt;
  const auto outer = parent_->find(name);
  if (!outer) return std::nullopt;
  auto& captures = parent_->captures_;
  if (std::find(captures.begin(), captures.end(), *outer) == captures.end())
    captures.push_back(*outer);
  const ValueId id = graph_.add_outer(name, parent_->graph_.value(*outer).type);
  graph_.value(id).opaque_type = parent_->graph_.value(*outer).opaque_type;
  return id;
}

void Scope::add_node(const onnx::NodeProto& proto) {
  Node node;
  node.op = proto.op_type();
  node.domain = domain_of(proto.domain());
  node.name = proto.name();
  node.overload = proto.overload();
  node.doc = proto.doc_string();
  node.metadata = metadata_of(proto.metadata_props());
  node.def = context_.table.find(node.domain, node.op);
  if (!node.name.empty()) node.origin.push_back(node.name);
  const std::string where = node.label();
  if (const auto opset = opsets_.find(node.domain); opset != opsets_.end()) {
    node.opset = static_cast<int>(opset->second);
  } else {
    report(where, "uses domain '" + node.domain + "', which the model does not import");
  }
  captures_.clear();
  for (const std::string& name : proto.input()) node.inputs.push_back(input_of(name, where));
  for (const auto& attribute : proto.attribute()) add_attribute(node, attribute);
  std::vector<std::string> outputs;
  for (const std::string& name : proto.output()) {
    const bool twice = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    if (!name.empty() && (twice || graph_.find_value(name))) {
      report(where, "computes '" + name + "', which is computed or given already",
             "every value needs a name of its own");
      outputs.emplace_back();
    } else {
      outputs.push_back(name);
    }
  }
  if (outputs.size() == 1 && !outputs[0].empty() && take_constant(proto, node)) return;
  node.captures = captures_;
  graph_.add_node(std::move(node), outputs);
}

ValueId Scope::input_of(const std::string& name, const std::string& where) {
  if (name.empty() || absent_.contains(name)) return {};
  if (const auto id = find(name)) return *id;
  if (later_.contains(name)) {
    report(where, "reads '" + name + "' before it is computed",
           "nodes must be sorted, and must not form a cycle");
  } else {
    report(where, "reads '" + name + "', which nothing computes");
  }
  return {};
}

// Constants that nothing reads are left out, here as in export.
void Scope::collect_reads(const Nodes& nodes) {
  const auto collect_graph = [this](const onnx::GraphProto& graph) {
    collect_reads(graph.node());
    for (const auto& output : graph.output()) read_.insert(output.name());
  };
  for (const auto& node : nodes) {
    read_.insert(node.input().begin(), node.input().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_graph(attribute.g());
      for (const auto& graph : attribute.graphs()) collect_graph(graph);
    }
  }
}

void Scope::add_nodes(const Nodes& nodes) {
  for (const auto& node : nodes)
    for (const std::string& output : node.output()) later_.insert(output);
  // Constants first, as they come when they are initializers: ids, and names made of them, are
  // then the same after export.
  const auto is_constant = [](const onnx::NodeProto& node) {
    return node.op_type() == "Constant" && domain_of(node.domain()).empty();
  };
  for (const auto& node : nodes)
    if (is_constant(node)) add_node(node);
  for (const auto& node : nodes)
    if (!is_constant(node)) add_node(node);
}

void Scope::add_value_info(const onnx::GraphProto& proto) {
  for (const auto& info : proto.value_info()) {
    const auto id = graph_.find_value(info.name());
    if (!id || graph_.value(*id).kind != Value::Kind::kResult) continue;
    record_type(*id, info.type(), "value '" + info.name() + "'");
    graph_.value(*id).doc = info.doc_string();
    graph_.value(*id).metadata = metadata_of(info.metadata_props());
  }
}

void Scope::add_outputs(const onnx::GraphProto& proto) {
  std::vector<ValueId> outputs;
  for (const auto& info : proto.output()) {
    const std::string where = "output '" + info.name() + "'";
    const auto id = find(info.name());
    if (!id) {
      report(where, "is computed by no node");
      continue;
    }
    outputs.push_back(*id);
    Value& value = graph_.value(*id);
    if (value.kind != Value::Kind::kResult) continue;
    record_type(*id, info.type(), where);
    if (!info.doc_string().empty()) value.doc = info.doc_string();
    for (const auto& [key, text] : metadata_of(info.metadata_props())) value.metadata[key] = text;
    // Inference may find a more exact type; what the file states must come out again.
    if (parent_ == nullptr && info.type().has_tensor_type())
      value.metadata[kDeclaredTypeNote] = info.type().SerializeAsString();
  }
  graph_.set_outputs(std::move(outputs));
}

Graph Scope::convert(const onnx::GraphProto& proto) {
  graph_.name = proto.name();
  graph_.doc = proto.doc_string();
  graph_.metadata = metadata_of(proto.metadata_props());
  collect_reads(proto.node());
  for (const auto& output : proto.output()) read_.insert(output.name());
  add_inputs(proto);
  add_initializers(proto);
  add_nodes(proto.node());
  add_value_info(proto);
  add_outputs(proto);
  return std::move(graph_);
}

Graph Scope::convert(const onnx::FunctionProto& function, const Graph& around, const Node& call) {
  graph_.name = function.name();
  for (int i = 0; i < static_cast<int>(call.inputs.size()); ++i) {
    const ValueId operand = call.inputs[static_cast<size_t>(i)];
    const std::string& name = function.input(i);
    if (!operand.valid()) absent_.insert(name);
    // An absent operand keeps its position.
    const ValueId id =
        graph_.add_input(operand.valid() ? name : "absent_" + name,
                         operand.valid() ? around.value(operand).type : TensorType{});
    if (operand.valid()) graph_.value(id).opaque_type = around.value(operand).opaque_type;
  }
  for (int i = static_cast<int>(call.inputs.size()); i < function.input_size(); ++i)
    absent_.insert(function.input(i));
  collect_reads(function.node());
  read_.insert(function.output().begin(), function.output().end());
  add_nodes(function.node());
  std::vector<ValueId> outputs;
  for (int i = 0; i < static_cast<int>(call.outputs.size()); ++i) {
    const bool wanted = call.outputs[static_cast<size_t>(i)].valid();
    outputs.push_back(wanted ? input_of(function.output(i), "function " + function.name())
                             : ValueId{});
  }
  graph_.set_outputs(std::move(outputs));
  return std::move(graph_);
}

Graph convert_graph(const onnx::GraphProto& graph, const Opsets& opsets, ConvertContext& context) {
  return Scope(context, opsets, nullptr).convert(graph);
}

Graph convert_function(const onnx::FunctionProto& function, const Graph& around, const Node& call,
                       const Attributes& defaults, ConvertContext& context) {
  HONE_CHECK(call.inputs.size() <= static_cast<size_t>(function.input_size()) &&
                 call.outputs.size() <= static_cast<size_t>(function.output_size()),
             "the caller has compared the signatures");
  Attributes bindings = call.attributes;
  bindings.insert(defaults.begin(), defaults.end());
  Opsets opsets = opsets_of(function.opset_import());
  opsets.insert(context.opsets.begin(), context.opsets.end());
  Scope scope(context, opsets, nullptr);
  scope.bind(std::move(bindings));
  return scope.convert(function, around, call);
}

}  // namespace hone
