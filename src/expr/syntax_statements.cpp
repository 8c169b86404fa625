// Statements and the frame around them.
#include <algorithm>
#include <array>
#include <utility>

#include "expr/syntax.h"

namespace hone {
namespace {

constexpr std::array<std::string_view, 10> kCombiners = {
    "sum", "product", "max", "min", "and", "or", "argmax", "argmax_last", "argmin", "argmin_last"};

bool sees_combiner(const Lexer& lexer) {
  if (std::ranges::none_of(kCombiners, [&](std::string_view name) { return lexer.sees(name); }))
    return false;
  Lexer ahead = lexer;
  ahead.take();
  return ahead.sees("[");
}

NameSyntax parse_name(Lexer& lexer, std::string_view what) {
  const Token& token = lexer.peek();
  if (token.kind == Token::Kind::kName && !token.quoted && is_reserved(token.text))
    lexer.fail_at(token.at, "'" + token.text + "' is a reserved word",
                  "as a name write it in backquotes");
  Token name = lexer.expect(Token::Kind::kName, what);
  return {name.at, std::move(name.text)};
}

AxisSyntax parse_axis(Lexer& lexer) {
  NameSyntax name = parse_name(lexer, "the name of an axis");
  AxisSyntax axis{name.at, std::move(name.name), lexer.accept(".."), nullptr};
  if (lexer.accept("<")) axis.extent = parse_term(lexer);
  return axis;
}

std::vector<AxisSyntax> parse_axes(Lexer& lexer) {
  std::vector<AxisSyntax> axes;
  lexer.expect("[");
  while (!lexer.sees("]")) {
    axes.push_back(parse_axis(lexer));
    if (!lexer.accept(",")) break;
  }
  lexer.expect("]");
  return axes;
}

void parse_scatter(Lexer& lexer, StatementSyntax& stage) {
  stage.combiner = lexer.expect(Token::Kind::kName, "how updates combine: set, add, mul, ...").text;
  stage.over = parse_axes(lexer);
  stage.target = parse_term_list(lexer, "[", "]");
  lexer.expect("<-");
  stage.update = parse_term(lexer);
}

StatementSyntax parse_stage(Lexer& lexer) {
  StatementSyntax stage;
  stage.at = lexer.at();
  stage.name = parse_name(lexer, "a statement").name;
  lexer.expect(":");
  stage.type = lexer.expect(Token::Kind::kName, "an element type").text;
  stage.axes = parse_axes(lexer);
  lexer.expect("=");
  if (sees_combiner(lexer)) {
    stage.combiner = lexer.take().text;
    stage.over = parse_axes(lexer);
  }
  stage.body = parse_term(lexer);
  if (lexer.sees("scatter")) {
    if (!stage.combiner.empty()) lexer.fail_at(lexer.at(), "a reduction cannot scatter");
    lexer.take();
    parse_scatter(lexer, stage);
  }
  return stage;
}

StatementSyntax parse_table(Lexer& lexer, StatementSyntax::Kind kind) {
  StatementSyntax table;
  table.kind = kind;
  table.at = lexer.take().at;
  table.name = parse_name(lexer, "the name of the table").name;
  lexer.expect("=");
  table.terms = parse_term_list(lexer, "[", "]");
  return table;
}

// next, final, collect: keyword name = name
StatementSyntax parse_link(Lexer& lexer, StatementSyntax::Kind kind) {
  StatementSyntax link;
  link.kind = kind;
  link.at = lexer.take().at;
  link.name = parse_name(lexer, "a tensor").name;
  if (kind == StatementSyntax::Kind::kCarry) {
    lexer.expect(":");
    link.type = lexer.expect(Token::Kind::kName, "an element type").text;
    link.terms = parse_term_list(lexer, "[", "]");
  }
  lexer.expect("=");
  link.source = parse_name(lexer, "a tensor");
  return link;
}

std::vector<StatementSyntax> parse_statements(Lexer& lexer, bool in_scan,
                                              std::vector<AttributeSyntax>* attributes);

StatementSyntax parse_scan(Lexer& lexer) {
  const Nested nested(lexer);
  StatementSyntax scan;
  scan.kind = StatementSyntax::Kind::kScan;
  scan.at = lexer.take().at;
  scan.axes.push_back(parse_axis(lexer));
  if (scan.axes[0].pack) lexer.fail_at(scan.at, "a scan has one step axis");
  scan.inner = parse_statements(lexer, true, nullptr);
  return scan;
}

AttributeSyntax parse_attribute(Lexer& lexer) {
  AttributeSyntax attribute;
  lexer.take();
  NameSyntax name = parse_name(lexer, "the name of the attribute");
  attribute.at = name.at;
  attribute.name = std::move(name.name);
  lexer.expect(":");
  attribute.kind = lexer.expect(Token::Kind::kName, "int, float, string, ints or floats").text;
  if (!lexer.accept("=")) return attribute;
  attribute.required = false;
  if (lexer.sees("[")) {
    attribute.value = parse_term_list(lexer, "[", "]");
  } else {
    attribute.value.push_back(parse_term(lexer));
  }
  return attribute;
}

StatementSyntax parse_statement(Lexer& lexer, bool in_scan) {
  using Kind = StatementSyntax::Kind;
  if (lexer.sees("scan")) return parse_scan(lexer);
  if (in_scan) {
    if (lexer.sees("carry")) return parse_link(lexer, Kind::kCarry);
    if (lexer.sees("next")) return parse_link(lexer, Kind::kNext);
    if (lexer.sees("final")) return parse_link(lexer, Kind::kFinal);
    if (lexer.sees("collect")) return parse_link(lexer, Kind::kCollect);
  } else {
    if (lexer.sees("table")) return parse_table(lexer, Kind::kLiteralTable);
    if (lexer.sees("itable")) return parse_table(lexer, Kind::kIndexTable);
  }
  return parse_stage(lexer);
}

std::vector<StatementSyntax> parse_statements(Lexer& lexer, bool in_scan,
                                              std::vector<AttributeSyntax>* attributes) {
  std::vector<StatementSyntax> statements;
  lexer.expect("{");
  while (!lexer.accept("}")) {
    if (lexer.accept(";")) continue;
    if (attributes != nullptr && lexer.sees("attr")) {
      attributes->push_back(parse_attribute(lexer));
    } else {
      statements.push_back(parse_statement(lexer, in_scan));
    }
  }
  return statements;
}

OperandSyntax parse_operand(Lexer& lexer) {
  NameSyntax name = parse_name(lexer, "the name of an operand");
  OperandSyntax operand{name.at, std::move(name.name), {}, {}};
  lexer.expect(":");
  operand.type = lexer.expect(Token::Kind::kName, "an element type").text;
  operand.shape = parse_term_list(lexer, "[", "]");
  return operand;
}

// The left side may not swallow the "==".
EqualitySyntax parse_equality(Lexer& lexer) {
  const Position at = lexer.at();
  const SyntaxRef both = parse_term(lexer);
  if (both->kind != Syntax::Kind::kInfix || both->text != "==")
    lexer.fail_at(at, "expected an equality of two dimensions, such as K == L");
  EqualitySyntax equality{both->args[0], both->args[1], {}};
  if (lexer.sees(Token::Kind::kString)) equality.what = lexer.take().text;
  return equality;
}

}  // namespace

DefinitionSyntax parse_definition(Lexer& lexer, bool is_template) {
  DefinitionSyntax definition;
  lexer.expect("(");
  while (!lexer.sees(")")) {
    definition.operands.push_back(parse_operand(lexer));
    if (!lexer.accept(",")) break;
  }
  lexer.expect(")");
  lexer.expect("->");
  lexer.expect("(");
  while (!lexer.sees(")")) {
    definition.outputs.push_back(parse_name(lexer, "the name of an output"));
    if (!lexer.accept(",")) break;
  }
  lexer.expect(")");
  if (lexer.accept("where")) {
    do {
      definition.equalities.push_back(parse_equality(lexer));
    } while (lexer.accept(","));
  }
  definition.statements =
      parse_statements(lexer, false, is_template ? &definition.attributes : nullptr);
  return definition;
}

}  // namespace hone
