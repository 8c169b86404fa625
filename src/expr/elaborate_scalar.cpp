// Terms as scalars. A number has no type of its own: it takes that of its partner, of its place,
// or of the type that is written around it, as in f32(1).
#include <algorithm>

#include "expr/elaborator.h"

namespace hone {
namespace {

// The function written as an infix sign (strength > 0) or as a call.
std::optional<Fn> function_of(std::string_view name, bool infix) {
  for (int i = 0; i < kFnCount; ++i) {
    const Fn fn = static_cast<Fn>(i);
    if (fn == Fn::kCast || fn == Fn::kCastWrap) continue;
    if (info_of(fn).name == name && (info_of(fn).infix > 0) == infix) return fn;
  }
  return std::nullopt;
}

bool is_arithmetic(Fn fn) { return fn <= Fn::kDiv; }

}  // namespace

Scalar Elaborator::scalar_of(const Syntax& term, ExpectedType expected) {
  return self_typed(value_of(term, expected), expected, term.at);
}

Value Elaborator::value_of(const Syntax& term, ExpectedType expected) {
  switch (term.kind) {
    case Syntax::Kind::kNumber:
      return placed(term.at, [&] { return literal_of_number(term.text); });
    case Syntax::Kind::kName:
      return name_as_value(term);
    case Syntax::Kind::kParameter:
      return Scalar::parameter(type_of(term.type, term.at), term.text);
    case Syntax::Kind::kPrefix:
      return prefix_as_value(term, expected);
    case Syntax::Kind::kInfix:
      return infix_as_value(term, expected);
    case Syntax::Kind::kCall:
      return call_as_value(term, expected);
    case Syntax::Kind::kSubscript:
      return subscript_as_value(term);
    case Syntax::Kind::kSpread:
      fail(term.at, name_text(term.text) + ".. only stands in a list of indices");
    case Syntax::Kind::kString:
      break;
  }
  fail(term.at, "a string is not a number");
}

Value Elaborator::name_as_value(const Syntax& term) {
  const std::string& name = term.text;
  if (!term.quoted) {
    if (name == "inf") return Literal::infinity();
    if (name == "nan") return Literal::nan();
    if (name == "true") return Scalar::literal(ElementType::kBool, 1);
    if (name == "false") return Scalar::literal(ElementType::kBool, 0);
  }
  if (axis_of(name))
    fail(term.at, name_text(name) + " is an axis", "its value is at(" + name + ")");
  if (const auto found = names_.literals.find(name); found != names_.literals.end())
    return found->second;
  if (const auto dim = names_.dims.find(name); dim != names_.dims.end()) {
    if (dim->second.is_const()) return Literal(dim->second.value());
    return dim->second;
  }
  fail(term.at, "unknown name " + name_text(name),
       free_symbols_ ? "the value of a symbol is at(" + name + ")" : "");
}

Value Elaborator::prefix_as_value(const Syntax& term, ExpectedType expected) {
  const Syntax& inner = *term.args[0];
  if (term.text == "not") return apply(Fn::kNot, term, ElementType::kBool);
  const Value value = value_of(inner, expected);
  if (const auto* literal = std::get_if<Literal>(&value)) return literal->negated();
  const Scalar scalar = self_typed(value, expected, inner.at);
  return placed(term.at, [&] { return Scalar::apply(Fn::kNeg, {scalar}); });
}

Value Elaborator::infix_as_value(const Syntax& term, ExpectedType expected) {
  if (const auto same = compare_strings(term))
    return Scalar::literal(ElementType::kBool, *same ? 1 : 0);
  std::string sign = term.text;
  if (sign == "&&") sign = "and";
  if (sign == "||") sign = "or";
  if (sign == ">" || sign == ">=" || sign == "!=") {
    Syntax other = term;
    if (sign != "!=") std::swap(other.args[0], other.args[1]);
    const Fn fn = sign == ">" ? Fn::kLt : sign == ">=" ? Fn::kLe : Fn::kEq;
    const Scalar result = apply(fn, other, expected);
    return sign == "!=" ? Scalar::apply(Fn::kNot, {result}) : result;
  }
  const auto fn = function_of(sign, true);
  if (!fn) fail(term.at, "'" + sign + "' has no meaning between scalars", "mod(a, b), fmod(a, b)");
  if (is_arithmetic(*fn)) {
    const Value left = value_of(*term.args[0], expected);
    const Value right = value_of(*term.args[1], expected);
    const auto* a = std::get_if<Literal>(&left);
    const auto* b = std::get_if<Literal>(&right);
    if (a != nullptr && b != nullptr) return fold(sign[0], *a, *b, term.at);
    return apply_values(*fn, {left, right}, expected, term);
  }
  return apply(*fn, term, expected);
}

// Calls that are not plain functions: at(index), f32(x), wrap_f8e4m3fn(x), sqrt of a number.
Value Elaborator::call_as_value(const Syntax& term, ExpectedType expected) {
  const std::string& name = term.text;
  const bool unary = term.args.size() == 1;
  if (name == "at") {
    if (!unary) fail(term.at, "at(...) takes one index");
    return Scalar::index(index_of(*term.args[0]));
  }
  const bool wrap = name.starts_with("wrap_");
  const std::string type = wrap ? name.substr(5) : name;
  if (element_type_of(type) || names_.types.contains(type)) {
    if (!unary) fail(term.at, "a cast takes one scalar");
    return cast_of(term, type_of(type, term.at), !wrap);
  }
  const auto fn = function_of(name, false);
  if (!fn) fail(term.at, "unknown function " + name_text(name));
  if (*fn == Fn::kSqrt && unary) {
    const Value value = value_of(*term.args[0], expected);
    if (const auto* literal = std::get_if<Literal>(&value))
      return placed(term.at, [&] { return Literal::square_root(*literal); });
    return apply_values(*fn, {value}, expected, term);
  }
  return apply(*fn, term, expected);
}

Scalar Elaborator::cast_of(const Syntax& term, ElementType type, bool saturate) {
  const Value value = value_of(*term.args[0], std::nullopt);
  const auto* scalar = std::get_if<Scalar>(&value);
  if (scalar == nullptr) return typed(value, type, term.at);
  return placed(term.at, [&] { return Scalar::cast(type, *scalar, saturate); });
}

Scalar Elaborator::apply(Fn fn, const Syntax& term, ExpectedType expected) {
  std::vector<Value> values;
  const FnInfo& info = info_of(fn);
  const bool logical = fn == Fn::kAnd || fn == Fn::kOr || fn == Fn::kXor || fn == Fn::kNot;
  if (logical) {
    expected = ElementType::kBool;
  } else if (info.boolean_result) {
    expected = std::nullopt;
  }
  for (size_t i = 0; i < term.args.size(); ++i) {
    const bool condition = fn == Fn::kSelect && i == 0;
    values.push_back(value_of(*term.args[i], condition ? ElementType::kBool : expected));
  }
  return apply_values(fn, values, expected, term);
}

// Operands without a type take that of the first one that has one.
Scalar Elaborator::apply_values(Fn fn, const std::vector<Value>& values, ExpectedType expected,
                                const Syntax& term) {
  const auto arity = static_cast<size_t>(info_of(fn).arity);
  if (values.size() != arity)
    fail(term.at, std::string(info_of(fn).name) + " takes " + std::to_string(arity) +
                      " operands, not " + std::to_string(values.size()));
  const size_t first = fn == Fn::kSelect ? 1 : 0;
  for (size_t i = values.size(); i-- > first;)
    if (const auto* scalar = std::get_if<Scalar>(&values[i])) expected = scalar->type();
  std::vector<Scalar> args;
  for (size_t i = 0; i < values.size(); ++i)
    args.push_back(
        self_typed(values[i], i < first ? ElementType::kBool : expected, term.args[i]->at));
  return placed(term.at, [&] { return Scalar::apply(fn, std::move(args)); });
}

Value Elaborator::subscript_as_value(const Syntax& term) {
  if (const auto table = tables_.find(term.text); table != tables_.end()) {
    if (!expr_.tables[static_cast<size_t>(table->second)].indices.empty())
      fail(term.at, name_text(term.text) + " is a table of indices", "its value is at(...)");
    if (term.args.size() != 1 || term.outside)
      fail(term.at, "a look-up in a table takes one index");
    return TableLookUp{{table->second}, index_of(*term.args[0])};
  }
  if (tensors_.contains(term.text)) return read_of(term, tensor_of(term.text, term.at));
  if (const auto list = names_.literal_lists.find(term.text); list != names_.literal_lists.end())
    return list->second[list_position(term, list->second.size())];
  if (const auto list = names_.dim_lists.find(term.text); list != names_.dim_lists.end()) {
    const Dim& dim = list->second[list_position(term, list->second.size())];
    if (dim.is_const()) return Literal(dim.value());
    return dim;
  }
  fail(term.at, "there is no tensor or table " + name_text(term.text) + " here");
}

Scalar Elaborator::read_of(const Syntax& term, int tensor) {
  const ElementType type = expr_.tensors[static_cast<size_t>(tensor)].type;
  const size_t rank = expr_.tensors[static_cast<size_t>(tensor)].shape.size();
  std::vector<Index> indices = indices_of(term.args);
  if (indices.size() != rank)
    fail(term.at, name_text(term.text) + " has rank " + std::to_string(rank) +
                      ", but is read with " + std::to_string(indices.size()) + " indices");
  if (!term.outside) return Scalar::read(type, tensor, std::move(indices));
  const Scalar outside = scalar_of(*term.outside, type);
  return placed(term.outside->at,
                [&] { return Scalar::read_or(type, tensor, std::move(indices), outside); });
}

Scalar Elaborator::self_typed(const Value& value, ExpectedType expected, Position at) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
  if (!expected) fail(at, "the number has no type here", "write it with one, as in f32(1)");
  return typed(value, *expected, at);
}

Scalar Elaborator::typed(const Value& value, ElementType type, Position at) {
  if (const auto* scalar = std::get_if<Scalar>(&value)) return *scalar;
  if (!is_float(type) && !is_integer(type) && type != ElementType::kBool)
    fail(at, "there are no numbers of type " + std::string(name_of(type)));
  if (const auto* look_up = std::get_if<TableLookUp>(&value))
    return Scalar::table(type, look_up->table, look_up->position);
  if (const auto* dim = std::get_if<Dim>(&value))
    return placed(at, [&] { return Scalar::cast(type, Scalar::index(*dim)); });
  const Literal& literal = std::get<Literal>(value);
  if (literal.is_finite() && is_integer(type)) {
    const bool whole =
        literal.denominator() == 1 && literal.exponent() >= 0 && literal.radicand() == 1;
    if (!whole)
      fail(at, literal.to_string() + " is not a number of type " + std::string(name_of(type)));
  }
  return Scalar::literal(type, literal);
}

}  // namespace hone
