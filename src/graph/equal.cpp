#include <algorithm>
#include <bit>
#include <cmath>

#include "graph/graph.h"

namespace hone {
namespace {

bool same_value(const Graph& a, ValueId i, const Graph& b, ValueId j) {
  if (!i.valid() || !j.valid()) return i.valid() == j.valid();
  const Value& x = a.value(i);
  const Value& y = b.value(j);
  return x.kind == y.kind && x.name == y.name && x.type == y.type &&
         x.opaque_type == y.opaque_type && x.constant == y.constant && x.doc == y.doc &&
         x.metadata == y.metadata;
}

bool same_values(const Graph& a, const std::vector<ValueId>& x, const Graph& b,
                 const std::vector<ValueId>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [&](ValueId i, ValueId j) { return same_value(a, i, b, j); });
}

using GraphRef = std::shared_ptr<const Graph>;

// The same bits; NaNs are all the same, as text keeps no more of them.
bool same_float(float x, float y) {
  return (std::isnan(x) && std::isnan(y)) ||
         std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
}

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<float>(&a)) return same_float(*x, std::get<float>(b));
  if (const auto* xs = std::get_if<std::vector<float>>(&a)) {
    const auto& ys = std::get<std::vector<float>>(b);
    return std::equal(xs->begin(), xs->end(), ys.begin(), ys.end(), same_float);
  }
  if (const auto* graph = std::get_if<GraphRef>(&a)) return equal(**graph, *std::get<GraphRef>(b));
  if (const auto* graphs = std::get_if<std::vector<GraphRef>>(&a)) {
    const auto& others = std::get<std::vector<GraphRef>>(b);
    return std::equal(graphs->begin(), graphs->end(), others.begin(), others.end(),
                      [](const GraphRef& x, const GraphRef& y) { return equal(*x, *y); });
  }
  return a == b;
}

bool same_node(const Graph& a, const Node& x, const Graph& b, const Node& y) {
  const auto same_entry = [](const auto& p, const auto& q) {
    return p.first == q.first && same_attribute(p.second, q.second);
  };
  const bool same_inline = x.inline_expr && y.inline_expr ? *x.inline_expr == *y.inline_expr
                                                          : x.inline_expr == y.inline_expr;
  return x.op == y.op && x.domain == y.domain && x.opset == y.opset && x.name == y.name &&
         x.overload == y.overload && x.doc == y.doc && x.metadata == y.metadata && same_inline &&
         same_values(a, x.inputs, b, y.inputs) && same_values(a, x.outputs, b, y.outputs) &&
         std::equal(x.attributes.begin(), x.attributes.end(), y.attributes.begin(),
                    y.attributes.end(), same_entry);
}

// Constants that nothing reads are not part of the graph: export and text leave them out.
std::vector<ValueId> live_constants(const Graph& graph) {
  const std::vector<int> uses = graph.use_counts();
  std::vector<ValueId> result = graph.constants();
  std::erase_if(result, [&](ValueId id) { return uses[id.index()] == 0; });
  return result;
}

}  // namespace

bool equal(const Graph& a, const Graph& b) {
  return a.name == b.name && a.doc == b.doc && a.metadata == b.metadata &&
         same_values(a, a.inputs(), b, b.inputs()) && same_values(a, a.outputs(), b, b.outputs()) &&
         same_values(a, live_constants(a), b, live_constants(b)) &&
         std::equal(a.order().begin(), a.order().end(), b.order().begin(), b.order().end(),
                    [&](NodeId i, NodeId j) { return same_node(a, a.node(i), b, b.node(j)); });
}

}  // namespace hone
