// Indices and scalars as text. What is printed here elaborate_*.cpp must read back as the same
// node: brackets follow the binding strengths, numbers are bare only where their type is known.
#include <algorithm>

#include "expr/printer.h"
#include "support/lexer.h"

namespace hone {
namespace {

// Binding strength of what was printed; an operand weaker than its place needs parentheses.
constexpr int kPrimary = 10;
constexpr int kPrefix = 6;
constexpr int kProduct = 5;
constexpr int kSum = 4;
constexpr int kWeakest = 0;

struct Printed {
  std::string text;
  int strength;
};

std::string at_least(int strength, const Printed& printed) {
  return printed.strength >= strength ? printed.text : "(" + printed.text + ")";
}

std::string list_of(const std::vector<Index>& indices, const PrintNames& names) {
  std::string text;
  for (const Index& index : indices) text += (text.empty() ? "" : ", ") + print_index(index, names);
  return text;
}

std::string atom_text(const IndexAtom& atom, const PrintNames& names);

bool is_plain_product(const Dim& dim) {
  return dim.constant_part() == 0 && dim.terms().size() == 1 &&
         std::ranges::all_of(dim.terms()[0].factors, [](const DimAtomRef& factor) {
           return factor->kind == DimAtom::Kind::kSymbol;
         });
}

// A dimension as an operand of "*", "/" or "%".
std::string factor_text(const Dim& dim) {
  const std::string text = dim.to_string();
  const bool symbol = is_plain_product(dim) && dim.terms()[0].coefficient == 1 &&
                      dim.terms()[0].factors.size() == 1;
  const bool bare = symbol || (dim.is_const() && dim.value() >= 0);
  return bare ? text : "(" + text + ")";
}

// coefficient * atom; a leading "-" is part of it.
std::string term_text(const IndexTerm& term, const PrintNames& names) {
  const std::string atom = atom_text(*term.atom, names);
  const bool primary =
      term.atom->kind != IndexAtom::Kind::kFloorDiv && term.atom->kind != IndexAtom::Kind::kMod;
  if (term.coefficient.is(1)) return atom;
  const std::string operand = primary ? atom : "(" + atom + ")";
  if (term.coefficient.is(-1)) return "-" + operand;
  const bool product = term.coefficient.is_const() || is_plain_product(term.coefficient);
  const std::string factor = term.coefficient.to_string();
  return (product ? factor : "(" + factor + ")") + "*" + operand;
}

void append_term(std::string& sum, const std::string& term) {
  if (sum.empty()) {
    sum = term;
  } else if (term.starts_with('-')) {
    sum += " - " + term.substr(1);
  } else {
    sum += " + " + term;
  }
}

bool is_primary(const Index& index) {
  if (index.is_const()) return factor_text(index.offset()).front() != '(';
  if (index.terms().size() != 1 || !index.offset().is(0) || !index.terms()[0].coefficient.is(1))
    return false;
  const auto kind = index.terms()[0].atom->kind;
  return kind != IndexAtom::Kind::kFloorDiv && kind != IndexAtom::Kind::kMod;
}

std::string atom_text(const IndexAtom& atom, const PrintNames& names) {
  const auto left = [&] {
    const std::string text = print_index(atom.left, names);
    return is_primary(atom.left) ? text : "(" + text + ")";
  };
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return names.axis(atom.axis);
    case IndexAtom::Kind::kFloorDiv:
      return left() + "/" + factor_text(atom.divisor);
    case IndexAtom::Kind::kMod:
      return left() + "%" + factor_text(atom.divisor);
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      return (atom.kind == IndexAtom::Kind::kMin ? "min(" : "max(") +
             list_of({atom.left, atom.right}, names) + ")";
    case IndexAtom::Kind::kTable:
      return names.table(atom.table) + "[" + print_index(atom.left, names) + "]";
    case IndexAtom::Kind::kValue: {
      const std::string text = print_scalar(Scalar(atom.read), names, std::nullopt);
      return atom.read->kind == ScalarNode::Kind::kRead ? text : "value(" + text + ")";
    }
  }
  return {};
}

// ---- scalars

Printed print(const Scalar& scalar, const PrintNames& names, std::optional<ElementType> expected);

Printed print_literal(const ScalarNode& node, std::optional<ElementType> expected) {
  const Literal& literal = node.literal;
  if (node.type == ElementType::kBool && (literal.is(0) || literal.is(1)))
    return {literal.is(0) ? "false" : "true", kPrimary};
  std::string text = literal.to_string();
  if (expected != node.type) return {std::string(name_of(node.type)) + "(" + text + ")", kPrimary};
  if (text.starts_with('-')) return {text, kWeakest};
  return {text, text.find_first_of("/*") == std::string::npos ? kPrimary : kProduct};
}

// Numbers and look-ups in tables of numbers take the type of their partner.
bool is_untyped(const ScalarNode& node) {
  return node.kind == ScalarNode::Kind::kTable ||
         (node.kind == ScalarNode::Kind::kLiteral && node.type != ElementType::kBool);
}

std::string print_call(std::string_view name, const ScalarNode& node, const PrintNames& names,
                       std::optional<ElementType> expected) {
  std::string text(name);
  text += "(";
  for (size_t i = 0; i < node.args.size(); ++i)
    text += (i == 0 ? "" : ", ") + print(node.args[i], names, expected).text;
  return text + ")";
}

// The type that bare numbers among the operands take: that of an operand which shows its own.
std::optional<ElementType> operand_type(const ScalarNode& node) {
  const size_t first = node.fn == Fn::kSelect ? 1 : 0;
  for (size_t i = first; i < node.args.size(); ++i)
    if (!is_untyped(*node.args[i])) return node.args[i].type();
  return std::nullopt;
}

Printed print_apply(const ScalarNode& node, const PrintNames& names) {
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap) {
    const std::string prefix = node.fn == Fn::kCast ? "" : "wrap_";
    return {print_call(prefix + std::string(name_of(node.type)), node, names, std::nullopt),
            kPrimary};
  }
  const auto type = operand_type(node);
  const FnInfo& info = info_of(node.fn);
  if (node.fn == Fn::kNeg)
    return {"-" + at_least(kPrefix, print(node.args[0], names, type)), kPrefix};
  if (info.infix == 0) return {print_call(info.name, node, names, type), kPrimary};
  // Left-associative; comparisons do not chain.
  const int left =
      info.infix < kSum && info.boolean_result && node.fn <= Fn::kLe ? kSum : info.infix;
  return {at_least(left, print(node.args[0], names, type)) + " " + std::string(info.name) + " " +
              at_least(info.infix + 1, print(node.args[1], names, type)),
          info.infix};
}

Printed print_read(const ScalarNode& node, const PrintNames& names) {
  std::string text = names.tensor(node.tensor) + "[" + list_of(node.indices, names);
  if (node.outside) {
    if (!node.indices.empty()) text += " ";
    text += "| " + print(Scalar(node.outside), names, node.type).text;
  }
  return {text + "]", kPrimary};
}

Printed print(const Scalar& scalar, const PrintNames& names, std::optional<ElementType> expected) {
  const ScalarNode& node = *scalar;
  const std::string type(name_of(node.type));
  switch (node.kind) {
    case ScalarNode::Kind::kLiteral:
      return print_literal(node, expected);
    case ScalarNode::Kind::kParameter:
      return {"$" + name_text(node.name) + ":" + type, kPrimary};
    case ScalarNode::Kind::kIndex:
      return {"at(" + print_index(node.index, names) + ")", kPrimary};
    case ScalarNode::Kind::kTable: {
      const std::string text = names.table(node.table) + "[" + print_index(node.index, names) + "]";
      return {expected == node.type ? text : type + "(" + text + ")", kPrimary};
    }
    case ScalarNode::Kind::kRead:
      return print_read(node, names);
    case ScalarNode::Kind::kApply:
      return print_apply(node, names);
  }
  return {};
}

}  // namespace

std::string print_index(const Index& index, const PrintNames& names) {
  std::string sum;
  for (const IndexTerm& term : index.terms()) append_term(sum, term_text(term, names));
  if (sum.empty() || !index.offset().is(0)) append_term(sum, index.offset().to_string());
  return sum;
}

std::string print_scalar(const Scalar& scalar, const PrintNames& names,
                         std::optional<ElementType> expected) {
  return print(scalar, names, expected).text;
}

}  // namespace hone
