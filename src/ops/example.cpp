#include "ops/example.h"

#include <algorithm>
#include <map>
#include <utility>

#include "expr/elaborate.h"
#include "ops/kernels.h"
#include "support/lexer.h"

namespace hone {
namespace {

// A value as written: a number, a text, or a list of values.
struct Written {
  Position at;
  std::vector<std::string> leaves;  // in row-major order
  bool list = false;
  bool text = false;      // leaves are strings
  bool fraction = false;  // some number has a point, an exponent, or is inf or nan
};

double number_of(const std::string& text) {
  const bool negative = text.starts_with('-');
  const std::string digits = negative ? text.substr(1) : text;
  if (digits == "true" || digits == "false") return digits == "true" ? 1 : 0;
  const Literal literal = digits == "inf"   ? Literal::infinity()
                          : digits == "nan" ? Literal::nan()
                                            : literal_of_number(digits);
  return negative ? -literal.to_double() : literal.to_double();
}

class ExampleParser {
 public:
  explicit ExampleParser(const OperatorDef& def)
      : def_(def), lexer_(def.example), kinds_(attribute_kinds(def.attributes)) {}

  Example parse() {
    read_operator();
    Example example;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      example.operands.push_back(read_operand());
      if (!lexer_.sees(")")) lexer_.expect(",");
    }
    if (lexer_.accept("{")) {
      while (!lexer_.accept("}")) {
        const std::string name = lexer_.expect(Token::Kind::kName, "an attribute").text;
        lexer_.expect("=");
        example.attributes[name] = attribute(name, read_value());
        if (!lexer_.sees("}")) lexer_.expect(",");
      }
    }
    example.output_count = lexer_.accept("->") ? read_outputs() : required_outputs();
    lexer_.expect_end();
    return example;
  }

 private:
  // "axis: int = -1, mode: string" as {axis: int, mode: string}
  static std::map<std::string, std::string> attribute_kinds(const std::string& declared) {
    std::map<std::string, std::string> kinds;
    Lexer lexer(declared);
    while (!lexer.sees(Token::Kind::kEnd)) {
      const Token name = lexer.take();
      if (name.kind == Token::Kind::kName && lexer.accept(":"))
        kinds[name.text] = lexer.take().text;
    }
    return kinds;
  }

  void read_operator() {  // Name, or domain.of.it::Name
    std::string name;
    while (lexer_.sees(Token::Kind::kName) || lexer_.sees(".") || lexer_.sees("::"))
      name += lexer_.take().text;
    if (name != def_.name && name != def_.full_name())
      lexer_.fail_at(lexer_.at(), "the example shows " + name + " instead of " + def_.full_name());
  }

  OperandInfo read_operand() {
    lexer_.expect(Token::Kind::kName, "an operand");
    OperandInfo info;
    if (!lexer_.accept(":")) return info;
    info.present = true;
    const Token type = lexer_.expect(Token::Kind::kName, "an element type");
    const auto element = element_type_of(type.text);
    if (!element) lexer_.fail_at(type.at, type.text + " is no element type");
    info.type = {*element, read_shape()};
    if (lexer_.accept("=")) info.known.constant = constant(info.type, read_value());
    return info;
  }

  Shape read_shape() {
    Shape shape;
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      const Token extent = lexer_.take();
      if (extent.kind == Token::Kind::kName)
        shape.push_back(Dim::symbol(extent.text));
      else if (extent.kind == Token::Kind::kNumber)
        shape.push_back(whole(extent.text, extent.at));
      else
        lexer_.fail_at(extent.at, "expected an extent");
      if (!lexer_.sees("]")) lexer_.expect(",");
    }
    return shape;
  }

  Written read_value() {
    Written value;
    value.at = lexer_.at();
    read_into(value);
    return value;
  }

  void read_into(Written& value) {
    const Nested level(lexer_);
    if (lexer_.accept("[")) {
      value.list = true;
      while (!lexer_.accept("]")) {
        read_into(value);
        if (!lexer_.sees("]")) lexer_.expect(",");
      }
      return;
    }
    std::string sign = lexer_.accept("-") ? "-" : "";
    const Token token = lexer_.take();
    if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kSign)
      lexer_.fail_at(token.at, "expected a value");
    value.text = value.text || token.kind == Token::Kind::kString;
    const bool word = token.kind == Token::Kind::kName;
    if (word && token.text != "inf" && token.text != "nan" && token.text != "true" &&
        token.text != "false")
      lexer_.fail_at(token.at, "expected a number, a string or a list");
    value.fraction = value.fraction || token.text == "inf" || token.text == "nan" ||
                     (token.kind == Token::Kind::kNumber &&
                      token.text.find_first_of(".ep") != std::string::npos);
    value.leaves.push_back(sign + token.text);
  }

  int64_t whole(const std::string& text, Position at) const {
    const auto number = literal_of_number(text.starts_with('-') ? text.substr(1) : text).to_int();
    if (!number) lexer_.fail_at(at, text + " is no integer");
    return text.starts_with('-') ? -*number : *number;
  }

  Buffer constant(const TensorType& type, const Written& value) const {
    const auto dims = to_ints(*type.shape);
    if (!dims || checked_count(*dims) != static_cast<int64_t>(value.leaves.size()))
      lexer_.fail_at(value.at, "the value does not fill " + type.to_string());
    if (type.element == ElementType::kString) return Buffer::of_strings(*dims, value.leaves);
    if (is_integer(type.element)) {
      std::vector<int64_t> numbers;
      for (const std::string& leaf : value.leaves) numbers.push_back(whole(leaf, value.at));
      return convert(Buffer::of<int64_t>(ElementType::kI64, *dims, numbers), type.element);
    }
    std::vector<double> numbers;
    for (const std::string& leaf : value.leaves) numbers.push_back(number_of(leaf));
    return of_doubles(type.element, *dims, numbers);
  }

  // The declared kind decides between integers and floats, else the way the number is written.
  Attribute attribute(const std::string& name, const Written& value) const {
    const auto declared = kinds_.find(name);
    const std::string kind = declared == kinds_.end() ? "" : declared->second;
    if (value.text) {
      if (value.list) return value.leaves;
      return value.leaves.at(0);
    }
    const bool list = value.list || kind == "ints" || kind == "floats";
    if (value.fraction || kind.starts_with("float")) {
      std::vector<float> numbers;
      for (const std::string& leaf : value.leaves)
        numbers.push_back(static_cast<float>(number_of(leaf)));
      if (list) return numbers;
      return numbers.at(0);
    }
    std::vector<int64_t> numbers;
    for (const std::string& leaf : value.leaves) numbers.push_back(whole(leaf, value.at));
    if (list) return numbers;
    return numbers.at(0);
  }

  size_t read_outputs() {
    size_t count = 0;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      lexer_.expect(Token::Kind::kName, "an output");
      ++count;
      if (!lexer_.sees(")")) lexer_.expect(",");
    }
    return count;
  }

  [[nodiscard]] size_t required_outputs() const {
    const auto count = [&](char ch) {
      return static_cast<size_t>(std::count(def_.outputs.begin(), def_.outputs.end(), ch));
    };
    return std::max<size_t>(1, count(',') + 1 - count('?'));
  }

  const OperatorDef& def_;
  Lexer lexer_;
  std::map<std::string, std::string> kinds_;
};

}  // namespace

Result<Example> parse_example(const OperatorDef& def) {
  try {
    return ExampleParser(def).parse();
  } catch (Failure& failure) {
    failure.error.where = "example of " + def.full_name() + ":" + failure.error.where;
    return std::unexpected(std::move(failure.error));
  }
}

OpContext context_of(const OperatorDef& def, const Example& example, int opset) {
  return {def.name, opset, example.operands, example.attributes, example.output_count};
}

}  // namespace hone
