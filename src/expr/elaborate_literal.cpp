// Numbers: exact arithmetic on what is written with digits alone.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "expr/elaborator.h"

namespace hone {
namespace {

// Exponents beyond this are refused, so that none overflows.
constexpr int kMaxExponent = 100000;

bool in_bounds(const Literal& literal) { return std::abs(literal.exponent()) <= kMaxExponent; }

// value * 10^exponent, when it is exact.
std::optional<Literal> times_ten_to(Literal value, int64_t exponent) {
  for (int64_t i = 0; i < std::abs(exponent); ++i) {
    const auto next = exponent > 0 ? multiply(value, Literal(10)) : divide(value, Literal(10));
    if (!next) return std::nullopt;
    value = *next;
  }
  return value;
}

// value * 2^exponent, in steps that a double can hold.
std::optional<Literal> times_two_to(std::optional<Literal> value, int64_t exponent) {
  while (value && exponent != 0) {
    const auto step = static_cast<int>(std::clamp<int64_t>(exponent, -1000, 1000));
    value = multiply(*value, Literal::of_double(std::ldexp(1.0, step)));
    exponent -= step;
  }
  return value;
}

struct NumberParts {
  uint64_t digits = 0;
  int64_t scale = 0;  // power of ten from the decimal point
  bool exact = true;  // the digits fit
  char mark = '\0';   // 'e' or 'p' before the exponent
  int64_t exponent = 0;
};

NumberParts split_number(const std::string& text) {
  NumberParts parts;
  bool fraction = false;
  size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (__builtin_mul_overflow(parts.digits, 10U, &parts.digits) ||
        __builtin_add_overflow(parts.digits, digit, &parts.digits))
      parts.exact = false;
    if (fraction) --parts.scale;
  }
  if (i == text.size()) return parts;
  parts.mark = text[i] == 'p' ? 'p' : 'e';
  ++i;
  if (text[i] == '+') ++i;
  const auto read = std::from_chars(text.data() + i, text.data() + text.size(), parts.exponent);
  if (read.ec != std::errc()) throw_invalid("the exponent of " + text + " is too large");
  return parts;
}

}  // namespace

Literal literal_of_number(const std::string& text) {
  const NumberParts parts = split_number(text);
  const bool binary = parts.mark == 'p';
  if (parts.exponent > kMaxExponent || parts.exponent < -kMaxExponent)
    throw_invalid("the exponent of " + text + " is too large");
  const int64_t tens = parts.scale + (binary ? 0 : parts.exponent);
  if (parts.exact && std::abs(tens) <= 400) {
    auto value = times_ten_to(Literal::of_unsigned(parts.digits), tens);
    if (binary) value = times_two_to(value, parts.exponent);
    if (value) return *value;
  }
  double nearest = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), nearest);
  const bool whole = !binary && read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(nearest)) throw_invalid("the number " + text + " is out of range");
  return Literal::of_double(nearest);
}

Literal Elaborator::fold(char sign, const Literal& a, const Literal& b, Position at) const {
  std::optional<Literal> result;
  switch (sign) {
    case '+':
      result = add(a, b);
      break;
    case '-':
      result = add(a, b.negated());
      break;
    case '*':
      result = multiply(a, b);
      break;
    default:
      result = divide(a, b);
  }
  if (!result || !in_bounds(*result))
    fail(at, "this is not an exact number",
         "give the operands types, as in f32(1), to compute it in that type");
  return *result;
}

Literal Elaborator::literal_of(const Syntax& term) {
  const Value value = value_of(term, std::nullopt);
  if (const auto* literal = std::get_if<Literal>(&value)) return *literal;
  fail(term.at, "expected a number");
}

// name == "text" with a string attribute: decided when the template is used.
std::optional<bool> Elaborator::compare_strings(const Syntax& term) {
  if (term.text != "==" && term.text != "!=") return std::nullopt;
  const bool strings =
      term.args[0]->kind == Syntax::Kind::kString || term.args[1]->kind == Syntax::Kind::kString;
  if (!strings) return std::nullopt;
  std::vector<std::string> sides;
  for (const SyntaxRef& side : term.args) {
    if (side->kind == Syntax::Kind::kString) {
      sides.push_back(side->text);
      continue;
    }
    const auto found = names_.strings.find(side->text);
    if (side->kind != Syntax::Kind::kName || found == names_.strings.end())
      fail(side->at, "a string is compared with a string attribute only");
    sides.push_back(found->second);
  }
  return (sides[0] == sides[1]) == (term.text == "==");
}

}  // namespace hone
