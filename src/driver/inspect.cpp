#include "driver/inspect.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "expr/analysis.h"

namespace hone {
namespace {

std::string describe(const Value& value) {
  std::string text = value.name + ": ";
  if (!value.opaque_type.empty()) return text + "not a tensor";
  if (value.type.element == ElementType::kInvalid) return text + "unknown";
  return text + value.type.to_string();
}

void count_graph(const Graph& graph, std::map<std::string, OperatorCount>& counts,
                 Inspection& result);

void count_subgraphs(const Attribute& attribute, std::map<std::string, OperatorCount>& counts,
                     Inspection& result) {
  using GraphRef = std::shared_ptr<const Graph>;
  if (const auto* graph = std::get_if<GraphRef>(&attribute)) count_graph(**graph, counts, result);
  if (const auto* graphs = std::get_if<std::vector<GraphRef>>(&attribute))
    for (const GraphRef& graph : *graphs) count_graph(*graph, counts, result);
}

// Adds to a sum that stays as it is once it is beyond all measure.
void add_flops(Dim& sum, const TensorExpr& expr) {
  try {
    sum += flops_of(expr);
  } catch (const Failure&) {
    // Impossible sizes (2^60 elements) are valid to inspect.
  }
}

void add_flops(Dim& sum, const Graph& graph) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.expansion) add_flops(sum, *node.expansion);
    if (node.meaning) add_flops(sum, *node.meaning);
  }
}

void count_node(const Node& node, OperatorCount& count, Inspection& result) {
  ++count.count;
  ++result.nodes;
  if (node.expansion) {
    add_flops(count.flops, *node.expansion);
  } else if (node.meaning) {
    add_flops(count.flops, *node.meaning);
  } else {
    result.opaque.push_back({node.name, node.full_op(), node.why_opaque});
  }
}

void count_graph(const Graph& graph, std::map<std::string, OperatorCount>& counts,
                 Inspection& result) {
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    OperatorCount& count = counts[node.full_op()];
    count.op = node.full_op();
    count_node(node, count, result);
    for (const auto& [name, attribute] : node.attributes)
      count_subgraphs(attribute, counts, result);
  }
  const std::vector<int> uses = graph.use_counts();
  for (const ValueId id : graph.constants()) {
    if (uses[id.index()] == 0) continue;
    result.parameters += graph.value(id).constant.count();
    result.parameter_bytes += graph.value(id).constant.byte_size();
  }
}

}  // namespace

Inspection inspect(const Model& model) {
  Inspection result;
  const Graph& graph = model.graph;
  for (const ValueId id : graph.inputs()) result.inputs.push_back(describe(graph.value(id)));
  for (const ValueId id : graph.outputs()) result.outputs.push_back(describe(graph.value(id)));
  std::map<std::string, OperatorCount> counts;
  count_graph(graph, counts, result);
  for (auto& [op, count] : counts) {
    try {
      result.flops += count.flops;
    } catch (const Failure&) {
      // As above.
    }
    result.operators.push_back(std::move(count));
  }
  std::sort(result.operators.begin(), result.operators.end(),
            [](const OperatorCount& a, const OperatorCount& b) {
              const auto key = [](const OperatorCount& c) {
                return std::tuple(c.flops.is_const(), -c.flops.constant_part(),
                                  -static_cast<int64_t>(c.count), c.op);
              };
              return key(a) < key(b);
            });
  return result;
}

}  // namespace hone
