#include "graph/node_hash.h"

#include <bit>

#include "support/hash.h"

namespace hone {
namespace {

using GraphRef = std::shared_ptr<const Graph>;

struct AttributeHash {
  uint64_t operator()(int64_t v) const { return mix_hash(static_cast<uint64_t>(v)); }
  uint64_t operator()(float v) const { return mix_hash(std::bit_cast<uint32_t>(v)); }
  uint64_t operator()(const std::string& v) const { return hash_text(v); }
  uint64_t operator()(const Buffer& v) const { return v.content_hash(); }
  uint64_t operator()(const Dim& v) const { return v.hash(); }
  uint64_t operator()(const OpaqueAttribute& v) const { return hash_text(v.bytes); }
  // Graphs are told apart by identity: equal bodies are not worth finding.
  uint64_t operator()(const GraphRef& v) const { return v ? v->order().size() : 0; }
  template <typename T>
  uint64_t operator()(const std::vector<T>& values) const {
    uint64_t h = values.size();
    for (const T& value : values) h = combine_hash(h, (*this)(value));
    return h;
  }
};

bool same_bits(const Attribute& a, const Attribute& b) {
  const auto* x = std::get_if<float>(&a);
  const auto* y = std::get_if<float>(&b);
  if (x != nullptr && y != nullptr)
    return std::bit_cast<uint32_t>(*x) == std::bit_cast<uint32_t>(*y);
  return a == b;
}

}  // namespace

uint64_t hash_of(const Node& node) {
  uint64_t h = hash_text(node.op, hash_text(node.domain));
  h = combine_hash(h, static_cast<uint64_t>(node.opset));
  if (node.inline_expr) h = combine_hash(h, node.inline_expr->hash());
  for (const ValueId input : node.inputs) h = combine_hash(h, static_cast<uint64_t>(input.value));
  for (const auto& [name, attribute] : node.attributes)
    h = combine_hash(hash_text(name, h), std::visit(AttributeHash{}, attribute));
  return combine_hash(h, node.outputs.size());
}

bool computes_the_same(const Node& a, const Node& b) {
  if (a.op != b.op || a.domain != b.domain || a.opset != b.opset || a.overload != b.overload ||
      a.inline_expr != b.inline_expr || a.inputs != b.inputs || a.captures != b.captures ||
      a.outputs.size() != b.outputs.size() || a.attributes.size() != b.attributes.size())
    return false;
  for (size_t i = 0; i < a.outputs.size(); ++i)
    if (b.outputs[i].valid() && !a.outputs[i].valid()) return false;
  auto other = b.attributes.begin();
  for (const auto& [name, attribute] : a.attributes) {
    if (name != other->first || !same_bits(attribute, other->second)) return false;
    ++other;
  }
  return true;
}

bool is_plain_copy(const TensorExpr& expr) {
  if (expr.outputs.empty()) return false;
  if (expr.outputs[0] == 0) return true;
  if (expr.stages.size() != 1) return false;
  const Stage& stage = expr.stages[0];
  if (stage.kind != Stage::Kind::kMap || stage.result != expr.outputs[0] ||
      stage.body->kind != ScalarNode::Kind::kRead || stage.body->tensor != 0 || stage.body->outside)
    return false;
  if (!stage.reduce.empty() || expr.tensors[0].shape != expr.tensors.back().shape) return false;
  for (size_t i = 0; i < stage.body->indices.size(); ++i) {
    const Index& index = stage.body->indices[i];
    const AxisId* axis = index.as_axis();
    const bool only_zero =
        expr.tensors[0].shape[i].is(1) && index.is_const() && index.offset().is(0);
    if (!only_zero && (axis == nullptr || axis->value != static_cast<int>(i))) return false;
  }
  return true;
}

}  // namespace hone
