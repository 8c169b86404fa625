// Puts the meanings of a graph's nodes one after the other.
#include <unordered_map>

#include "lower/nest.h"
#include "partition/program.h"
#include "support/check.h"

namespace hone {
namespace {

class Flattener {
 public:
  Result<TensorProgram> run(const Graph& graph) {
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

 private:
  ProgramTensor& at(int id) { return program_.tensors[static_cast<size_t>(id)]; }

  int add_tensor(std::string name, ElementType type, std::vector<int64_t> dims) {
    ProgramTensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.dims = std::move(dims);
    program_.tensors.push_back(std::move(tensor));
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Result<int> declare(const std::string& name, const TensorType& type) {
    const auto dims = type.shape ? to_ints(*type.shape) : std::nullopt;
    if (!dims || type.element == ElementType::kInvalid)
      return fail(ErrorKind::kUnsupported, "value " + name,
                  "has the type " + type.to_string() + ", native code needs a known shape",
                  "give the shapes of the inputs");
    return add_tensor(name, type.element, *dims);
  }

  Result<int> fetch(const Graph& graph, ValueId id, std::unordered_map<ValueId, int>& values) {
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

  std::optional<Error> add_graph(const Graph& graph, std::unordered_map<ValueId, int>& values) {
    for (const NodeId id : graph.order())
      if (auto error = add_node(graph, id, values)) return error;
    return std::nullopt;
  }

  static const TensorExpr* meaning_of(const Node& node) {
    const ExprRef& expr = node.inline_expr ? node.inline_expr : node.meaning;
    if (!expr) return nullptr;
    for (const TensorDecl& tensor : expr->tensors)
      if (!is_const(tensor.shape) || tensor.type == ElementType::kString) return nullptr;
    return expr.get();
  }

  std::optional<Error> add_node(const Graph& graph, NodeId id,
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

  std::optional<Error> add_expansion(const Node& node, const std::vector<int>& operands,
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

  std::optional<Error> add_host(const Graph& graph, NodeId id, const std::vector<int>& operands,
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

  // Numbers of an expression's tensors and tables in the program.
  struct Numbers {
    std::vector<int> tensors;
    int first_table = 0;
  };

  std::vector<int> add_expr(const TensorExpr& expr, const std::vector<int>& operands,
                            const std::string& label) {
    Numbers numbers;
    numbers.first_table = static_cast<int>(program_.tables.size());
    program_.tables.insert(program_.tables.end(), expr.tables.begin(), expr.tables.end());
    for (size_t i = 0; i < expr.tensors.size(); ++i) {
      const TensorDecl& tensor = expr.tensors[i];
      numbers.tensors.push_back(static_cast<int>(i) < expr.operand_count
                                    ? operands[i]
                                    : add_tensor(tensor.name, tensor.type, *to_ints(tensor.shape)));
    }
    std::vector<int64_t> steps;
    for (const Stage& stage : expr.stages) add_stage(stage, numbers, steps, label, program_.ops);
    std::vector<int> results;
    for (const int output : expr.outputs)
      results.push_back(numbers.tensors[static_cast<size_t>(output)]);
    return results;
  }

  void add_stage(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                 const std::string& label, std::vector<Op>& ops) {
    if (stage.kind == Stage::Kind::kScan) return add_scan(stage, numbers, steps, label, ops);
    Substitution how;
    how.tensor = [&](int id) { return numbers.tensors[static_cast<size_t>(id)]; };
    how.table = [&](TableId id) { return TableId{id.value + numbers.first_table}; };
    Op op;
    op.label = label;
    op.steps = steps;
    const auto identity = [](size_t rank) {
      std::vector<Index> at;
      for (size_t i = 0; i < rank; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
      return at;
    };
    for (const Axis& axis : stage.axes) op.extents.push_back(axis.extent.value());
    op.outputs = op.extents.size();
    const int result = how.tensor(stage.result);
    const Scalar body = substitute(stage.body, how);
    if (stage.kind == Stage::Kind::kScatter) {
      op.writes.push_back({result, identity(op.outputs), body});
      ops.push_back(op);
      return add_updates(stage, how, result, op, ops);
    }
    if (stage.combiner == Combiner::kNone) {
      op.writes.push_back({result, identity(op.outputs), body});
    } else {
      for (const Axis& axis : stage.reduce) op.extents.push_back(axis.extent.value());
      op.combiner = stage.combiner;
      op.body = body;
      op.writes.push_back(
          {result, identity(op.outputs), Scalar::read(at(result).type, kAccumulator, {})});
    }
    ops.push_back(std::move(op));
  }

  // Updates in order, each where its target lies inside.
  void add_updates(const Stage& stage, const Substitution& how, int result, Op op,
                   std::vector<Op>& ops) {
    // Axes of the result are not iterated by the updates: the update axes come first now.
    const auto first = static_cast<int>(stage.axes.size());
    Substitution shift = how;
    shift.axis = [first](AxisId axis) {
      return axis.value < 0 ? Index(axis) : Index(AxisId{axis.value - first});
    };
    op.extents.clear();
    op.writes.clear();
    for (const Axis& axis : stage.reduce) op.extents.push_back(axis.extent.value());
    op.outputs = op.extents.size();
    op.serial = true;
    Op::Write write;
    write.tensor = result;
    Scalar inside = Scalar::literal(ElementType::kBool, 1);
    std::vector<Index> safe;
    for (size_t i = 0; i < stage.target.size(); ++i) {
      const Index target = substitute(stage.target[i], shift);
      const int64_t extent = at(result).dims[i];
      inside = logical_and(inside, less_equal(Index(0), target));
      inside = logical_and(inside, less(target, Index(extent)));
      write.at.push_back(target);
    }
    const Scalar update = substitute(stage.update, shift);
    const Scalar old = Scalar::read(at(result).type, result, write.at);
    switch (stage.combiner) {
      case Combiner::kSum:
        write.value = old + update;
        break;
      case Combiner::kProduct:
        write.value = old * update;
        break;
      case Combiner::kMax:
        write.value = max(old, update);
        break;
      case Combiner::kMin:
        write.value = min(old, update);
        break;
      default:
        write.value = update;
    }
    write.condition = inside;
    op.writes.push_back(std::move(write));
    ops.push_back(std::move(op));
  }

  void add_scan(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                const std::string& label, std::vector<Op>& ops) {
    Op op;
    op.label = label;
    op.scan = std::make_shared<Op::Scan>();
    op.scan->extent = stage.step.extent.value();
    steps.push_back(op.scan->extent);
    for (const Stage& inner : stage.inner) add_stage(inner, numbers, steps, label, op.scan->ops);
    const auto number = [&](int id) { return numbers.tensors[static_cast<size_t>(id)]; };
    for (const Stage::Carried& carried : stage.carried)
      op.scan->carried.push_back({number(carried.state), number(carried.init), number(carried.next),
                                  number(carried.final)});
    for (const Stage::Collected& collected : stage.collected) {
      // One more op that copies the source of this step to its place.
      const int source = number(collected.source);
      const int result = number(collected.result);
      Op copy;
      copy.label = label;
      copy.steps = steps;
      copy.extents = at(source).dims;
      copy.outputs = copy.extents.size();
      std::vector<Index> from;
      std::vector<Index> to = {Index(AxisId{-1})};
      for (size_t i = 0; i < copy.outputs; ++i) {
        from.emplace_back(AxisId{static_cast<int>(i)});
        to.emplace_back(AxisId{static_cast<int>(i)});
      }
      copy.writes.push_back({result, to, Scalar::read(at(source).type, source, from)});
      op.scan->ops.push_back(std::move(copy));
    }
    steps.pop_back();
    ops.push_back(std::move(op));
  }

  TensorProgram program_;
};

}  // namespace

Result<TensorProgram> program_of(const Graph& graph) { return Flattener().run(graph); }

}  // namespace hone
