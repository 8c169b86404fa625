#include <algorithm>
#include <set>

#include "graph/graph.h"

namespace hone {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.value_count(), false) {}

  Errors run() {
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      const Value& value = graph_.value(id);
      if (value.kind != Value::Kind::kResult) defined_[i] = true;
      if (value.kind == Value::Kind::kConstant) check_constant(value);
    }
    std::set<NodeId> seen;
    for (const NodeId id : graph_.order()) {
      if (!id.valid() || id.index() >= graph_.node_slots() || !seen.insert(id).second) {
        report("graph", "the order names a node twice or one that does not exist");
        continue;
      }
      check_node(id);
    }
    for (const ValueId output : graph_.outputs())
      if (!is_defined(output)) report("graph outputs", "an output is not defined");
    return errors_;
  }

 private:
  void report(std::string where, std::string reason) {
    errors_.push_back({ErrorKind::kInvalid, std::move(where), std::move(reason), {}});
  }

  [[nodiscard]] bool is_defined(ValueId id) const {
    return id.valid() && id.index() < defined_.size() && defined_[id.index()];
  }

  void check_constant(const Value& value) {
    if (value.constant.empty_handle())
      report(value.name, "a constant without data");
    else if (value.type != value.constant.tensor_type())
      report(value.name, "a constant's type is not that of its data");
  }

  void check_node(NodeId id) {
    const Node& node = graph_.node(id);
    for (const ValueId input : node.inputs)
      if (input.valid() && !is_defined(input))
        report(node.label(), "reads a value before it is defined");
    for (const ValueId capture : node.captures)
      if (!is_defined(capture))
        report(node.label(), "a subgraph reads a value before it is defined");
    for (size_t i = 0; i < node.outputs.size(); ++i) check_output(id, node, i);
    for (const auto& [name, attribute] : node.attributes) check_attribute(node, name, attribute);
  }

  void check_output(NodeId id, const Node& node, size_t i) {
    const ValueId output = node.outputs[i];
    if (!output.valid()) return;
    if (output.index() >= defined_.size()) return report(node.label(), "an output does not exist");
    const Value& value = graph_.value(output);
    if (value.kind != Value::Kind::kResult || value.producer != id)
      report(node.label(), "output " + value.name + " does not name it as producer");
    if (defined_[output.index()])
      report(node.label(), "output " + value.name + " is defined twice");
    defined_[output.index()] = true;
    if (node.meaning && i < node.meaning->outputs.size() &&
        node.meaning->output_type(i).element != value.type.element)
      report(node.label(), "output " + value.name + " has another type than its meaning");
  }

  void check_attribute(const Node& node, const std::string& name, const Attribute& attribute) {
    const auto check_graph = [&](const std::shared_ptr<const Graph>& graph) {
      if (!graph) return report(node.label(), "attribute " + name + " has no graph");
      for (Error& error : verify(*graph)) {
        error.where = node.label() + ", " + name + ": " + error.where;
        errors_.push_back(std::move(error));
      }
    };
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) check_graph(*one);
    if (const auto* all = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
      for (const auto& graph : *all) check_graph(graph);
  }

  const Graph& graph_;
  std::vector<bool> defined_;
  Errors errors_;
};

}  // namespace

Errors verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace hone
