// Text of dimensions and shapes: what it prints can be parsed back, as "*", "/" and "%" bind alike
// and from the left, and a minus sign in front applies to the next factor only.
#include "support/lexer.h"
#include "tensor/dim_builder.h"

namespace hone {
namespace {

using Kind = DimAtom::Kind;

std::string in_parentheses(const std::string& text) { return "(" + text + ")"; }

bool is_primary(const DimAtom& atom) {
  return atom.kind != Kind::kFloorDiv && atom.kind != Kind::kMod;
}

// An operand of "/" or "%".
std::string operand_text(const Dim& dim) {
  const DimAtom* atom = as_atom(dim);
  const bool bare = dim.is_const() ? dim.value() >= 0 : atom != nullptr && is_primary(*atom);
  return bare ? dim.to_string() : in_parentheses(dim.to_string());
}

std::string atom_text(const DimAtom& atom) {
  switch (atom.kind) {
    case Kind::kSymbol:
      return name_text(atom.name);
    case Kind::kFloorDiv:
      return operand_text(atom.left) + "/" + operand_text(atom.right);
    case Kind::kMod:
      return operand_text(atom.left) + "%" + operand_text(atom.right);
    case Kind::kMin:
      return "min(" + atom.left.to_string() + ", " + atom.right.to_string() + ")";
    case Kind::kMax:
      return "max(" + atom.left.to_string() + ", " + atom.right.to_string() + ")";
  }
  return {};
}

// The magnitude of a coefficient, which has no int64 when it is the least one.
std::string magnitude_text(int64_t value) {
  const std::string text = std::to_string(value);
  return value < 0 ? text.substr(1) : text;
}

std::string term_text(const DimTerm& term, bool first) {
  const bool negative = term.coefficient < 0;
  const std::string sign = first ? (negative ? "-" : "") : (negative ? " - " : " + ");
  std::string product = magnitude_text(term.coefficient);
  const bool unit = product == "1";
  if (unit) product.clear();
  const bool alone = unit && term.factors.size() == 1 && !(first && negative);
  for (const DimAtomRef& factor : term.factors) {
    const std::string text = atom_text(*factor);
    if (!product.empty()) product += "*";
    product += alone || is_primary(*factor) ? text : in_parentheses(text);
  }
  return sign + product;
}

}  // namespace

std::string Dim::to_string() const {
  std::string text;
  for (const DimTerm& term : terms()) text += term_text(term, text.empty());
  if (text.empty()) return std::to_string(constant_);
  if (constant_ != 0) text += (constant_ < 0 ? " - " : " + ") + magnitude_text(constant_);
  return text;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + shape[i].to_string();
  return text + "]";
}

}  // namespace hone
