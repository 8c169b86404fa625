// Terms as indices; a dimension is an index without axes.
#include "expr/elaborator.h"

namespace hone {
namespace {

// Products of long sums grow without bound; nothing real comes near this.
constexpr size_t kMaxProductTerms = 4096;

size_t term_count(const Dim& dim) { return dim.terms().size() + 1; }

size_t term_count(const Index& index) {
  size_t count = term_count(index.offset());
  for (const IndexTerm& term : index.terms()) count += term_count(term.coefficient);
  return count;
}

}  // namespace

Index Elaborator::index_of(const Syntax& term) {
  switch (term.kind) {
    case Syntax::Kind::kNumber:
      return number_as_index(term, false);
    case Syntax::Kind::kName:
      return name_as_index(term);
    case Syntax::Kind::kInfix:
      return infix_as_index(term);
    case Syntax::Kind::kCall:
      return call_as_index(term);
    case Syntax::Kind::kSubscript:
      return subscript_as_index(term);
    case Syntax::Kind::kPrefix:
      if (term.text != "-") break;
      return placed(term.at, [&] { return negated(*term.args[0]); });
    case Syntax::Kind::kSpread:
      fail(term.at, name_text(term.text) + ".. stands alone in a list of indices");
    case Syntax::Kind::kString:
    case Syntax::Kind::kParameter:
      break;
  }
  fail(term.at, "this is not an index", "an index has axes, +, -, *, /, %, min, max and reads");
}

Index Elaborator::number_as_index(const Syntax& term, bool negative) {
  const Literal number = placed(term.at, [&] { return literal_of_number(term.text); });
  const auto value = (negative ? number.negated() : number).to_int();
  if (!value) fail(term.at, "an index must be an integer of 64 bits, not " + term.text);
  return {*value};
}

// The least integer has no positive counterpart, hence the care.
Index Elaborator::negated(const Syntax& term) {
  if (term.kind == Syntax::Kind::kNumber) return number_as_index(term, true);
  return Index(0) - index_of(term);
}

Dim Elaborator::dim_of(const Syntax& term) {
  const Index index = index_of(term);
  if (!index.is_const()) fail(term.at, "a dimension cannot depend on an axis");
  return index.offset();
}

Index Elaborator::name_as_index(const Syntax& term) {
  if (const auto axis = axis_of(term.text)) return *axis;
  if (const auto dim = names_.dims.find(term.text); dim != names_.dims.end()) return dim->second;
  if (free_symbols_) return Dim::symbol(term.text);
  if (names_.literals.contains(term.text))
    fail(term.at, name_text(term.text) + " is a float and cannot be part of an index");
  fail(term.at, "unknown name " + name_text(term.text),
       "an index may use axes, dimensions of the operands and integer attributes");
}

Index Elaborator::infix_as_index(const Syntax& term) {
  const Index left = index_of(*term.args[0]);
  if (term.text == "-") return placed(term.at, [&] { return left + negated(*term.args[1]); });
  const Index right = index_of(*term.args[1]);
  return placed(term.at, [&]() -> Index {
    if (term.text == "+") return left + right;
    if (term.text == "*") {
      if (term_count(left) * term_count(right) > kMaxProductTerms)
        fail(term.at, "the product has too many terms");
      if (right.is_const()) return left * right.offset();
      if (left.is_const()) return right * left.offset();
      fail(term.at, "an index cannot be a product of two axes");
    }
    if (term.text != "/" && term.text != "%")
      fail(term.at, "'" + term.text + "' has no meaning in an index");
    if (!right.is_const()) fail(term.at, "the divisor of an index cannot depend on an axis");
    const bool divide = term.text == "/";
    if (left.is_const())
      return divide ? floor_div(left.offset(), right.offset()) : mod(left.offset(), right.offset());
    return divide ? floor_div(left, right.offset()) : mod(left, right.offset());
  });
}

Index Elaborator::call_as_index(const Syntax& term) {
  if (term.text == "value") {
    if (term.args.size() != 1) fail(term.at, "value(...) takes one scalar");
    const Scalar scalar = scalar_of(*term.args[0], std::nullopt);
    return placed(term.at, [&] { return Index::value(scalar); });
  }
  if (term.text != "min" && term.text != "max")
    fail(term.at, "an index has no function " + name_text(term.text), "min, max or value");
  if (term.args.size() != 2) fail(term.at, term.text + " takes two indices");
  const Index left = index_of(*term.args[0]);
  const Index right = index_of(*term.args[1]);
  return placed(term.at, [&]() -> Index {
    const bool least = term.text == "min";
    if (left.is_const() && right.is_const())
      return least ? min(left.offset(), right.offset()) : max(left.offset(), right.offset());
    return least ? min(left, right) : max(left, right);
  });
}

Index Elaborator::subscript_as_index(const Syntax& term) {
  if (const auto table = tables_.find(term.text); table != tables_.end()) {
    if (!expr_.tables[static_cast<size_t>(table->second)].literals.empty())
      fail(term.at, name_text(term.text) + " is not a table of indices", "declare it as itable");
    if (term.args.size() != 1 || term.outside)
      fail(term.at, "a look-up in a table takes one index");
    return Index::table({table->second}, index_of(*term.args[0]));
  }
  if (tensors_.contains(term.text)) {
    const Scalar read = read_of(term, tensor_of(term.text, term.at));
    return placed(term.at, [&] { return Index::value(read); });
  }
  if (const auto list = names_.dim_lists.find(term.text); list != names_.dim_lists.end())
    return list->second[list_position(term, list->second.size())];
  fail(term.at, "there is no tensor or table " + name_text(term.text) + " here");
}

std::vector<Index> Elaborator::indices_of(const std::vector<SyntaxRef>& terms) {
  std::vector<Index> indices;
  for (const SyntaxRef& term : terms) {
    if (term->kind != Syntax::Kind::kSpread) {
      indices.push_back(index_of(*term));
      continue;
    }
    const auto pack = axes_.packs.find(term->text);
    if (pack == axes_.packs.end())
      fail(term->at, "the stage has no axes " + name_text(term->text) + "..");
    indices.insert(indices.end(), pack->second.begin(), pack->second.end());
  }
  return indices;
}

size_t Elaborator::list_position(const Syntax& subscript, size_t size) {
  if (subscript.args.size() != 1 || subscript.outside)
    fail(subscript.at, "an element of a list is chosen by one number");
  const Dim position = dim_of(*subscript.args[0]);
  if (!position.is_const() || position.value() < 0 ||
      static_cast<uint64_t>(position.value()) >= size)
    fail(subscript.at, name_text(subscript.text) + " has " + std::to_string(size) +
                           " elements, none at " + position.to_string());
  return static_cast<size_t>(position.value());
}

}  // namespace hone
