#include "support/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hone {
namespace {

constexpr std::array<std::string_view, 10> kLongSigns = {
    "->", "<=", ">=", "==", "!=", "::", "..", "<-", "&&", "||"};
constexpr std::string_view kShortSigns = "()[]{}<>=+-*/%,:;|.!&$?@^~";

// The words of the expression grammar; sorted.
constexpr std::array<std::string_view, 27> kReserved = {
    "and",     "argmax",  "argmax_last", "argmin", "argmin_last", "attr",   "carry",
    "collect", "example", "false",       "final",  "inf",         "itable", "max",
    "min",     "nan",     "next",        "not",    "op",          "or",     "product",
    "scan",    "scatter", "sum",         "table",  "true",        "where"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    size_t more = 0;
    if (lead >= 0xc2 && lead < 0xf5)
      more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    else if (lead >= 0x80)
      return false;
    for (; more > 0; --more, ++i)
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
  }
  return true;
}

// `readable`: bytes beyond ASCII are letters of some language, and stay.
void append_escaped(std::string& out, char c, char quote, bool readable) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\\' || c == quote) {
    out += {'\\', c};
  } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) {
    out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  } else {
    out += c;
  }
}

std::string in_quotes(std::string_view text, char quote) {
  std::string out(1, quote);
  const bool readable = is_utf8(text);
  for (const char c : text) append_escaped(out, c, quote, readable);
  return out + quote;
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "the end of the text";
    case Token::Kind::kString:
      return "the string " + string_text(token.text.substr(0, 40));
    case Token::Kind::kName:
      return name_text(token.text.substr(0, 60));
    default:
      return "'" + token.text.substr(0, 60) + "'";
  }
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '#'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string to_string(Position position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

bool is_reserved(std::string_view word) {
  return std::binary_search(kReserved.begin(), kReserved.end(), word);
}

std::string name_text(std::string_view name) {
  const bool plain = !name.empty() && is_name_start(name[0]) &&
                     std::all_of(name.begin(), name.end(), is_name_part) && !is_reserved(name);
  return plain ? std::string(name) : in_quotes(name, '`');
}

std::string string_text(std::string_view text) { return in_quotes(text, '"'); }

Lexer::Lexer(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
  advance();
}

bool Lexer::sees(std::string_view sign_or_word) const {
  const bool comparable =
      token_.kind == Token::Kind::kSign || (token_.kind == Token::Kind::kName && !token_.quoted);
  return comparable && token_.text == sign_or_word;
}

Token Lexer::take() {
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Lexer::accept(std::string_view sign_or_word) {
  if (!sees(sign_or_word)) return false;
  advance();
  return true;
}

Token Lexer::expect(std::string_view sign_or_word) {
  if (!sees(sign_or_word)) fail_expected("'" + std::string(sign_or_word) + "'");
  return take();
}

Token Lexer::expect(Token::Kind kind, std::string_view what) {
  if (!sees(kind)) fail_expected(what);
  return take();
}

void Lexer::expect_end() {
  if (!sees(Token::Kind::kEnd)) fail_expected("the end of the text");
}

void Lexer::split_arrow() {
  token_.text = "-";
  ++token_.at.column;
}

std::string Lexer::where(Position position) const {
  return file_.empty() ? to_string(position) : file_ + ":" + to_string(position);
}

void Lexer::fail_at(Position position, std::string reason, std::string hint) const {
  throw Failure{{ErrorKind::kInvalid, where(position), std::move(reason), std::move(hint)}};
}

void Lexer::fail_expected(std::string_view what) const {
  fail_at(token_.at, "expected " + std::string(what) + ", found " + describe(token_));
}

char Lexer::step() {
  const char c = text_[offset_++];
  if (c == '\n') {
    ++position_.line;
    position_.column = 1;
  } else {
    ++position_.column;
  }
  return c;
}

void Lexer::skip_blanks() {
  comment_.clear();
  int comment_line = -1;
  int blank_line = position_.column == 1 ? position_.line : -1;  // a line without tokens so far
  while (offset_ < text_.size()) {
    const char c = look();
    if (c == '\n') {
      step();
      blank_line = position_.line;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      step();
    } else if (c == '#') {
      const int line = position_.line;
      const size_t begin = offset_;
      while (offset_ < text_.size() && look() != '\n') step();
      if (line != blank_line) continue;
      if (comment_line != line - 1) comment_.clear();
      const std::string_view words = trimmed(text_.substr(begin, offset_ - begin));
      if (!comment_.empty() && !words.empty()) comment_ += ' ';
      comment_ += words;
      comment_line = line;
    } else {
      break;
    }
  }
  if (comment_line != position_.line - 1) comment_.clear();
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.at = position_;
  token_.begin = token_.end = offset_;
  if (offset_ >= text_.size()) return;
  const char c = look();
  if (is_name_start(c)) {
    read_name();
  } else if (is_digit(c)) {
    read_number();
  } else if (c == '"') {
    read_quoted(Token::Kind::kString);
  } else if (c == '`') {
    read_quoted(Token::Kind::kName);
  } else {
    read_sign();
  }
  token_.end = offset_;
}

void Lexer::read_name() {
  token_.kind = Token::Kind::kName;
  while (is_name_part(look())) token_.text += step();
}

void Lexer::read_number() {
  token_.kind = Token::Kind::kNumber;
  while (is_digit(look())) token_.text += step();
  if (look() == '.' && is_digit(look(1))) {
    token_.text += step();
    while (is_digit(look())) token_.text += step();
  }
  const char mark = look();
  if (mark != 'e' && mark != 'E' && mark != 'p') return;
  const bool sign = look(1) == '-' || look(1) == '+';
  if (!is_digit(look(sign ? 2 : 1))) return;
  token_.text += step();
  if (sign) token_.text += step();
  while (is_digit(look())) token_.text += step();
}

void Lexer::read_quoted(Token::Kind kind) {
  token_.kind = kind;
  token_.quoted = true;
  const char quote = step();
  while (true) {
    if (offset_ >= text_.size() || look() == '\n')
      fail_at(token_.at, kind == Token::Kind::kString
                             ? "the string has no end on its line"
                             : "the name in backquotes has no end on its line");
    const char c = step();
    if (c == quote) return;
    token_.text += c == '\\' ? read_escape() : c;
  }
}

char Lexer::read_escape() {
  const Position at = position_;
  const char c = offset_ < text_.size() ? step() : '\0';
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '\\':
    case '"':
    case '`':
      return c;
    case 'x': {
      const int high = hex_value(look());
      const int low = high < 0 ? -1 : hex_value(look(1));
      if (low < 0) fail_at(at, "expected two hexadecimal digits after \\x");
      step();
      step();
      return static_cast<char>(high * 16 + low);
    }
    default:
      fail_at(at, "unknown escape", "use \\n \\t \\r \\\\ \\\" \\` or \\xHH");
  }
}

void Lexer::read_sign() {
  token_.kind = Token::Kind::kSign;
  const std::string_view rest = text_.substr(offset_, 2);
  const bool is_long = std::ranges::find(kLongSigns, rest) != kLongSigns.end();
  const char first = look();
  if (!is_long && kShortSigns.find(first) == std::string_view::npos) {
    std::string shown;
    append_escaped(shown, first, '\'', false);
    if (static_cast<unsigned char>(first) >= 0x80) shown = "a byte that is not ASCII";
    fail_at(token_.at, "unexpected character: " + shown,
            "names with other characters go in backquotes");
  }
  token_.text += step();
  if (is_long) token_.text += step();
}

Nested::Nested(Lexer& lexer) : lexer_(lexer) {
  // The destructor does not run when this throws, so the level is counted only after the check.
  if (lexer_.depth_ >= kMaxNesting)
    lexer_.fail_at(lexer_.at(), "nested more than " + std::to_string(kMaxNesting) + " levels deep");
  ++lexer_.depth_;
}

}  // namespace hone
