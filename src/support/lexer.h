// The tokens of hone's text forms: expressions, operator files, graphs and rules.
//
//   name      x, input_3; any other text in backquotes: `batch size` (also for reserved words)
//   number    3, 0.5, 1e-5, 5p-20 (5 * 2^-20); kept as written
//   string    "text" with the escapes \n \t \r \\ \" \` \xHH
//   sign      -> <= >= == != :: .. <- && || or one character of punctuation
//   # ...     a comment, to the end of the line
//
// Line breaks mean nothing. Any bytes are safe: what is no token is a Failure that names its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.h"

namespace hone {

struct Position {
  int line = 1;  // both count from 1; columns are bytes
  int column = 1;
};

struct Token {
  enum class Kind : uint8_t { kEnd, kName, kNumber, kString, kSign } kind = Kind::kEnd;
  std::string text;     // without quotes, escapes resolved
  bool quoted = false;  // a name in backquotes is never a keyword
  Position at;
  size_t begin = 0, end = 0;  // bytes of the text
};

// How deep any parser on these tokens may nest, so that hostile text cannot exhaust the stack.
inline constexpr int kMaxNesting = 200;

class Lexer {
 public:
  // `text` must outlive the lexer. `file` goes in front of every position, when given.
  explicit Lexer(std::string_view text, std::string file = {});

  [[nodiscard]] const Token& peek() const { return token_; }
  [[nodiscard]] Position at() const { return token_.at; }
  // Is the next token this sign, or this word as a plain name?
  [[nodiscard]] bool sees(std::string_view sign_or_word) const;
  [[nodiscard]] bool sees(Token::Kind kind) const { return token_.kind == kind; }
  Token take();
  bool accept(std::string_view sign_or_word);
  Token expect(std::string_view sign_or_word);
  Token expect(Token::Kind kind, std::string_view what);
  void expect_end();
  // Turns a "<-" that the parser reads as "<" and "-" into the "-".
  void split_arrow();
  // The block of whole-line comments directly above the next token, joined to one line.
  [[nodiscard]] const std::string& comment() const { return comment_; }

  // "file:line:column" or "line:column"
  [[nodiscard]] std::string where(Position position) const;
  [[noreturn]] void fail_at(Position position, std::string reason, std::string hint = {}) const;
  // "expected <what>, found <next token>"
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  friend class Nested;
  void advance();
  void skip_blanks();
  void read_name();
  void read_number();
  void read_quoted(Token::Kind kind);
  char read_escape();
  void read_sign();
  [[nodiscard]] char look(size_t ahead = 0) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }
  char step();  // consumes one byte and keeps the position

  std::string_view text_;
  std::string file_;
  size_t offset_ = 0;
  Position position_;
  Token token_;
  std::string comment_;
  int depth_ = 0;
};

// One level of a recursive parser, for as long as it lives.
class Nested {
 public:
  explicit Nested(Lexer& lexer);
  ~Nested() { --lexer_.depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  Lexer& lexer_;
};

[[nodiscard]] std::string to_string(Position position);  // "line:column"
// A name as the lexer reads it back: plain, or in backquotes where it must be.
[[nodiscard]] std::string name_text(std::string_view name);
// "..." with escapes.
[[nodiscard]] std::string string_text(std::string_view text);
// Words that mean something at the start of a statement or inside an expression.
[[nodiscard]] bool is_reserved(std::string_view word);

}  // namespace hone
