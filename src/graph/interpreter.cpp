#include "graph/interpreter.h"

#include <unordered_map>
#include <utility>

#include "graph/control_flow.h"
#include "support/check.h"

namespace hone {
namespace {

// Operands of the meaning: the present ones, as stored in the domain.
std::vector<Buffer> present(std::span<const Buffer> operands) {
  std::vector<Buffer> result;
  for (const Buffer& operand : operands)
    if (!operand.empty_handle()) result.push_back(operand);
  return result;
}

// The type an operator definition sees: in the double and field domains data is stored otherwise
// than declared, so the declared element type comes from the graph where it is known.
std::vector<OperandInfo> runtime_operands(const Graph& graph, const Node& node,
                                          std::span<const Buffer> operands) {
  std::vector<OperandInfo> infos;
  for (size_t i = 0; i < operands.size(); ++i) {
    OperandInfo info;
    const Buffer& operand = operands[i];
    if (!operand.empty_handle()) {
      info.present = true;
      info.type = operand.tensor_type();
      const bool listed = i < node.inputs.size() && node.inputs[i].valid();
      const ElementType declared =
          listed ? graph.value(node.inputs[i]).type.element : ElementType::kInvalid;
      if (operand.type() == ElementType::kField) info.type.element = ElementType::kF32;
      if (is_float(operand.type()) || operand.type() == ElementType::kField)
        if (declared != ElementType::kInvalid) info.type.element = declared;
      if (operand.type() != ElementType::kField) info.known.constant = operand;
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::vector<Buffer>> run_kernel(const Graph& graph, const Node& node,
                                       std::span<const Buffer> operands) {
  OpContext context(node.op, node.opset, runtime_operands(graph, node, operands), node.attributes,
                    node.outputs.size());
  try {
    return node.def->kernel(context, operands);
  } catch (Failure& failure) {
    failure.error.where = node.label();
    return std::unexpected(std::move(failure.error));
  }
}

Result<std::vector<Buffer>> run_expr(const TensorExpr& expr, const Node& node,
                                     std::span<const Buffer> operands,
                                     const InterpretOptions& options) {
  Result<std::vector<Buffer>> outputs = evaluate(expr, present(operands), options.evaluate);
  if (!outputs && outputs.error().where.empty()) outputs.error().where = node.label();
  return outputs;
}

// The node's meaning for the operands at hand; its own where it was already found for constant
// shapes, otherwise instantiated anew with every operand known.
Result<ExprRef> meaning_for(const Graph& graph, const Node& node,
                            std::span<const Buffer> operands) {
  if (node.inline_expr) return node.inline_expr;
  if (node.meaning) {
    bool exact = true;
    for (const TensorDecl& tensor : node.meaning->tensors) exact = exact && is_const(tensor.shape);
    if (exact) return node.meaning;
  }
  OpContext context(node.op, node.opset, runtime_operands(graph, node, operands), node.attributes,
                    node.outputs.size());
  Result<TensorExpr> expr = instantiate(*node.def, context);
  if (!expr) {
    expr.error().where = node.label();
    return std::unexpected(std::move(expr.error()));
  }
  return std::make_shared<const TensorExpr>(*std::move(expr));
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, const InterpretOptions& options)
      : graph_(graph), options_(options), uses_(graph.use_counts()) {}

  Result<std::vector<Buffer>> run(std::span<const Buffer> inputs) {
    if (auto problem = take_inputs(inputs)) return std::unexpected(*std::move(problem));
    size_t done = 0;
    for (const NodeId id : graph_.order()) {
      if (options_.cancelled && options_.cancelled())
        return fail(ErrorKind::kInterrupted, graph_.node(id).label(), "interrupted");
      if (auto problem = run_node(graph_.node(id))) return std::unexpected(*std::move(problem));
      if (options_.progress) options_.progress(++done, graph_.order().size());
    }
    std::vector<Buffer> outputs;
    for (const ValueId output : graph_.outputs()) outputs.push_back(fetch(output));
    return outputs;
  }

 private:
  std::optional<Error> take_inputs(std::span<const Buffer> inputs) {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueId id = graph_.inputs()[i];
      const Value& value = graph_.value(id);
      const Buffer given =
          i < inputs.size() && !inputs[i].empty_handle() ? inputs[i] : value.constant;
      if (given.empty_handle() && options_.allow_absent_inputs) continue;
      if (given.empty_handle())
        return Error{ErrorKind::kInvalid, "input " + value.name, "is missing", "give a value"};
      if (auto problem = check_input(value, given)) return problem;
      live_[id] = to_domain(given.aligned(), options_.evaluate.domain);
    }
    return std::nullopt;
  }

  std::optional<Error> check_input(const Value& value, const Buffer& given) {
    const auto mismatch = [&] {
      return Error{
          ErrorKind::kInvalid, "input " + value.name,
          "expects " + value.type.to_string() + " but is given " + given.tensor_type().to_string(),
          "pass an array of that type and shape"};
    };
    if (value.type.element != ElementType::kInvalid && value.type.element != given.type() &&
        given.type() != storage_type(value.type.element, options_.evaluate.domain))
      return mismatch();
    if (value.type.shape && (value.type.shape->size() != given.dims().size() ||
                             !unify(*value.type.shape, given.dims(), symbols_)))
      return mismatch();
    return std::nullopt;
  }

  Buffer fetch(ValueId id) {
    if (!id.valid()) return {};
    const Value& value = graph_.value(id);
    if (const auto at = live_.find(id); at != live_.end()) return at->second;
    if (value.kind == Value::Kind::kOuter && options_.outer != nullptr) {
      const auto at = options_.outer->find(value.name);
      if (at != options_.outer->end()) return at->second;
    }
    if (value.kind != Value::Kind::kConstant) return {};
    return to_domain(value.constant.aligned(), options_.evaluate.domain);
  }

  void release(ValueId id) {
    if (id.valid() && --uses_[id.index()] == 0) live_.erase(id);
  }

  std::optional<Error> run_node(const Node& node) {
    std::vector<Buffer> operands;
    for (const ValueId input : node.inputs) operands.push_back(fetch(input));
    std::map<std::string, Buffer> captured;
    for (const ValueId id : node.captures) captured[graph_.value(id).name] = fetch(id);
    Result<std::vector<Buffer>> outputs = is_control_flow(node)
                                              ? run_control_flow(node, operands, captured, options_)
                                              : interpret_node(graph_, node, operands, options_);
    if (!outputs) return std::move(outputs.error());
    for (const ValueId input : node.inputs) release(input);
    for (const ValueId capture : node.captures) release(capture);
    if (outputs->size() < node.outputs.size())
      return Error{ErrorKind::kUnsupported, node.label(), "gave too few outputs", {}};
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id.valid() && uses_[id.index()] > 0) live_[id] = std::move((*outputs)[i]);
    }
    return std::nullopt;
  }

  const Graph& graph_;
  const InterpretOptions& options_;
  std::vector<int> uses_;
  std::unordered_map<ValueId, Buffer> live_;
  std::map<std::string, int64_t> symbols_;
};

}  // namespace

Result<std::vector<Buffer>> interpret_node(const Graph& graph, const Node& node,
                                           std::span<const Buffer> operands,
                                           const InterpretOptions& options) {
  const bool has_meaning = node.inline_expr || (node.def != nullptr && node.def->define);
  if (has_meaning) {
    Result<ExprRef> expr = meaning_for(graph, node, operands);
    if (expr) return run_expr(**expr, node, operands, options);
    // A kernel beside the definition serves operands that no expression computes with: strings.
    const bool unsupported = expr.error().kind == ErrorKind::kUnsupported;
    const bool has_kernel = unsupported && node.def != nullptr && node.def->kernel;
    if (!node.expansion && !has_kernel) return std::unexpected(std::move(expr.error()));
  }
  if (node.expansion) {
    InterpretOptions inner = options;
    inner.progress = nullptr;
    inner.allow_absent_inputs = true;
    return interpret(*node.expansion, operands, inner);
  }
  if (node.def != nullptr && node.def->kernel) return run_kernel(graph, node, operands);
  return fail(ErrorKind::kUnsupported, node.label(),
              node.why_opaque.empty() ? "hone cannot run this operator" : node.why_opaque,
              "the reference engine has no kernel for it");
}

Result<std::vector<Buffer>> interpret(const Graph& graph, std::span<const Buffer> inputs,
                                      const InterpretOptions& options) {
  try {
    return Interpreter(graph, options).run(inputs);
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure.error));
  }
}

}  // namespace hone
