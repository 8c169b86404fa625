#include "expr/scalar.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "support/check.h"
#include "support/error.h"
#include "support/hash.h"

namespace hone {
namespace {

bool is_number(ElementType t) { return is_float(t) || is_integer(t); }

enum class Operands : uint8_t { kNumbers, kFloats, kIntegers, kBooleans, kAny };

Operands operands_of(Fn fn) {
  if (fn >= Fn::kExp && fn <= Fn::kAtanh) return Operands::kFloats;
  if (fn == Fn::kIsNan || fn == Fn::kIsInf) return Operands::kFloats;
  if (fn >= Fn::kAnd && fn <= Fn::kNot) return Operands::kBooleans;
  if (fn >= Fn::kBitAnd && fn <= Fn::kShiftRight) return Operands::kIntegers;
  if (fn == Fn::kEq || fn == Fn::kSelect) return Operands::kAny;
  return Operands::kNumbers;
}

bool accepts(Operands operands, ElementType t) {
  switch (operands) {
    case Operands::kNumbers:
      return is_number(t);
    case Operands::kFloats:
      return is_float(t);
    case Operands::kIntegers:
      return is_integer(t);
    case Operands::kBooleans:
      return t == ElementType::kBool;
    case Operands::kAny:
      return is_number(t) || t == ElementType::kBool;
  }
  return false;
}

[[noreturn]] void type_error(Fn fn, const Scalar& arg) {
  throw_invalid(std::string(info_of(fn).name) + " does not take an operand of type " +
                std::string(name_of(arg.type())));
}

// The type of the result; a Failure where the operands do not fit.
ElementType check_types(Fn fn, const std::vector<Scalar>& args) {
  const FnInfo& info = info_of(fn);
  HONE_CHECK(static_cast<int>(args.size()) == info.arity, "wrong number of arguments");
  const size_t first = fn == Fn::kSelect ? 1 : 0;
  if (fn == Fn::kSelect && args[0].type() != ElementType::kBool) type_error(fn, args[0]);
  const ElementType type = args[first].type();
  for (size_t i = first; i < args.size(); ++i) {
    if (!accepts(operands_of(fn), args[i].type())) type_error(fn, args[i]);
    if (args[i].type() != type)
      throw_invalid(std::string(info.name) + " has operands of types " +
                        std::string(name_of(type)) + " and " + std::string(name_of(args[i].type())),
                    "cast one of them");
  }
  return info.boolean_result ? ElementType::kBool : type;
}

Scalar make(ScalarNode node) {
  uint64_t h = combine_hash(static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.type));
  switch (node.kind) {
    case ScalarNode::Kind::kLiteral:
      h = combine_hash(h, node.literal.hash());
      break;
    case ScalarNode::Kind::kParameter:
      h = hash_text(node.name, h);
      break;
    case ScalarNode::Kind::kIndex:
      h = combine_hash(h, node.index.hash());
      break;
    case ScalarNode::Kind::kTable:
      h = combine_hash(combine_hash(h, static_cast<uint64_t>(node.table.value)), node.index.hash());
      break;
    case ScalarNode::Kind::kRead:
      h = combine_hash(h, static_cast<uint64_t>(node.tensor));
      for (const Index& index : node.indices) h = combine_hash(h, index.hash());
      if (node.outside) h = combine_hash(h, node.outside->hash);
      break;
    case ScalarNode::Kind::kApply:
      h = combine_hash(h, static_cast<uint64_t>(node.fn));
      for (const Scalar& arg : node.args) h = combine_hash(h, arg->hash);
      break;
  }
  node.hash = h;
  return Scalar(std::make_shared<const ScalarNode>(std::move(node)));
}

ScalarNode node_of(ScalarNode::Kind kind, ElementType type) {
  ScalarNode node{};
  node.kind = kind;
  node.type = type;
  return node;
}

// An exact result in floats; in integers only where it cannot wrap.
std::optional<Literal> fold_literals(Fn fn, ElementType type, const Literal& a, const Literal& b) {
  std::optional<Literal> result;
  if (fn == Fn::kAdd) result = add(a, b);
  if (fn == Fn::kSub) result = add(a, b.negated());
  if (fn == Fn::kMul) result = multiply(a, b);
  if (fn == Fn::kDiv && is_float(type)) result = divide(a, b);
  if (result && is_integer(type)) {
    const auto number = result->to_int();
    const bool small = number && *number >= -64 && *number < 64 &&
                       !(is_unsigned_int(type) && *number < 0) && bits_of(type) >= 8;
    if (!small && type != ElementType::kI64) return std::nullopt;
    if (!number) return std::nullopt;
  }
  return result;
}

Scalar fold(Fn fn, const std::vector<Scalar>& args) {
  const auto literal = [&](size_t i) { return args[i].is_literal(); };
  if (fn == Fn::kSelect) {
    if (literal(0)) return args[0].is_literal(0) ? args[2] : args[1];
    if (args[1] == args[2]) return args[1];
  }
  if (fn == Fn::kAnd || fn == Fn::kOr) {
    const int absorbing = fn == Fn::kAnd ? 0 : 1;
    for (size_t i = 0; i < 2; ++i)
      if (literal(i)) return args[i].is_literal(absorbing) ? args[i] : args[1 - i];
  }
  if (fn == Fn::kNot && literal(0))
    return Scalar::literal(ElementType::kBool, args[0].is_literal(0) ? 1 : 0);
  if (fn == Fn::kNeg && literal(0) && is_float(args[0].type()))
    return Scalar::literal(args[0].type(), args[0]->literal.negated());
  if (fn == Fn::kSqrt && literal(0) && args[0]->literal.is_finite() &&
      !args[0]->literal.negative() && args[0]->literal.radicand() == 1 &&
      args[0]->literal.numerator() < (1U << 16) && args[0]->literal.denominator() < (1U << 16))
    return Scalar::literal(args[0].type(), Literal::square_root(args[0]->literal));
  if (args.size() == 2 && literal(0) && literal(1) && fn <= Fn::kDiv) {
    if (auto value = fold_literals(fn, args[0].type(), args[0]->literal, args[1]->literal))
      return Scalar::literal(args[0].type(), *value);
  }
  // x * 1 and x / 1 keep every rounding; x + 0 does not keep the sign of zero.
  if (fn == Fn::kMul && args[0].is_literal(1)) return args[1];
  if ((fn == Fn::kMul || fn == Fn::kDiv) && args[1].is_literal(1)) return args[0];
  if ((fn == Fn::kAdd || fn == Fn::kSub) && args[1].is_literal(0) && is_integer(args[0].type()))
    return args[0];
  return {};
}

Scalar with_type(const Literal& value, const Scalar& partner) {
  return Scalar::literal(partner.type(), value);
}

}  // namespace

Scalar Scalar::literal(ElementType type, Literal value) {
  ScalarNode node = node_of(ScalarNode::Kind::kLiteral, type);
  node.literal = value;
  return make(std::move(node));
}

Scalar Scalar::parameter(ElementType type, std::string name) {
  ScalarNode node = node_of(ScalarNode::Kind::kParameter, type);
  node.name = std::move(name);
  return make(std::move(node));
}

Scalar Scalar::index(Index value) {
  if (value.is_const() && value.offset().is_const())
    return literal(ElementType::kI64, value.offset().value());
  ScalarNode node = node_of(ScalarNode::Kind::kIndex, ElementType::kI64);
  node.index = std::move(value);
  return make(std::move(node));
}

Scalar Scalar::table(ElementType type, TableId table, Index position) {
  ScalarNode node = node_of(ScalarNode::Kind::kTable, type);
  node.table = table;
  node.index = std::move(position);
  return make(std::move(node));
}

Scalar Scalar::read(ElementType type, int tensor, std::vector<Index> indices) {
  ScalarNode node = node_of(ScalarNode::Kind::kRead, type);
  node.tensor = tensor;
  node.indices = std::move(indices);
  return make(std::move(node));
}

Scalar Scalar::read_or(ElementType type, int tensor, std::vector<Index> indices, Scalar outside) {
  if (outside.type() != type) throw_invalid("the value outside a box has another type");
  ScalarNode node = node_of(ScalarNode::Kind::kRead, type);
  node.tensor = tensor;
  node.indices = std::move(indices);
  node.outside = outside.node();
  return make(std::move(node));
}

Scalar Scalar::apply(Fn fn, std::vector<Scalar> args) {
  HONE_CHECK(fn != Fn::kCast && fn != Fn::kCastWrap, "casts have a target type: Scalar::cast");
  const ElementType type = check_types(fn, args);
  if (Scalar folded = fold(fn, args); folded.valid()) return folded;
  ScalarNode node = node_of(ScalarNode::Kind::kApply, type);
  node.fn = fn;
  node.args = std::move(args);
  return make(std::move(node));
}

Scalar Scalar::cast(ElementType to, Scalar value, bool saturate) {
  if (value.type() == to) return value;
  if (!accepts(Operands::kAny, to) || !accepts(Operands::kAny, value.type()))
    throw_unsupported("no cast from " + std::string(name_of(value.type())) + " to " +
                      std::string(name_of(to)));
  const bool wide = to == ElementType::kF32 || to == ElementType::kF64 || to == ElementType::kI64;
  constexpr int64_t kExact = 1 << 24;  // below it every integer is a float
  const std::optional<int64_t> number = value.is_literal() ? value->literal.to_int() : std::nullopt;
  if (wide && number && *number < kExact && *number > -kExact) return literal(to, value->literal);
  ScalarNode node = node_of(ScalarNode::Kind::kApply, to);
  node.fn = saturate ? Fn::kCast : Fn::kCastWrap;
  node.args = {std::move(value)};
  return make(std::move(node));
}

namespace {

bool same(const ScalarNode* a, const ScalarNode* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  if (a->hash != b->hash || a->kind != b->kind || a->type != b->type) return false;
  return a->literal == b->literal && a->name == b->name && a->index == b->index &&
         a->table == b->table && a->tensor == b->tensor && a->indices == b->indices &&
         same(a->outside.get(), b->outside.get()) && a->fn == b->fn && a->args == b->args;
}

}  // namespace

bool operator==(const Scalar& a, const Scalar& b) { return same(a.node_.get(), b.node_.get()); }

namespace {

// Shared subtrees are visited once.
struct Substituter {
  const Substitution& how;
  std::unordered_map<const ScalarNode*, Scalar> done;

  Scalar visit(const Scalar& scalar) {
    if (const auto at = done.find(scalar.node().get()); at != done.end()) return at->second;
    return done[scalar.node().get()] = rebuild(*scalar);
  }

  Scalar rebuild(const ScalarNode& node) {
    switch (node.kind) {
      case ScalarNode::Kind::kLiteral:
        return Scalar::literal(node.type, node.literal);
      case ScalarNode::Kind::kParameter:
        return Scalar::parameter(node.type, node.name);
      case ScalarNode::Kind::kIndex:
        return Scalar::index(substitute(node.index, how));
      case ScalarNode::Kind::kTable:
        return Scalar::table(node.type, how.table ? how.table(node.table) : node.table,
                             substitute(node.index, how));
      case ScalarNode::Kind::kRead:
        return rebuild_read(node);
      case ScalarNode::Kind::kApply:
        break;
    }
    std::vector<Scalar> args;
    args.reserve(node.args.size());
    for (const Scalar& arg : node.args) args.push_back(visit(arg));
    if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
      return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
    return Scalar::apply(node.fn, std::move(args));
  }

  Scalar rebuild_read(const ScalarNode& node) {
    std::vector<Index> indices;
    indices.reserve(node.indices.size());
    for (const Index& index : node.indices) indices.push_back(substitute(index, how));
    const int tensor = how.tensor ? how.tensor(node.tensor) : node.tensor;
    if (!node.outside) return Scalar::read(node.type, tensor, std::move(indices));
    return Scalar::read_or(node.type, tensor, std::move(indices), visit(Scalar(node.outside)));
  }
};

}  // namespace

Scalar substitute(const Scalar& scalar, const Substitution& how) {
  return Substituter{how, {}}.visit(scalar);
}

Scalar operator+(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kAdd, {a, b}); }
Scalar operator-(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kSub, {a, b}); }
Scalar operator*(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kMul, {a, b}); }
Scalar operator/(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kDiv, {a, b}); }
Scalar operator+(const Scalar& a, const Literal& b) { return a + with_type(b, a); }
Scalar operator-(const Scalar& a, const Literal& b) { return a - with_type(b, a); }
Scalar operator*(const Scalar& a, const Literal& b) { return a * with_type(b, a); }
Scalar operator/(const Scalar& a, const Literal& b) { return a / with_type(b, a); }
Scalar operator+(const Literal& a, const Scalar& b) { return with_type(a, b) + b; }
Scalar operator-(const Literal& a, const Scalar& b) { return with_type(a, b) - b; }
Scalar operator*(const Literal& a, const Scalar& b) { return with_type(a, b) * b; }
Scalar operator/(const Literal& a, const Scalar& b) { return with_type(a, b) / b; }
Scalar operator-(const Scalar& a) { return Scalar::apply(Fn::kNeg, {a}); }
Scalar min(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kMin, {a, b}); }
Scalar max(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kMax, {a, b}); }
Scalar min(const Scalar& a, const Literal& b) { return min(a, with_type(b, a)); }
Scalar max(const Scalar& a, const Literal& b) { return max(a, with_type(b, a)); }
Scalar pow(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kPow, {a, b}); }
Scalar abs(const Scalar& a) { return Scalar::apply(Fn::kAbs, {a}); }
Scalar exp(const Scalar& a) { return Scalar::apply(Fn::kExp, {a}); }
Scalar log(const Scalar& a) { return Scalar::apply(Fn::kLog, {a}); }
Scalar sqrt(const Scalar& a) { return Scalar::apply(Fn::kSqrt, {a}); }
Scalar tanh(const Scalar& a) { return Scalar::apply(Fn::kTanh, {a}); }
Scalar erf(const Scalar& a) { return Scalar::apply(Fn::kErf, {a}); }
Scalar equal(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kEq, {a, b}); }
Scalar less(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kLt, {a, b}); }
Scalar less_equal(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kLe, {a, b}); }
Scalar less(const Scalar& a, const Literal& b) { return less(a, with_type(b, a)); }
Scalar less_equal(const Scalar& a, const Literal& b) { return less_equal(a, with_type(b, a)); }

namespace {

// Guards on equal or constant indices are decided here.
Scalar guard(Fn fn, const Index& a, const Index& b) {
  const Index difference = a - b;
  if (difference.is_const() && difference.offset().is_const()) {
    const int64_t d = difference.offset().value();
    const bool holds = fn == Fn::kEq ? d == 0 : fn == Fn::kLt ? d < 0 : d <= 0;
    return Scalar::literal(ElementType::kBool, holds ? 1 : 0);
  }
  return Scalar::apply(fn, {Scalar::index(a), Scalar::index(b)});
}

}  // namespace

Scalar equal(const Index& a, const Index& b) { return guard(Fn::kEq, a, b); }
Scalar less(const Index& a, const Index& b) { return guard(Fn::kLt, a, b); }
Scalar less_equal(const Index& a, const Index& b) { return guard(Fn::kLe, a, b); }
Scalar logical_and(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kAnd, {a, b}); }
Scalar logical_or(const Scalar& a, const Scalar& b) { return Scalar::apply(Fn::kOr, {a, b}); }
Scalar logical_not(const Scalar& a) { return Scalar::apply(Fn::kNot, {a}); }

Scalar select(const Scalar& condition, const Scalar& then, const Scalar& otherwise) {
  return Scalar::apply(Fn::kSelect, {condition, then, otherwise});
}
Scalar select(const Scalar& condition, const Scalar& then, const Literal& otherwise) {
  return select(condition, then, with_type(otherwise, then));
}
Scalar select(const Scalar& condition, const Literal& then, const Scalar& otherwise) {
  return select(condition, with_type(then, otherwise), otherwise);
}

}  // namespace hone
