// Reading the text form: the parser of statements and expressions (grammar: text.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loop/ir.h"
#include "support/lexer.h"

namespace hone::loop {

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}
  // A Failure on anything that is no function.
  Function function();

 private:
  // A name, with its number where the text gives one: "i", "i@7".
  struct Name {
    Position at;
    std::string name, key;
  };
  template <typename Id>
  using Names = std::vector<std::pair<std::string, Id>>;
  struct Access {
    Expr index;
    std::optional<int> lanes;
    int64_t stride = 1;
    Expr mask;
  };

  // text_parse.cpp
  void signature();
  Block block(int left_of);
  Block block_at(int column);
  Stmt statement(int column);
  Stmt loop(LoopKind kind);
  Stmt let();
  Stmt store();
  Stmt alloc(int column);
  BufferDecl declaration(const Name& name);
  VarId define_var(const Name& name, Type implied);
  Name name(std::string_view what);
  int64_t integer(std::string_view what);
  int small_integer(std::string_view what, int least);
  Type type();
  Access access();
  template <typename Id>
  const Id& find(const Names<Id>& scope, const Name& name, std::string_view what) const;

  // text_parse_expr.cpp
  Expr expression();
  Expr infix(int least);
  Expr combine(const Token& sign, Expr left, Expr right, bool bracketed);
  Expr operand();
  Expr number_token(bool negative);
  Expr extent();
  Expr named();
  Expr call(const Token& callee);
  std::optional<Expr> typed_call(const Token& callee);
  std::optional<Expr> special_call(const Token& callee);
  Expr shuffle(Position at);
  Literal literal();
  std::vector<Expr> arguments();
  Expr apply(Fn fn, std::vector<Expr> args, Position at);
  void require_same_lanes(const std::vector<Expr>& args, Position at) const;
  Expr element(const Name& name);

  Lexer lexer_;
  Function function_;
  Names<VarId> vars_;
  Names<BufferId> buffers_;
  int operations_ = 0;  // of the current statement
};

// "f32" or "f32x8"
[[nodiscard]] std::optional<Type> type_of_word(std::string_view word);

}  // namespace hone::loop
