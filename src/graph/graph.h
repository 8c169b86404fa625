// A graph of operators on values. Values have a type and a name, no layout; a node's operator is
// an entry of the operator table, an inline tensor expression, or opaque. Nodes are kept in an
// order in which every value is defined before it is used.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "expr/tensor_expr.h"
#include "ops/attribute.h"
#include "ops/table.h"
#include "support/ids.h"
#include "tensor/buffer.h"
#include "tensor/type.h"

namespace hone {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

struct Value {
  enum class Kind : uint8_t {
    kInput,     // given by the caller
    kConstant,  // `constant` holds it
    kResult,    // an output of `producer`
    kOuter,     // of the graph around this one (inside If, Loop, Scan), by name
  } kind = Kind::kInput;
  std::string name;         // unique within the graph, never empty
  TensorType type;          // kInvalid element: not a tensor, or unknown
  std::string opaque_type;  // what is not a tensor (sequence, optional, map): its protobuf
  Buffer constant;          // kConstant; and the default of an input that has one
  std::optional<std::vector<Dim>> dims;  // contents of a small integer tensor, as far as known
  NodeId producer;
  std::string doc;  // doc_string and metadata of the source, kept for export
  std::map<std::string, std::string> metadata;
};

struct Node {
  std::string op;                    // operator's name
  std::string domain;                // "" is ai.onnx
  int opset = 0;                     // version of the domain
  const OperatorDef* def = nullptr;  // entry of the table, if any
  ExprRef inline_expr;               // the operator is this expression
  Attributes attributes;
  std::vector<ValueId> inputs;    // invalid id: an absent optional input
  std::vector<ValueId> outputs;   // invalid id: an output that nobody asked for
  std::vector<ValueId> captures;  // values that subgraphs in the attributes read by name
  // ONNX's own function body, where the table has no meaning: inputs and outputs in order.
  std::shared_ptr<const Graph> expansion;
  ExprRef meaning;         // set by infer(): the node's expression for the types at hand
  std::string why_opaque;  // set by infer(): why there is none
  std::string name;
  std::string overload;
  std::string doc;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> origin;  // names of source nodes that this one stands for

  [[nodiscard]] std::string full_op() const { return domain.empty() ? op : domain + "::" + op; }
  // "node 'conv1' (Conv)" for messages.
  [[nodiscard]] std::string label() const;
};

class Graph {
 public:
  std::string name;
  std::string doc;
  std::map<std::string, std::string> metadata;

  // Values. A name that is taken gets a suffix; an empty one is made up.
  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Buffer data);
  ValueId add_outer(std::string name, TensorType type);
  // A node at the end of the order; its outputs are new values. An empty output name makes that
  // output absent (invalid id).
  NodeId add_node(Node node, const std::vector<std::string>& output_names);

  [[nodiscard]] const Value& value(ValueId id) const { return values_[id.index()]; }
  [[nodiscard]] Value& value(ValueId id) { return values_[id.index()]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[id.index()]; }
  [[nodiscard]] Node& node(NodeId id) { return nodes_[id.index()]; }
  [[nodiscard]] std::optional<ValueId> find_value(const std::string& name) const;
  [[nodiscard]] size_t value_count() const { return values_.size(); }
  [[nodiscard]] size_t node_slots() const { return nodes_.size(); }

  [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
  // Live nodes in order.
  [[nodiscard]] const std::vector<NodeId>& order() const { return order_; }
  // Constants in order of addition, dead ones included.
  [[nodiscard]] std::vector<ValueId> constants() const;

  // How often a value is read: by nodes, captures and graph outputs.
  [[nodiscard]] std::vector<int> use_counts() const;
  // Every reader of `from` reads `to` instead, graph outputs too; not subgraphs: they read by name.
  void replace_uses(ValueId from, ValueId to);
  // Changes a result into a constant (its producer must be removed or lose this output).
  void make_constant(ValueId id, Buffer data);
  void rename(ValueId id, std::string name);
  // Removes nodes for which `dead` holds; the order of the others stays.
  void remove_nodes(const std::vector<bool>& dead);
  void set_order(std::vector<NodeId> order) { order_ = std::move(order); }

  // Hash-consed inline expressions: equal ones share one object.
  ExprRef intern(TensorExpr expr);

 private:
  std::string unique_name(std::string wanted);
  ValueId add_value(Value value);

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<ValueId> inputs_, outputs_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::unordered_multimap<uint64_t, ExprRef> exprs_;
  int next_name_ = 0;
};

// Checks ids, order, names, arity of outputs, subgraphs. All problems at once.
[[nodiscard]] Errors verify(const Graph& graph);

// Same structure, names, types, attributes, constants' bits.
[[nodiscard]] bool equal(const Graph& a, const Graph& b);

}  // namespace hone
