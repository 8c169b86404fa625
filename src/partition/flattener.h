// Puts the meanings of a graph's nodes one after the other.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "partition/program.h"

namespace hone {

class Flattener {
 public:
  Result<TensorProgram> run(const Graph& graph);

 private:
  // Numbers of an expression's tensors and tables in the program.
  struct Numbers {
    std::vector<int> tensors;
    int first_table = 0;
  };

  ProgramTensor& at(int id) { return program_.tensors[static_cast<size_t>(id)]; }

  // --- from_graph.cpp

  int add_tensor(std::string name, ElementType type, std::vector<int64_t> dims);
  Result<int> declare(const std::string& name, const TensorType& type);
  Result<int> fetch(const Graph& graph, ValueId id, std::unordered_map<ValueId, int>& values);
  std::optional<Error> add_graph(const Graph& graph, std::unordered_map<ValueId, int>& values);
  static const TensorExpr* meaning_of(const Node& node);
  std::optional<Error> add_node(const Graph& graph, NodeId id,
                                std::unordered_map<ValueId, int>& values);
  std::optional<Error> add_expansion(const Node& node, const std::vector<int>& operands,
                                     std::unordered_map<ValueId, int>& values);
  std::optional<Error> add_host(const Graph& graph, NodeId id, const std::vector<int>& operands,
                                std::unordered_map<ValueId, int>& values);

  // --- from_stages.cpp

  std::vector<int> add_expr(const TensorExpr& expr, const std::vector<int>& operands,
                            const std::string& label);
  void add_stage(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                 const std::string& label, std::vector<Op>& ops);
  // Updates in order, each where its target lies inside.
  void add_updates(const Stage& stage, const Substitution& how, int result, Op op,
                   std::vector<Op>& ops);
  void add_scan(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                const std::string& label, std::vector<Op>& ops);

  TensorProgram program_;
};

}  // namespace hone
