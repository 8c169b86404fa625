// The frame of a definition: operands and what they bind, equalities, outputs.
#include "expr/elaborate.h"

#include <algorithm>

#include "expr/elaborator.h"

namespace hone {

void Elaborator::require_equal(const Dim& a, const Dim& b, std::string what, Position at) {
  if (a == b) return;
  if (a.is_const() && b.is_const())
    fail(at, what + " differ: " + a.to_string() + " and " + b.to_string());
  expr_.equalities.push_back({a, b, std::move(what)});
}

// A new name takes the dimension; anything else must agree with it.
void Elaborator::bind_dim(const Syntax& term, const Dim& actual, const std::string& operand) {
  if (term.kind == Syntax::Kind::kName && !names_.dims.contains(term.text)) {
    names_.dims.emplace(term.text, actual);
    return;
  }
  require_equal(dim_of(term), actual, "dimensions of " + name_text(operand), term.at);
}

void Elaborator::bind_operand(const OperandSyntax& syntax, const OperandType& operand) {
  const auto declared = element_type_of(syntax.type);
  const ElementType type =
      declared ? *declared : names_.types.emplace(syntax.type, operand.type).first->second;
  if (type != operand.type)
    fail(syntax.at, name_text(syntax.name) + " must have type " + std::string(name_of(type)) +
                        ", not " + std::string(name_of(operand.type)));
  // At most one pack is still open; it takes the dimensions that the others leave.
  size_t taken = 0;
  const Syntax* open = nullptr;
  for (const SyntaxRef& term : syntax.shape) {
    if (term->kind != Syntax::Kind::kSpread) {
      ++taken;
    } else if (const auto list = names_.dim_lists.find(term->text);
               list != names_.dim_lists.end()) {
      taken += list->second.size();
    } else if (open != nullptr) {
      fail(term->at, "the ranks of " + name_text(open->text) + ".. and " + name_text(term->text) +
                         ".. cannot both follow from " + name_text(syntax.name));
    } else {
      open = term.get();
    }
  }
  const size_t rank = operand.shape.size();
  if (taken > rank || (open == nullptr && taken != rank))
    fail(syntax.at, name_text(syntax.name) + " must have " + (open ? "at least " : "") +
                        std::to_string(taken) + " dimensions, not " + std::to_string(rank));
  auto next = operand.shape.begin();
  for (const SyntaxRef& term : syntax.shape) {
    if (term->kind != Syntax::Kind::kSpread) {
      bind_dim(*term, *next++, syntax.name);
    } else if (term.get() == open) {
      const auto end = next + static_cast<std::ptrdiff_t>(rank - taken);
      names_.dim_lists[term->text] = {next, end};
      next = end;
    } else {
      for (const Dim& dim : names_.dim_lists[term->text])
        require_equal(dim, *next++, "dimensions " + name_text(term->text) + "..", term->at);
    }
  }
}

void Elaborator::add_equality(const EqualitySyntax& syntax) {
  const Dim left = dim_of(*syntax.left);
  const Dim right = dim_of(*syntax.right);
  if (free_symbols_) {
    expr_.equalities.push_back({left, right, syntax.what});
  } else {
    require_equal(left, right, syntax.what.empty() ? "dimensions" : syntax.what, syntax.left->at);
  }
}

void Elaborator::add_statements(const std::vector<StatementSyntax>& statements,
                                std::vector<Stage>& into) {
  using Kind = StatementSyntax::Kind;
  for (const StatementSyntax& statement : statements) {
    if (statement.kind == Kind::kIndexTable || statement.kind == Kind::kLiteralTable)
      add_table(statement);
    else
      into.push_back(statement.kind == Kind::kScan ? scan_of(statement) : stage_of(statement));
  }
}

TensorExpr Elaborator::run(const DefinitionSyntax& definition,
                           const std::vector<OperandType>* operands) {
  for (size_t i = 0; i < definition.operands.size(); ++i) {
    const OperandSyntax& syntax = definition.operands[i];
    OperandType operand;
    if (operands != nullptr) {
      operand = (*operands)[i];
      bind_operand(syntax, operand);
    } else {
      operand.type = type_of(syntax.type, syntax.at);
      for (const SyntaxRef& dim : syntax.shape) operand.shape.push_back(dim_of(*dim));
    }
    const int tensor = declare(syntax.name, operand.type, std::move(operand.shape));
    make_visible(syntax.name, tensor, syntax.at);
    ++expr_.operand_count;
  }
  for (const EqualitySyntax& equality : definition.equalities) add_equality(equality);
  add_statements(definition.statements, expr_.stages);
  for (const NameSyntax& output : definition.outputs)
    expr_.outputs.push_back(tensor_of(output.name, output.at));
  check_result();
  return std::move(expr_);
}

void Elaborator::check_result() {
  const Errors problems = verify(expr_);
  if (problems.empty()) return;
  const Error& first = problems.front();
  const auto at = defined_at_.find(first.where);
  fail(at == defined_at_.end() ? Position{} : at->second, first.where + " " + first.reason);
}

TensorExpr elaborate(const DefinitionSyntax& definition) {
  return Elaborator(definition.file, {}, true).run(definition, nullptr);
}

TensorExpr elaborate_template(const DefinitionSyntax& definition,
                              const std::vector<OperandType>& operands, TemplateNames attributes) {
  const size_t expected = definition.operands.size();
  if (operands.size() != expected)
    throw_invalid("it takes " + std::to_string(expected) + " operands, not " +
                  std::to_string(operands.size()));
  return Elaborator(definition.file, std::move(attributes), false).run(definition, &operands);
}

Dim elaborate_dim(const Syntax& term) { return Elaborator({}, {}, true).dim_of(term); }

Literal elaborate_literal(const Syntax& term) { return Elaborator({}, {}, true).literal_of(term); }

}  // namespace hone
