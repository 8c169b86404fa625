// Inside of elaborate.h. Only for src/expr/elaborate*.cpp.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "expr/elaborate.h"

namespace hone {

// A scalar whose type its partner decides: a number, a look-up in a table of numbers, a dimension.
struct TableLookUp {
  TableId table;
  Index position;
};
using Value = std::variant<Scalar, Literal, TableLookUp, Dim>;
using ExpectedType = std::optional<ElementType>;

class Elaborator {
 public:
  Elaborator(std::string file, TemplateNames names, bool free_symbols)
      : file_(std::move(file)), names_(std::move(names)), free_symbols_(free_symbols) {}

  TensorExpr run(const DefinitionSyntax& definition, const std::vector<OperandType>* operands);

  Index index_of(const Syntax& term);
  Dim dim_of(const Syntax& term);
  Scalar scalar_of(const Syntax& term, ExpectedType expected);
  Literal literal_of(const Syntax& term);

 private:
  struct AxisScope {
    std::map<std::string, AxisId> single;
    std::map<std::string, std::vector<AxisId>> packs;
    int count = 0;
  };

  // Names and problems: elaborate_names.cpp
  [[noreturn]] void fail(Position at, std::string reason, std::string hint = {}) const;
  // Runs `make` and gives a Failure without a place this one.
  template <typename Make>
  auto placed(Position at, Make make) const {
    try {
      return make();
    } catch (Failure& failure) {
      if (failure.error.where.empty()) fail(at, failure.error.reason, failure.error.hint);
      throw;
    }
  }
  [[nodiscard]] ElementType type_of(const std::string& name, Position at) const;
  [[nodiscard]] int tensor_of(const std::string& name, Position at) const;
  [[nodiscard]] std::optional<AxisId> axis_of(const std::string& name) const;
  [[nodiscard]] const std::vector<Dim>& dim_list_of(const Syntax& spread) const;
  int declare(const std::string& name, ElementType type, Shape shape);
  void make_visible(const std::string& name, int tensor, Position at);

  // Indices: elaborate_index.cpp
  Index number_as_index(const Syntax& term, bool negative);
  Index negated(const Syntax& term);
  Index name_as_index(const Syntax& term);
  Index infix_as_index(const Syntax& term);
  Index call_as_index(const Syntax& term);
  Index subscript_as_index(const Syntax& term);
  std::vector<Index> indices_of(const std::vector<SyntaxRef>& terms);
  size_t list_position(const Syntax& subscript, size_t size);

  // Scalars: elaborate_scalar.cpp
  Value value_of(const Syntax& term, ExpectedType expected);
  Value name_as_value(const Syntax& term);
  Value prefix_as_value(const Syntax& term, ExpectedType expected);
  Value infix_as_value(const Syntax& term, ExpectedType expected);
  Value call_as_value(const Syntax& term, ExpectedType expected);
  Value subscript_as_value(const Syntax& term);
  Scalar read_of(const Syntax& term, int tensor);
  Scalar cast_of(const Syntax& term, ElementType type, bool saturate);
  Scalar apply(Fn fn, const Syntax& term, ExpectedType expected);
  Scalar apply_values(Fn fn, const std::vector<Value>& values, ExpectedType expected,
                      const Syntax& term);
  Scalar typed(const Value& value, ElementType type, Position at);
  Scalar self_typed(const Value& value, ExpectedType expected, Position at);
  std::optional<bool> compare_strings(const Syntax& term);
  Literal fold(char sign, const Literal& a, const Literal& b, Position at) const;

  // Statements: elaborate_stages.cpp
  void bind_operand(const OperandSyntax& syntax, const OperandType& operand);
  void bind_dim(const Syntax& term, const Dim& actual, const std::string& operand);
  void require_equal(const Dim& a, const Dim& b, std::string what, Position at);
  void add_equality(const EqualitySyntax& syntax);
  void add_table(const StatementSyntax& syntax);
  void add_statements(const std::vector<StatementSyntax>& statements, std::vector<Stage>& into);
  Stage stage_of(const StatementSyntax& syntax);
  Stage scan_of(const StatementSyntax& syntax);
  void add_carried(const StatementSyntax& syntax, Stage& scan);
  void link_scan(const StatementSyntax& syntax, Stage& scan);
  std::vector<Axis> declare_axes(const std::vector<AxisSyntax>& axes, AxisScope& scope);
  void declare_axis(const AxisSyntax& axis, AxisScope& scope, std::vector<Axis>& into);
  Combiner combiner_of(const StatementSyntax& syntax) const;
  void check_result();

  std::string file_;
  TemplateNames names_;
  bool free_symbols_;
  TensorExpr expr_;
  std::map<std::string, int> tensors_;  // visible here
  std::map<std::string, int> tables_;
  AxisScope axes_;                      // of the stage at hand
  std::vector<std::string> steps_;      // of the scans around it, outermost first
  std::map<int, std::string> pending_;  // finals and collections, visible after their scan
  std::map<std::string, Position> defined_at_;
};

}  // namespace hone
