// The grammar of tensor expressions as text: what the parser reads before names have a meaning.
// A concrete expression (text.h) and an operator template (ops/user_ops.h) share it; a template
// may also have type variables, attributes and `name..` for any number of axes.
//
//   definition  = "(" operands ")" "->" "(" names ")" ["where" equalities] "{" statement* "}"
//   operand     = name ":" type "[" (term | name "..")* "]"
//   equality    = term "==" term [string]
//   statement   = "attr" name ":" kind ["=" value]
//               | "table" name "=" "[" terms "]" | "itable" name "=" "[" terms "]"
//               | name ":" type "[" axes "]" "=" [combiner "[" axes "]"] term [scatter]
//               | "scan" axis "{" statement* "}"
//               | "carry" name ":" type "[" terms "]" "=" name        (inside a scan, like the
//               next) | "next" name "=" name | "final" name "=" name | "collect" name "=" name
//   scatter     = "scatter" combiner "[" axes "]" "[" terms "]" "<-" term
//   axis        = name "<" term | name ".." ["<" name ".."] | name   (extent: the same name's)
//   term        = infix of  or, and, == != < <= > >=, + -, * / %;  prefix - and not;
//                 number, string, name, name "..", "$" name ":" type, "(" term ")",
//                 name "(" terms ")", name "[" terms ["|" term] "]"
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/lexer.h"

namespace hone {

struct Syntax;
using SyntaxRef = std::shared_ptr<const Syntax>;

// A dimension, an index or a scalar: which one, its place decides.
struct Syntax {
  enum class Kind : uint8_t {
    kNumber,
    kString,
    kName,
    kSpread,     // name..
    kParameter,  // $text:type
    kCall,       // text(args)
    kSubscript,  // text[args | outside]
    kPrefix,     // "-" or "not"
    kInfix,      // sign in text
  } kind;
  Position at = {};
  std::string text = {};
  bool quoted = false;  // a name in backquotes: never inf, nan, true or false
  std::string type = {};
  std::vector<SyntaxRef> args = {};
  SyntaxRef outside = {};
  int depth = 1;
};

struct NameSyntax {
  Position at;
  std::string name;
};

struct AxisSyntax {
  Position at;
  std::string name;
  bool pack = false;  // name..
  SyntaxRef extent;   // null: the dimension of the same name
};

struct OperandSyntax {
  Position at;
  std::string name;
  std::string type;
  std::vector<SyntaxRef> shape;
};

struct StatementSyntax {
  enum class Kind : uint8_t {
    kIndexTable,
    kLiteralTable,
    kStage,
    kScan,
    kCarry,
    kNext,
    kFinal,
    kCollect
  } kind = Kind::kStage;
  Position at;
  std::string name;              // what it defines; kNext: the state
  std::string type;              // kStage, kCarry
  std::vector<AxisSyntax> axes;  // kStage; kScan: the step
  std::vector<SyntaxRef> terms;  // kCarry: shape; tables: entries
  NameSyntax source;             // kCarry, kNext, kFinal, kCollect: the tensor on the right

  std::string combiner;  // empty: none
  std::vector<AxisSyntax> over;
  SyntaxRef body;
  SyntaxRef update;  // a scatter has one
  std::vector<SyntaxRef> target;

  std::vector<StatementSyntax> inner;  // kScan
};

struct EqualitySyntax {
  SyntaxRef left, right;
  std::string what;
};

struct AttributeSyntax {
  Position at;
  std::string name;
  std::string kind;              // int, float, string, ints, floats
  bool required = true;          // no default
  std::vector<SyntaxRef> value;  // the default; one term unless the kind is a list
};

struct DefinitionSyntax {
  std::string file;  // for messages; may be empty
  std::vector<OperandSyntax> operands;
  std::vector<NameSyntax> outputs;
  std::vector<EqualitySyntax> equalities;
  std::vector<AttributeSyntax> attributes;
  std::vector<StatementSyntax> statements;
};

// How many terms may hang below one another, so that no later walk over them exhausts the stack.
inline constexpr int kMaxTermDepth = 1000;

// These throw a Failure at the first wrong token.
[[nodiscard]] SyntaxRef parse_term(Lexer& lexer);
[[nodiscard]] std::vector<SyntaxRef> parse_term_list(Lexer& lexer, const char* open,
                                                     const char* close);
// From the "(" of the operands to the "}". Attributes only where `is_template`.
[[nodiscard]] DefinitionSyntax parse_definition(Lexer& lexer, bool is_template);

}  // namespace hone
