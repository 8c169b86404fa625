// The nodes of a graph: tensor expressions, subgraphs, or steps of the host.
#include "partition/flattener.h"

namespace hone {

Result<TensorProgram> Flattener::run(const Graph& graph) {
  std::unordered_map<ValueId, int> values;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId id = graph.inputs()[i];
    const Value& value = graph.value(id);
    auto tensor = declare(value.name, value.type);
    if (!tensor) return std::unexpected(std::move(tensor.error()));
    at(*tensor).kind = ProgramTensor::Kind::kInput;
    at(*tensor).input = static_cast<int>(i);
    values[id] = *tensor;
    program_.inputs.push_back(*tensor);
  }
  if (auto error = add_graph(graph, values)) return std::unexpected(*std::move(error));
  for (const ValueId id : graph.outputs()) {
    const auto tensor = fetch(graph, id, values);
    if (!tensor) return std::unexpected(tensor.error());
    program_.outputs.push_back(*tensor);
    at(*tensor).is_output = true;
  }
  return std::move(program_);
}

int Flattener::add_tensor(std::string name, ElementType type, std::vector<int64_t> dims) {
  ProgramTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.dims = std::move(dims);
  program_.tensors.push_back(std::move(tensor));
  return static_cast<int>(program_.tensors.size()) - 1;
}

Result<int> Flattener::declare(const std::string& name, const TensorType& type) {
  const auto dims = type.shape ? to_ints(*type.shape) : std::nullopt;
  if (!dims || type.element == ElementType::kInvalid)
    return fail(ErrorKind::kUnsupported, "value " + name,
                "has the type " + type.to_string() + ", native code needs a known shape",
                "give the shapes of the inputs");
  return add_tensor(name, type.element, *dims);
}

Result<int> Flattener::fetch(const Graph& graph, ValueId id,
                             std::unordered_map<ValueId, int>& values) {
  if (const auto known = values.find(id); known != values.end()) return known->second;
  const Value& value = graph.value(id);
  if (value.kind != Value::Kind::kConstant)
    return fail(ErrorKind::kUnsupported, "value " + value.name, "is not computed natively");
  const int tensor = add_tensor(value.name, value.constant.type(), value.constant.dims());
  at(tensor).kind = ProgramTensor::Kind::kConstant;
  at(tensor).constant = value.constant;
  values[id] = tensor;
  return tensor;
}

std::optional<Error> Flattener::add_graph(const Graph& graph,
                                          std::unordered_map<ValueId, int>& values) {
  for (const NodeId id : graph.order())
    if (auto error = add_node(graph, id, values)) return error;
  return std::nullopt;
}

const TensorExpr* Flattener::meaning_of(const Node& node) {
  const ExprRef& expr = node.inline_expr ? node.inline_expr : node.meaning;
  if (!expr) return nullptr;
  for (const TensorDecl& tensor : expr->tensors)
    if (!is_const(tensor.shape) || tensor.type == ElementType::kString) return nullptr;
  return expr.get();
}

std::optional<Error> Flattener::add_node(const Graph& graph, NodeId id,
                                         std::unordered_map<ValueId, int>& values) {
  const Node& node = graph.node(id);
  std::vector<int> operands;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) {
      operands.push_back(-1);
      continue;
    }
    Result<int> tensor = fetch(graph, input, values);
    if (!tensor) return std::move(tensor.error());
    operands.push_back(*tensor);
  }
  if (const TensorExpr* expr = meaning_of(node)) {
    std::vector<int> present;
    for (const int operand : operands)
      if (operand >= 0) present.push_back(operand);
    const std::vector<int> results = add_expr(*expr, present, node.label());
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) {
        values[node.outputs[i]] = results[i];
        if (at(results[i]).kind == ProgramTensor::Kind::kResult)
          at(results[i]).name = graph.value(node.outputs[i]).name;
      }
    return std::nullopt;
  }
  if (node.expansion) return add_expansion(node, operands, values);
  return add_host(graph, id, operands, values);
}

std::optional<Error> Flattener::add_expansion(const Node& node, const std::vector<int>& operands,
                                              std::unordered_map<ValueId, int>& values) {
  const Graph& body = *node.expansion;
  std::unordered_map<ValueId, int> inner;
  for (size_t i = 0; i < body.inputs().size(); ++i)
    if (i < operands.size() && operands[i] >= 0) inner[body.inputs()[i]] = operands[i];
  if (auto error = add_graph(body, inner)) return error;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    Result<int> tensor = fetch(body, body.outputs()[i], inner);
    if (!tensor) return std::move(tensor.error());
    values[node.outputs[i]] = *tensor;
  }
  return std::nullopt;
}

std::optional<Error> Flattener::add_host(const Graph& graph, NodeId id,
                                         const std::vector<int>& operands,
                                         std::unordered_map<ValueId, int>& values) {
  const Node& node = graph.node(id);
  Op op;
  op.host = id;
  op.host_graph = &graph;
  op.host_inputs = operands;
  op.label = node.label();
  op.why_host = node.why_opaque.empty() ? "no tensor expression" : node.why_opaque;
  if (!node.captures.empty())
    return Error{ErrorKind::kUnsupported,
                 node.label(),
                 "subgraphs that read values around them are not compiled",
                 {}};
  for (const ValueId output : node.outputs) {
    if (!output.valid()) {
      op.host_outputs.push_back(-1);
      continue;
    }
    Result<int> tensor = declare(graph.value(output).name, graph.value(output).type);
    if (!tensor) return std::move(tensor.error());
    if (at(*tensor).type == ElementType::kString)
      return Error{ErrorKind::kUnsupported, node.label(), "strings are not compiled", {}};
    op.host_outputs.push_back(*tensor);
    values[output] = *tensor;
  }
  program_.ops.push_back(std::move(op));
  return std::nullopt;
}

Result<TensorProgram> program_of(const Graph& graph) { return Flattener().run(graph); }

}  // namespace hone
