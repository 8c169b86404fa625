// From syntax to tensor expressions: names get their meaning, terms become dimensions, indices or
// scalars. Concrete text is the case in which every unknown dimension name is a symbol; a template
// has its names bound by the operands it is used on and by attributes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/syntax.h"
#include "expr/tensor_expr.h"

namespace hone {

// What names of a template stand for, besides those that the operands' types bind.
struct TemplateNames {
  std::map<std::string, ElementType> types;           // T
  std::map<std::string, Dim> dims;                    // n; an integer attribute
  std::map<std::string, std::vector<Dim>> dim_lists;  // i..; a list of integers
  std::map<std::string, Literal> literals;            // a float attribute
  std::map<std::string, std::vector<Literal>> literal_lists;
  std::map<std::string, std::string> strings;
};

struct OperandType {
  ElementType type;
  Shape shape;
};

// These throw a Failure whose `where` is a position in the text. The result is verified.
[[nodiscard]] TensorExpr elaborate(const DefinitionSyntax& definition);
[[nodiscard]] TensorExpr elaborate_template(const DefinitionSyntax& definition,
                                            const std::vector<OperandType>& operands,
                                            TemplateNames attributes);

// A dimension whose names are symbols, and an exact number.
[[nodiscard]] Dim elaborate_dim(const Syntax& term);
[[nodiscard]] Literal elaborate_literal(const Syntax& term);
// The number of a number token: exact, or the nearest double where it has too many digits.
[[nodiscard]] Literal literal_of_number(const std::string& text);

}  // namespace hone
