#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "expr/elaborate.h"
#include "loop/parser.h"
#include "loop/text.h"

namespace hone::loop {
namespace {

// Bounds the depth of the trees that a statement can make.
constexpr int kMaxOperations = 20000;

struct InfixSign {
  std::string_view sign;
  int strength;
  Fn fn;
};
constexpr int kComparison = 3;
constexpr std::array<InfixSign, 10> kInfixSigns = {{{"or", 1, Fn::kOr},
                                                    {"and", 2, Fn::kAnd},
                                                    {"==", kComparison, Fn::kEq},
                                                    {"<", kComparison, Fn::kLt},
                                                    {"<=", kComparison, Fn::kLe},
                                                    {"+", 4, Fn::kAdd},
                                                    {"-", 4, Fn::kSub},
                                                    {"*", 5, Fn::kMul},
                                                    {"/", 5, Fn::kDiv},
                                                    {"%", 5, Fn::kMod}}};

const InfixSign* infix_at(const Lexer& lexer) {
  const auto found = std::ranges::find_if(
      kInfixSigns, [&](const InfixSign& infix) { return lexer.sees(infix.sign); });
  return found == kInfixSigns.end() ? nullptr : &*found;
}

std::optional<Fn> function_named(std::string_view name) {
  for (int i = 0; i < kFnCount; ++i) {
    const auto fn = static_cast<Fn>(i);
    if (info_of(fn).infix == 0 && fn != Fn::kCast && fn != Fn::kCastWrap &&
        info_of(fn).name == name)
      return fn;
  }
  return std::nullopt;
}

std::optional<int> lanes_of_word(std::string_view digits) {
  int lanes = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), lanes);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return whole && lanes > 0 ? std::optional(lanes) : std::nullopt;
}

}  // namespace

std::optional<Type> type_of_word(std::string_view word) {
  if (const auto element = element_type_of(word)) return Type{*element, 1};
  const size_t cross = word.rfind('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto element = element_type_of(word.substr(0, cross));
  const auto lanes = lanes_of_word(word.substr(cross + 1));
  if (!element || !lanes) return std::nullopt;
  return Type{*element, *lanes};
}

Expr Parser::expression() { return infix(1); }

Expr Parser::infix(int least) {
  const Nested nested(lexer_);
  Expr left = operand();
  while (true) {
    if (lexer_.sees("<-")) {
      if (least > kComparison) return left;
      Token less{Token::Kind::kSign, "<", false, lexer_.at()};
      lexer_.split_arrow();
      left = combine(less, std::move(left), infix(kComparison + 1), false);
      continue;
    }
    const InfixSign* sign = infix_at(lexer_);
    if (sign == nullptr || sign->strength < least) return left;
    const Token token = lexer_.take();
    const bool bracketed = lexer_.sees("(");
    left = combine(token, std::move(left), infix(sign->strength + 1), bracketed);
  }
}

Expr Parser::combine(const Token& sign, Expr left, Expr right, bool bracketed) {
  // a - 3 is a + (-3); text.h
  if (sign.text == "-" && !bracketed && right.is_integer() && right.type() == Type{} &&
      right->integer >= 0)
    return apply(Fn::kAdd, {std::move(left), Expr(-right->integer)}, sign.at);
  for (const InfixSign& infix : kInfixSigns)
    if (infix.sign == sign.text)
      return apply(infix.fn, {std::move(left), std::move(right)}, sign.at);
  lexer_.fail_at(sign.at, "unknown operator " + sign.text);
}

void Parser::require_same_lanes(const std::vector<Expr>& args, Position at) const {
  int lanes = 1;
  for (const Expr& arg : args) {
    if (arg.type().lanes == 1) continue;
    if (lanes != 1 && lanes != arg.type().lanes)
      lexer_.fail_at(at, "operands of " + std::to_string(lanes) + " and of " +
                             std::to_string(arg.type().lanes) + " lanes");
    lanes = arg.type().lanes;
  }
}

Expr Parser::apply(Fn fn, std::vector<Expr> args, Position at) {
  const FnInfo& info = info_of(fn);
  if (static_cast<int>(args.size()) != info.arity)
    lexer_.fail_at(at, std::string(info.name) + " takes " + std::to_string(info.arity) +
                           " operands, found " + std::to_string(args.size()));
  require_same_lanes(args, at);
  return Expr::apply(fn, std::move(args));
}

Expr Parser::operand() {
  if (++operations_ > kMaxOperations)
    lexer_.fail_at(lexer_.at(),
                   "a statement has more than " + std::to_string(kMaxOperations) + " operands");
  if (lexer_.sees("-")) {
    const Position at = lexer_.take().at;
    if (lexer_.sees(Token::Kind::kNumber)) return number_token(true);
    const Nested nested(lexer_);
    return apply(Fn::kNeg, {operand()}, at);
  }
  if (lexer_.sees(Token::Kind::kNumber)) return number_token(false);
  if (lexer_.accept("(")) {
    Expr inner = expression();
    lexer_.expect(")");
    return inner;
  }
  if (lexer_.accept("$")) return extent();
  return named();
}

Expr Parser::number_token(bool negative) {
  const Token token = lexer_.take();
  const std::string text = (negative ? "-" : "") + token.text;
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size())
    lexer_.fail_at(token.at, text + " is not a 64-bit integer",
                   "numbers of other types have their type around them: f32(" + text + ")");
  return {value};
}

Expr Parser::extent() {
  const Position at = lexer_.at();
  const auto& names = function_.extents;
  int64_t argument = 0;
  if (lexer_.sees(Token::Kind::kNumber)) {
    argument = integer("the number of an extent");
  } else {
    const std::string wanted = name("the name of an extent").name;
    argument = std::ranges::find(names, wanted) - names.begin();
  }
  if (argument < 0 || !std::cmp_less(argument, names.size()))
    lexer_.fail_at(at, "the kernel has no such extent");
  return Expr::extent(argument);
}

Expr Parser::named() {
  if (!lexer_.sees(Token::Kind::kName)) lexer_.fail_expected("an expression");
  const bool quoted = lexer_.peek().quoted;
  if (!quoted && (lexer_.sees("true") || lexer_.sees("false"))) {
    ExprNode node{};
    node.kind = ExprNode::Kind::kInteger;
    node.type = {ElementType::kBool, 1};
    node.integer = lexer_.take().text == "true" ? 1 : 0;
    return Expr(std::make_shared<const ExprNode>(std::move(node)));
  }
  const Token token = lexer_.peek();
  Name found = name("an expression");
  if (!quoted && lexer_.sees("(")) return call(token);
  return element(found);
}

// [-]N[pE][/D][*sqrt(R)], or inf, -inf, nan
Literal Parser::literal() {
  const Position at = lexer_.at();
  const bool negative = lexer_.accept("-");
  if (lexer_.accept("inf")) return Literal::infinity(negative);
  if (lexer_.accept("nan")) return Literal::nan();
  const auto number = [&] {
    const Token token = lexer_.expect(Token::Kind::kNumber, "a number");
    try {
      return literal_of_number(token.text);
    } catch (const Failure& failure) {
      lexer_.fail_at(token.at, failure.error.reason);
    }
  };
  const auto exact = [&](const std::optional<Literal>& value) {
    if (!value) lexer_.fail_at(at, "this is not an exact number");
    return *value;
  };
  Literal value = number();
  if (lexer_.accept("/")) value = exact(divide(value, number()));
  if (lexer_.accept("*")) {
    lexer_.expect("sqrt");
    lexer_.expect("(");
    const Literal radicand = number();
    lexer_.expect(")");
    try {
      value = exact(multiply(value, Literal::square_root(radicand)));
    } catch (const Failure& failure) {
      lexer_.fail_at(at, failure.error.reason);
    }
  }
  return negative ? value.negated() : value;
}

std::vector<Expr> Parser::arguments() {
  std::vector<Expr> args;
  lexer_.expect("(");
  do args.push_back(expression());
  while (lexer_.accept(","));
  lexer_.expect(")");
  return args;
}

// f32x8(1/2), to_f32(e), wrap_f32(e), x8(e)
std::optional<Expr> Parser::typed_call(const Token& callee) {
  const std::string_view text = callee.text;
  if (const auto type = type_of_word(text)) {
    lexer_.expect("(");
    const Literal value = literal();
    lexer_.expect(")");
    return Expr::number(*type, value);
  }
  for (const auto& [prefix, fn] : {std::pair{"to_", Fn::kCast}, {"wrap_", Fn::kCastWrap}}) {
    if (!text.starts_with(prefix)) continue;
    const auto to = element_type_of(text.substr(std::string_view(prefix).size()));
    if (!to) continue;
    std::vector<Expr> args = arguments();
    if (args.size() != 1) lexer_.fail_at(callee.at, "a cast takes one operand");
    return Expr::cast(*to, std::move(args[0]), fn == Fn::kCast);
  }
  if (!text.starts_with('x') || !lanes_of_word(text.substr(1))) return std::nullopt;
  std::vector<Expr> args = arguments();
  if (args.size() != 1 || args[0].type().lanes != 1)
    lexer_.fail_at(callee.at, callee.text + " takes one scalar");
  return Expr::broadcast(std::move(args[0]), *lanes_of_word(text.substr(1)));
}

Expr Parser::shuffle(Position at) {
  lexer_.expect("(");
  std::vector<Expr> args;
  while (!lexer_.sees("[")) {
    args.push_back(expression());
    lexer_.expect(",");
  }
  std::vector<int> lanes;
  lexer_.expect("[");
  do lanes.push_back(small_integer("the number of a lane", 0));
  while (lexer_.accept(","));
  lexer_.expect("]");
  lexer_.expect(")");
  if (args.empty() || args.size() > 2) lexer_.fail_at(at, "shuffle takes one or two vectors");
  args.resize(2);
  return Expr::shuffle(std::move(args[0]), std::move(args[1]), std::move(lanes));
}

std::optional<Expr> Parser::special_call(const Token& callee) {
  if (callee.text == "shuffle") return shuffle(callee.at);
  if (callee.text == "fma") {
    std::vector<Expr> args = arguments();
    if (args.size() != 3) lexer_.fail_at(callee.at, "fma takes three operands");
    require_same_lanes(args, callee.at);
    return Expr::fma(std::move(args[0]), std::move(args[1]), std::move(args[2]));
  }
  if (callee.text == "ramp") {
    lexer_.expect("(");
    Expr base = expression();
    lexer_.expect(",");
    Expr step = expression();
    lexer_.expect(",");
    const int lanes = small_integer("the number of lanes", 1);
    lexer_.expect(")");
    return Expr::ramp(std::move(base), std::move(step), lanes);
  }
  for (const Fn fn : {Fn::kAdd, Fn::kMul, Fn::kMax, Fn::kMin, Fn::kAnd, Fn::kOr})
    if (callee.text == "fold_" + std::string(fold_word(fn))) {
      std::vector<Expr> args = arguments();
      if (args.size() != 1) lexer_.fail_at(callee.at, "a fold takes one vector");
      return Expr::fold(fn, std::move(args[0]));
    }
  return std::nullopt;
}

Expr Parser::call(const Token& callee) {
  if (auto special = special_call(callee)) return *special;
  if (auto typed = typed_call(callee)) return *typed;
  const auto fn = function_named(callee.text);
  if (!fn) lexer_.fail_at(callee.at, "unknown function " + callee.text);
  return apply(*fn, arguments(), callee.at);
}

}  // namespace hone::loop
