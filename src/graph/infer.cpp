#include "graph/infer.h"

#include <tuple>
#include <utility>

#include "expr/evaluate.h"
#include "support/error.h"

namespace hone {

std::vector<OperandInfo> operands_of(const Graph& graph, const Node& node) {
  std::vector<OperandInfo> result;
  for (const ValueId id : node.inputs) {
    OperandInfo info;
    if (id.valid()) {
      const Value& value = graph.value(id);
      info.present = true;
      info.type = value.type;
      info.known.dims = value.dims;
      if (value.kind == Value::Kind::kConstant) info.known.constant = value.constant;
    }
    result.push_back(std::move(info));
  }
  return result;
}

namespace {

constexpr int64_t kMaxKnownDims = 256;

// Integer constants of few elements serve shape arithmetic.
std::optional<std::vector<Dim>> dims_of(const Value& value) {
  if (value.dims) return value.dims;
  if (value.kind != Value::Kind::kConstant || !is_integer(value.constant.type()) ||
      value.constant.rank() > 1 || value.constant.count() > kMaxKnownDims)
    return std::nullopt;
  std::vector<Dim> dims;
  for (int64_t i = 0; i < value.constant.count(); ++i) dims.emplace_back(value.constant.as_int(i));
  return dims;
}

class Inference {
 public:
  explicit Inference(Graph& graph) : graph_(graph) {}

  Errors run() {
    for (const NodeId id : graph_.order()) infer_node(graph_.node(id));
    return std::move(errors_);
  }

 private:
  void infer_node(Node& node) {
    node.meaning = nullptr;
    node.why_opaque.clear();
    if (node.inline_expr) return take_expr(node, node.inline_expr);
    if (node.expansion) {
      node.why_opaque = "expanded by ONNX's own function body";
    } else if (node.def == nullptr) {
      node.why_opaque = node.domain.empty() ? "hone does not define this operator"
                                            : "domain " + node.domain + " is not known";
    } else if (node.def->define) {
      return define(node);
    } else {
      node.why_opaque = node.def->opaque_reason;
      infer_opaque(node);
    }
    name_unknown_dims(node);
  }

  void define(Node& node) {
    OpContext context(node.op, node.opset, operands_of(graph_, node), node.attributes,
                      node.outputs.size());
    Result<TensorExpr> expr = instantiate(*node.def, context);
    if (expr) return take_expr(node, graph_.intern(*std::move(expr)));
    if (expr.error().kind == ErrorKind::kInvalid) {
      report(node, expr.error());
    } else {
      node.why_opaque = expr.error().reason;
      infer_opaque(node);
    }
    name_unknown_dims(node);
  }

  void report(const Node& node, Error error) {
    error.where = node.label();
    errors_.push_back(std::move(error));
  }

  void take_expr(Node& node, ExprRef expr) {
    if (node.outputs.size() > expr->outputs.size())
      return report(node, {ErrorKind::kInvalid,
                           {},
                           "has " + std::to_string(node.outputs.size()) + " outputs, but " +
                               node.full_op() + " gives " + std::to_string(expr->outputs.size()),
                           {}});
    node.meaning = std::move(expr);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      Value& value = graph_.value(node.outputs[i]);
      set_type(node, value, node.meaning->output_type(i));
      value.dims = contents(node, i);
    }
  }

  // A shape of more elements than can be counted is wrong wherever it may be stored, even when
  // another extent is 0 or not known: later arithmetic on its extents would overflow.
  void set_type(const Node& node, Value& value, TensorType type) {
    std::vector<int64_t> known;
    for (const Dim& dim : type.shape.value_or(Shape()))
      if (dim.is_const() && dim.value() > 0) known.push_back(dim.value());
    try {
      std::ignore = checked_count(known);
    } catch (const Failure& failure) {
      report(node, failure.error);
    }
    if (type.element != ElementType::kInvalid) value.opaque_type.clear();
    value.type = std::move(type);
  }

  // Symbolic contents of a small integer output.
  std::optional<std::vector<Dim>> contents(const Node& node, size_t output) {
    const TensorType type = node.meaning->output_type(output);
    if (!is_integer(type.element) || type.shape->size() > 1) return std::nullopt;
    const Dim count = element_count(*type.shape);
    if (!count.is_const() || count.value() > kMaxKnownDims) return std::nullopt;
    std::vector<std::optional<std::vector<Dim>>> operands;
    for (const ValueId id : node.inputs)
      if (id.valid()) operands.push_back(dims_of(graph_.value(id)));
    return evaluate_dims(*node.meaning, output, operands);
  }

  void infer_opaque(Node& node) {
    if (!node.def->infer) return;
    OpContext context(node.op, node.opset, operands_of(graph_, node), node.attributes,
                      node.outputs.size());
    try {
      const std::vector<TensorType> types = node.def->infer(context);
      for (size_t i = 0; i < node.outputs.size() && i < types.size(); ++i)
        if (node.outputs[i].valid()) set_type(node, graph_.value(node.outputs[i]), types[i]);
    } catch (const Failure& failure) {
      if (failure.error.kind == ErrorKind::kInvalid) report(node, failure.error);
    }
  }

  // Recorded types may have dimensions without a name; two of them must not be taken for equal.
  void name_unknown_dims(Node& node) {
    for (const ValueId id : node.outputs) {
      if (!id.valid() || !graph_.value(id).type.shape) continue;
      Shape& shape = *graph_.value(id).type.shape;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (shape[axis].is(-1))
          shape[axis] =
              Dim::symbol("unknown_" + std::to_string(id.value) + "_" + std::to_string(axis));
    }
  }

  Graph& graph_;
  Errors errors_;
};

}  // namespace

Errors infer(Graph& graph) { return Inference(graph).run(); }

}  // namespace hone
