#include "graph/graph.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace hone {

std::string Node::label() const {
  return name.empty() ? "node of type " + full_op() : "node '" + name + "' (" + full_op() + ")";
}

std::string Graph::unique_name(std::string wanted) {
  if (!wanted.empty() && !by_name_.contains(wanted)) return wanted;
  const std::string stem = wanted.empty() ? "v" : wanted + "_";
  std::string candidate;
  do {
    candidate = stem + std::to_string(next_name_++);
  } while (by_name_.contains(candidate));
  return candidate;
}

ValueId Graph::add_value(Value value) {
  value.name = unique_name(std::move(value.name));
  const ValueId id{static_cast<int32_t>(values_.size())};
  by_name_.emplace(value.name, id);
  values_.push_back(std::move(value));
  return id;
}

ValueId Graph::add_input(std::string wanted, TensorType type) {
  Value value;
  value.kind = Value::Kind::kInput;
  value.name = std::move(wanted);
  value.type = std::move(type);
  inputs_.push_back(add_value(std::move(value)));
  return inputs_.back();
}

ValueId Graph::add_constant(std::string wanted, Buffer data) {
  Value value;
  value.kind = Value::Kind::kConstant;
  value.name = std::move(wanted);
  value.type = data.tensor_type();
  value.constant = std::move(data);
  return add_value(std::move(value));
}

ValueId Graph::add_outer(std::string wanted, TensorType type) {
  Value value;
  value.kind = Value::Kind::kOuter;
  value.name = std::move(wanted);
  value.type = std::move(type);
  return add_value(std::move(value));
}

NodeId Graph::add_node(Node node, const std::vector<std::string>& output_names) {
  const NodeId id{static_cast<int32_t>(nodes_.size())};
  node.outputs.clear();
  for (const std::string& output : output_names) {
    if (output.empty()) {
      node.outputs.emplace_back();
      continue;
    }
    Value value;
    value.kind = Value::Kind::kResult;
    value.name = output;
    value.producer = id;
    node.outputs.push_back(add_value(std::move(value)));
  }
  nodes_.push_back(std::move(node));
  order_.push_back(id);
  return id;
}

std::optional<ValueId> Graph::find_value(const std::string& wanted) const {
  const auto at = by_name_.find(wanted);
  return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

std::vector<ValueId> Graph::constants() const {
  std::vector<ValueId> result;
  for (size_t i = 0; i < values_.size(); ++i)
    if (values_[i].kind == Value::Kind::kConstant) result.push_back({static_cast<int32_t>(i)});
  return result;
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> counts(values_.size(), 0);
  const auto count = [&](ValueId id) {
    if (id.valid()) ++counts[id.index()];
  };
  for (const NodeId id : order_) {
    for (const ValueId input : node(id).inputs) count(input);
    for (const ValueId capture : node(id).captures) count(capture);
  }
  for (const ValueId output : outputs_) count(output);
  return counts;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (const NodeId id : order_)
    std::replace(node(id).inputs.begin(), node(id).inputs.end(), from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

void Graph::make_constant(ValueId id, Buffer data) {
  Value& target = value(id);
  target.kind = Value::Kind::kConstant;
  target.type = data.tensor_type();
  target.constant = std::move(data);
  target.producer = {};
}

void Graph::rename(ValueId id, std::string wanted) {
  Value& target = value(id);
  HONE_CHECK(!by_name_.contains(wanted), "renaming to a name that is taken");
  by_name_.erase(target.name);
  by_name_.emplace(wanted, id);
  target.name = std::move(wanted);
}

void Graph::remove_nodes(const std::vector<bool>& dead) {
  std::erase_if(order_, [&](NodeId id) { return dead[id.index()]; });
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!dead[i]) continue;
    for (const ValueId output : nodes_[i].outputs) {
      if (!output.valid() || value(output).kind != Value::Kind::kResult) continue;
      by_name_.erase(value(output).name);
    }
    nodes_[i] = {};
  }
}

ExprRef Graph::intern(TensorExpr expr) {
  const uint64_t hash = expr.hash();
  const auto [first, last] = exprs_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (*at->second == expr) return at->second;
  return exprs_.emplace(hash, std::make_shared<const TensorExpr>(std::move(expr)))->second;
}

}  // namespace hone
