#include "graph/passes.h"

#include <chrono>
#include <functional>
#include <map>
#include <unordered_map>

#include "graph/interpreter.h"
#include "graph/node_hash.h"
#include "support/hash.h"

namespace hone {
namespace {

PassReport timed(std::string name, const std::function<size_t()>& pass) {
  const auto start = std::chrono::steady_clock::now();
  PassReport report;
  report.pass = std::move(name);
  report.changed = pass();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

bool is_pure(const Node& node) {
  if (node.def == nullptr && !node.inline_expr && !node.expansion) return false;
  return node.def == nullptr || node.def->deterministic;
}

size_t sweep_dead(Graph& graph) {
  std::vector<int> uses = graph.use_counts();
  std::vector<bool> dead(graph.node_slots(), false);
  size_t removed = 0;
  for (auto at = graph.order().rbegin(); at != graph.order().rend(); ++at) {
    const Node& node = graph.node(*at);
    bool used = false;
    for (const ValueId output : node.outputs)
      used = used || (output.valid() && uses[output.index()] > 0);
    if (used) continue;
    dead[at->index()] = true;
    ++removed;
    for (const ValueId input : node.inputs)
      if (input.valid()) --uses[input.index()];
    for (const ValueId capture : node.captures) --uses[capture.index()];
  }
  if (removed > 0) graph.remove_nodes(dead);
  return removed;
}

// Values whose name must stay where it is: graph outputs, and what subgraphs read by name.
std::vector<bool> pinned_values(const Graph& graph) {
  std::vector<bool> pinned(graph.value_count(), false);
  for (const ValueId output : graph.outputs()) pinned[output.index()] = true;
  for (const NodeId id : graph.order())
    for (const ValueId capture : graph.node(id).captures) pinned[capture.index()] = true;
  return pinned;
}

bool any_pinned(const Node& node, const std::vector<bool>& pinned) {
  for (const ValueId output : node.outputs)
    if (output.valid() && pinned[output.index()]) return true;
  return false;
}

size_t merge_nodes(Graph& graph) {
  const std::vector<bool> pinned = pinned_values(graph);
  std::unordered_multimap<uint64_t, NodeId> seen;
  std::vector<bool> dead(graph.node_slots(), false);
  size_t merged = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_pure(node)) continue;
    const uint64_t hash = hash_of(node);
    const auto [first, last] = seen.equal_range(hash);
    const auto twin = std::find_if(first, last, [&](const auto& entry) {
      return computes_the_same(graph.node(entry.second), node);
    });
    if (twin == last) {
      seen.emplace(hash, id);
      continue;
    }
    if (any_pinned(node, pinned)) continue;
    Node& kept = graph.node(twin->second);
    kept.origin.insert(kept.origin.end(), node.origin.begin(), node.origin.end());
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) graph.replace_uses(node.outputs[i], kept.outputs[i]);
    dead[id.index()] = true;
    ++merged;
  }
  if (merged > 0) graph.remove_nodes(dead);
  return merged;
}

constexpr size_t kMergeBytes = 4096;

size_t merge_constants(Graph& graph) {
  const std::vector<bool> pinned = pinned_values(graph);
  const std::vector<int> uses = graph.use_counts();
  std::unordered_multimap<uint64_t, ValueId> seen;
  size_t merged = 0;
  for (const ValueId id : graph.constants()) {
    const Value& value = graph.value(id);
    if (pinned[id.index()] || uses[id.index()] == 0 || value.constant.byte_size() > kMergeBytes)
      continue;
    const uint64_t hash = value.constant.content_hash();
    const auto [first, last] = seen.equal_range(hash);
    const auto twin = std::find_if(first, last, [&](const auto& entry) {
      return graph.value(entry.second).constant == value.constant;
    });
    if (twin == last) {
      seen.emplace(hash, id);
      continue;
    }
    graph.replace_uses(id, twin->second);
    ++merged;
  }
  return merged;
}

bool is_identity(const Node& node) {
  if (!node.domain.empty() || node.inputs.empty() || !node.inputs[0].valid()) return false;
  if (!node.meaning || node.meaning->outputs.empty() || !is_pure(node)) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) return false;
  return is_plain_copy(*node.meaning);
}

size_t forward(Graph& graph) {
  const std::vector<bool> pinned = pinned_values(graph);
  std::vector<bool> dead(graph.node_slots(), false);
  size_t removed = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_identity(node) || any_pinned(node, pinned)) continue;
    graph.replace_uses(node.outputs[0], node.inputs[0]);
    dead[id.index()] = true;
    ++removed;
  }
  if (removed > 0) graph.remove_nodes(dead);
  return removed;
}

// Bytes that a node reads as constants; nothing if an input is not constant.
std::optional<size_t> constant_bytes(const Graph& graph, const Node& node) {
  size_t bytes = 0;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    if (graph.value(input).kind != Value::Kind::kConstant) return std::nullopt;
    bytes += graph.value(input).constant.byte_size();
  }
  return bytes;
}

bool may_fold(const Node& node, const FoldOptions& options) {
  if (!is_pure(node) || !node.captures.empty()) return false;
  return !(options.keep_dequantize && node.domain.empty() && node.op == "DequantizeLinear");
}

bool fits(const std::vector<Buffer>& outputs, const Node& node, size_t read,
          const FoldOptions& options) {
  size_t made = 0;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid()) made += outputs[i].byte_size();
  return made <= std::max(options.max_bytes,
                          static_cast<size_t>(options.max_growth * static_cast<double>(read)));
}

// The size is known before the work is done, wherever shapes are constant.
bool surely_too_large(const Graph& graph, const Node& node, size_t read,
                      const FoldOptions& options) {
  // In doubles: the sizes that a model asks for may be astronomical.
  double made = 0;
  for (const ValueId output : node.outputs) {
    if (!output.valid() || !graph.value(output).type.is_const()) continue;
    const TensorType& type = graph.value(output).type;
    auto bytes = static_cast<double>(size_of(type.element));
    for (const Dim& dim : *type.shape) bytes *= static_cast<double>(dim.value());
    made += bytes;
  }
  return made > std::max(static_cast<double>(options.max_bytes),
                         options.max_growth * static_cast<double>(read));
}

// Evaluations of a scalar that a run takes; extents that only a run knows count as 1.
double steps_of(const std::vector<Stage>& stages) {
  const auto points = [](const std::vector<Axis>& axes) {
    double product = 1;
    for (const Axis& axis : axes)
      if (axis.extent.is_const()) product *= static_cast<double>(axis.extent.value());
    return product;
  };
  double steps = 0;
  for (const Stage& stage : stages) {
    if (stage.kind == Stage::Kind::kMap) steps += points(stage.axes) * points(stage.reduce);
    if (stage.kind == Stage::Kind::kScatter) steps += points(stage.axes) + points(stage.reduce);
    if (stage.kind == Stage::Kind::kScan) steps += points({stage.step}) * steps_of(stage.inner);
  }
  return steps;
}

// NOLINTNEXTLINE(misc-no-recursion): functions that call functions
double steps_of(const Node& node) {
  double steps = node.meaning ? steps_of(node.meaning->stages) : 0;
  if (node.expansion)
    for (const NodeId id : node.expansion->order()) steps += steps_of(node.expansion->node(id));
  return steps;
}

// Small integers that follow from shapes alone: the node's inputs need not be constant.
std::optional<std::vector<Buffer>> known_contents(const Graph& graph, const Node& node) {
  std::vector<Buffer> contents;
  bool any = false;
  for (const ValueId output : node.outputs) {
    contents.emplace_back();
    if (!output.valid()) continue;
    const Value& value = graph.value(output);
    if (!value.dims || !value.type.is_const()) return std::nullopt;
    const auto numbers = to_ints(*value.dims);
    if (!numbers) return std::nullopt;
    const Buffer wide = Buffer::of_ints(*numbers).reshaped(*to_ints(*value.type.shape));
    contents.back() = convert(wide, value.type.element);
    // Dimensions do not wrap around as narrow integers do.
    for (int64_t i = 0; i < wide.count(); ++i)
      if (contents.back().as_int(i) != wide.as_int(i)) return std::nullopt;
    any = true;
  }
  return any ? std::optional(std::move(contents)) : std::nullopt;
}

// What the node gives, if that can be found now and is worth keeping.
std::optional<std::vector<Buffer>> contents_of(const Graph& graph, const Node& node,
                                               const FoldOptions& options) {
  if (!may_fold(node, options)) return std::nullopt;
  if (auto contents = known_contents(graph, node)) return contents;
  const std::optional<size_t> read = constant_bytes(graph, node);
  if (!read || surely_too_large(graph, node, *read, options)) return std::nullopt;
  if (steps_of(node) > options.max_steps) return std::nullopt;
  std::vector<Buffer> operands;
  for (const ValueId input : node.inputs)
    operands.push_back(input.valid() ? graph.value(input).constant.aligned() : Buffer());
  Result<std::vector<Buffer>> outputs = interpret_node(graph, node, operands, {});
  // A node that cannot be run stays; whoever runs the model will say why.
  if (!outputs || outputs->size() < node.outputs.size()) return std::nullopt;
  if (!fits(*outputs, node, *read, options)) return std::nullopt;
  return *std::move(outputs);
}

size_t fold(Graph& graph, const FoldOptions& options) {
  std::vector<bool> dead(graph.node_slots(), false);
  size_t folded = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::optional<std::vector<Buffer>> outputs = contents_of(graph, node, options);
    if (!outputs) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i].valid()) graph.make_constant(node.outputs[i], (*outputs)[i]);
    dead[id.index()] = true;
    ++folded;
  }
  if (folded > 0) graph.remove_nodes(dead);
  return folded;
}

}  // namespace

PassReport remove_dead_code(Graph& graph) {
  return timed("remove_dead_code", [&] { return sweep_dead(graph); });
}

PassReport merge_common_nodes(Graph& graph) {
  return timed("merge_common_nodes", [&] { return merge_constants(graph) + merge_nodes(graph); });
}

PassReport forward_identities(Graph& graph) {
  return timed("forward_identities", [&] { return forward(graph); });
}

PassReport fold_constants(Graph& graph, const FoldOptions& options) {
  return timed("fold_constants", [&] { return fold(graph, options); });
}

}  // namespace hone
