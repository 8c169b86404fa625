#include "expr/elaborate.h"
#include "expr/text.h"

namespace hone {
namespace {

// Runs a parser; its Failure becomes the Error of the result.
template <typename T, typename Parse>
Result<T> caught(Parse parse) {
  try {
    return parse();
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure.error));
  }
}

}  // namespace

Result<TensorExpr> parse_expr(std::string_view text) {
  return caught<TensorExpr>([&] {
    Lexer lexer(text);
    const DefinitionSyntax definition = parse_definition(lexer, false);
    lexer.expect_end();
    return elaborate(definition);
  });
}

Result<Dim> parse_dim(std::string_view text) {
  return caught<Dim>([&] {
    Lexer lexer(text);
    const SyntaxRef term = parse_term(lexer);
    lexer.expect_end();
    return elaborate_dim(*term);
  });
}

}  // namespace hone
