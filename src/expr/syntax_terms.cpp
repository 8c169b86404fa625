// Terms by precedence climbing, with a bound on nesting and on the length of chains.
#include <algorithm>
#include <array>
#include <utility>

#include "expr/syntax.h"

namespace hone {
namespace {

struct InfixSign {
  std::string_view sign;
  int strength;
};
constexpr std::array<InfixSign, 15> kInfixSigns = {{{"or", 1},
                                                    {"||", 1},
                                                    {"and", 2},
                                                    {"&&", 2},
                                                    {"==", 3},
                                                    {"!=", 3},
                                                    {"<", 3},
                                                    {"<=", 3},
                                                    {">", 3},
                                                    {">=", 3},
                                                    {"+", 4},
                                                    {"-", 4},
                                                    {"*", 5},
                                                    {"/", 5},
                                                    {"%", 5}}};
constexpr int kComparison = 3;

SyntaxRef make(const Lexer& lexer, Syntax syntax) {
  for (const SyntaxRef& arg : syntax.args) syntax.depth = std::max(syntax.depth, arg->depth + 1);
  if (syntax.outside) syntax.depth = std::max(syntax.depth, syntax.outside->depth + 1);
  if (syntax.depth > kMaxTermDepth)
    lexer.fail_at(syntax.at, "the expression is more than " + std::to_string(kMaxTermDepth) +
                                 " operations deep");
  return std::make_shared<const Syntax>(std::move(syntax));
}

SyntaxRef parse_infix(Lexer& lexer, int least);

const InfixSign* infix_at(const Lexer& lexer) {
  if (lexer.sees("<-")) return &kInfixSigns[6];
  for (const InfixSign& infix : kInfixSigns)
    if (lexer.sees(infix.sign)) return &infix;
  return nullptr;
}

SyntaxRef parse_parameter(Lexer& lexer) {
  const Position at = lexer.expect("$").at;
  Syntax syntax{.kind = Syntax::Kind::kParameter, .at = at};
  syntax.text = lexer.expect(Token::Kind::kName, "the name of a parameter").text;
  lexer.expect(":");
  syntax.type = lexer.expect(Token::Kind::kName, "the type of the parameter").text;
  return make(lexer, std::move(syntax));
}

SyntaxRef parse_subscript(Lexer& lexer, Token name) {
  Syntax syntax{.kind = Syntax::Kind::kSubscript, .at = name.at, .text = std::move(name.text)};
  lexer.expect("[");
  while (!lexer.sees("]") && !lexer.sees("|")) {
    syntax.args.push_back(parse_term(lexer));
    if (!lexer.accept(",") && !lexer.sees("|")) break;
  }
  if (lexer.accept("|")) syntax.outside = parse_term(lexer);
  lexer.expect("]");
  return make(lexer, std::move(syntax));
}

bool is_constant(std::string_view word) {
  return word == "inf" || word == "nan" || word == "true" || word == "false";
}

SyntaxRef parse_named(Lexer& lexer) {
  Token name = lexer.take();
  if (!name.quoted && is_reserved(name.text) && !is_constant(name.text) && !lexer.sees("("))
    lexer.fail_at(name.at, "expected an expression, found the word '" + name.text + "'",
                  "as a name write it in backquotes");
  if (lexer.sees("(") && !name.quoted) {
    Syntax syntax{.kind = Syntax::Kind::kCall, .at = name.at, .text = std::move(name.text)};
    syntax.args = parse_term_list(lexer, "(", ")");
    return make(lexer, std::move(syntax));
  }
  if (lexer.sees("[")) return parse_subscript(lexer, std::move(name));
  const bool spread = lexer.accept("..");
  Syntax syntax{.kind = spread ? Syntax::Kind::kSpread : Syntax::Kind::kName,
                .at = name.at,
                .text = std::move(name.text),
                .quoted = name.quoted};
  return make(lexer, std::move(syntax));
}

SyntaxRef parse_primary(Lexer& lexer) {
  const Token& token = lexer.peek();
  if (token.kind == Token::Kind::kName) return parse_named(lexer);
  if (token.kind == Token::Kind::kNumber || token.kind == Token::Kind::kString) {
    const bool number = token.kind == Token::Kind::kNumber;
    Token taken = lexer.take();
    return make(lexer, {.kind = number ? Syntax::Kind::kNumber : Syntax::Kind::kString,
                        .at = taken.at,
                        .text = std::move(taken.text)});
  }
  if (lexer.sees("$")) return parse_parameter(lexer);
  if (lexer.accept("(")) {
    SyntaxRef inside = parse_term(lexer);
    lexer.expect(")");
    return inside;
  }
  lexer.fail_expected("a number, a name or '('");
}

SyntaxRef parse_prefix(Lexer& lexer) {
  if (!lexer.sees("-") && !lexer.sees("not")) return parse_primary(lexer);
  const Nested nested(lexer);
  Token sign = lexer.take();
  Syntax syntax{.kind = Syntax::Kind::kPrefix, .at = sign.at, .text = std::move(sign.text)};
  syntax.args.push_back(parse_prefix(lexer));
  return make(lexer, std::move(syntax));
}

SyntaxRef parse_infix(Lexer& lexer, int least) {
  SyntaxRef left = parse_prefix(lexer);
  while (const InfixSign* infix = infix_at(lexer)) {
    if (infix->strength < least) break;
    Syntax syntax{.kind = Syntax::Kind::kInfix, .at = lexer.at(), .text = std::string(infix->sign)};
    if (lexer.sees("<-")) {
      lexer.split_arrow();
    } else {
      lexer.take();
    }
    syntax.args = {left, parse_infix(lexer, infix->strength + 1)};
    left = make(lexer, std::move(syntax));
    const InfixSign* next = infix->strength == kComparison ? infix_at(lexer) : nullptr;
    if (next != nullptr && next->strength == kComparison)
      lexer.fail_at(lexer.at(), "comparisons do not chain", "write a < b and b < c");
  }
  return left;
}

}  // namespace

SyntaxRef parse_term(Lexer& lexer) {
  const Nested nested(lexer);
  return parse_infix(lexer, 0);
}

std::vector<SyntaxRef> parse_term_list(Lexer& lexer, const char* open, const char* close) {
  std::vector<SyntaxRef> terms;
  lexer.expect(open);
  while (!lexer.sees(close)) {
    terms.push_back(parse_term(lexer));
    if (!lexer.accept(",")) break;
  }
  lexer.expect(close);
  return terms;
}

}  // namespace hone
