#include "ops/user_ops.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "expr/elaborate.h"
#include "ops/example.h"

namespace hone {
namespace {

using AttributeValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>>;

struct UserAttribute {
  std::string name;
  std::string kind;
  bool required;
  AttributeValue otherwise;  // of the kind, also where there is no default
};

// A definition as read; shared by all its uses.
struct UserOperator {
  std::string name;
  DefinitionSyntax syntax;
  std::vector<UserAttribute> attributes;
};

// The value of one attribute of a node, as the names that the template uses.
void bind_attribute(const UserAttribute& attribute, const OpContext& context,
                    TemplateNames& names) {
  const std::string& name = attribute.name;
  if (attribute.required && !context.has_attribute(name))
    throw_invalid("attribute " + name + " is missing");
  const AttributeValue& otherwise = attribute.otherwise;
  if (attribute.kind == "int") {
    const std::vector<Dim> value =
        context.dims_attribute(name, {Dim(std::get<int64_t>(otherwise))});
    if (value.size() != 1) throw_invalid("attribute " + name + " is not one integer");
    names.dims[name] = value[0];
  } else if (attribute.kind == "ints") {
    const auto& ints = std::get<std::vector<int64_t>>(otherwise);
    names.dim_lists[name] = context.dims_attribute(name, {ints.begin(), ints.end()});
  } else if (attribute.kind == "float") {
    names.literals[name] = context.literal_attribute(name, std::get<float>(otherwise));
  } else if (attribute.kind == "floats") {
    for (const float value :
         context.floats_attribute(name, std::get<std::vector<float>>(otherwise)))
      names.literal_lists[name].push_back(Literal::of_double(value));
  } else {
    names.strings[name] = context.string_attribute(name, std::get<std::string>(otherwise));
  }
}

TensorExpr use(const UserOperator& op, const OpContext& context) {
  TemplateNames names;
  for (const UserAttribute& attribute : op.attributes) bind_attribute(attribute, context, names);
  for (const auto& [name, value] : context.attributes()) {
    const bool known = std::ranges::any_of(
        op.attributes, [&](const UserAttribute& attribute) { return attribute.name == name; });
    if (!known) throw_invalid(op.name + " has no attribute " + name);
  }
  std::vector<OperandType> operands;
  for (size_t i = 0; i < context.input_count(); ++i)
    operands.push_back({context.type(i), context.shape(i)});
  return elaborate_template(op.syntax, operands, std::move(names));
}

std::string text_of(const AttributeValue& value) {
  const auto list = [](const auto& numbers) {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  };
  if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const auto* f = std::get_if<float>(&value)) return fmt::format("{}", *f);
  if (const auto* s = std::get_if<std::string>(&value)) return string_text(*s);
  if (const auto* is = std::get_if<std::vector<int64_t>>(&value)) return list(*is);
  return list(std::get<std::vector<float>>(value));
}

// "x, w" of anything with a name.
template <typename List>
std::string names_of(const List& list) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + entry.name;
  return text;
}

class OperatorFile {
 public:
  OperatorFile(std::string_view text, std::string_view file)
      : text_(text), lexer_(text, std::string(file)), file_(file) {}

  std::vector<OperatorDef> read() {
    while (!lexer_.sees(Token::Kind::kEnd)) {
      if (lexer_.sees("op")) {
        read_operator();
      } else if (lexer_.sees("example")) {
        read_example();
      } else {
        lexer_.fail_expected("'op' or 'example'");
      }
    }
    return std::move(defs_);
  }

 private:
  // domain.of.it::Name; ai.onnx is the empty domain.
  std::pair<std::string, std::string> read_full_name() {
    std::string domain;
    std::string name = lexer_.expect(Token::Kind::kName, "the name of an operator").text;
    while (lexer_.accept("."))
      name += "." + lexer_.expect(Token::Kind::kName, "the rest of the name").text;
    if (lexer_.accept("::")) {
      domain = std::exchange(name, lexer_.expect(Token::Kind::kName, "the operator's name").text);
    }
    if (domain == "ai.onnx") domain.clear();
    return {std::move(domain), std::move(name)};
  }

  void read_operator() {
    OperatorDef def;
    def.doc = lexer_.comment();
    lexer_.expect("op");
    const Position at = lexer_.at();
    std::tie(def.domain, def.name) = read_full_name();
    if (find(def.full_name()) != nullptr) lexer_.fail_at(at, def.full_name() + " is defined twice");
    auto op = std::make_shared<UserOperator>();
    op->name = def.full_name();
    op->syntax = parse_definition(lexer_, true);
    op->syntax.file = file_;
    for (const AttributeSyntax& syntax : op->syntax.attributes) {
      op->attributes.push_back(attribute_of(syntax));
      def.attributes += (def.attributes.empty() ? "" : ", ") + syntax.name + ": " + syntax.kind;
      if (!syntax.required) def.attributes += " = " + text_of(op->attributes.back().otherwise);
    }
    def.inputs = names_of(op->syntax.operands);
    def.outputs = names_of(op->syntax.outputs);
    def.define = [op](OpContext& context) { return use(*op, context); };
    defs_.push_back(std::move(def));
  }

  UserAttribute attribute_of(const AttributeSyntax& syntax) const {
    UserAttribute attribute{syntax.name, syntax.kind, syntax.required, {}};
    const bool list = syntax.kind == "ints" || syntax.kind == "floats";
    if (!syntax.required && !list && syntax.value.size() != 1)
      lexer_.fail_at(syntax.at, "the default must be one value");
    attribute.otherwise = value_of(syntax);
    return attribute;
  }

  AttributeValue value_of(const AttributeSyntax& syntax) const {
    if (syntax.kind == "string") {
      if (syntax.required) return std::string();
      if (syntax.value[0]->kind != Syntax::Kind::kString)
        lexer_.fail_at(syntax.value[0]->at, "expected a string");
      return syntax.value[0]->text;
    }
    if (syntax.kind == "int" || syntax.kind == "ints") {
      std::vector<int64_t> ints;
      for (const SyntaxRef& term : syntax.value) ints.push_back(int_of(*term));
      if (syntax.kind == "ints") return ints;
      return syntax.required ? 0 : ints[0];
    }
    if (syntax.kind == "float" || syntax.kind == "floats") {
      std::vector<float> floats;
      for (const SyntaxRef& term : syntax.value)
        floats.push_back(static_cast<float>(literal_of(*term).to_double()));
      if (syntax.kind == "floats") return floats;
      return syntax.required ? 0.0F : floats[0];
    }
    lexer_.fail_at(syntax.at, "an attribute is int, float, string, ints or floats, not " +
                                  name_text(syntax.kind));
  }

  Literal literal_of(const Syntax& term) const {
    try {
      return elaborate_literal(term);
    } catch (const Failure& failure) {
      lexer_.fail_at(term.at, failure.error.reason);
    }
  }

  int64_t int_of(const Syntax& term) const {
    const auto number = literal_of(term).to_int();
    if (!number) lexer_.fail_at(term.at, "expected an integer");
    return *number;
  }

  // Keeps the text for the operator, and uses it once, which finds mistakes in the definition.
  void read_example() {
    lexer_.expect("example");
    const Position at = lexer_.at();
    const size_t begin = lexer_.peek().begin;
    const auto [domain, name] = read_full_name();
    OperatorDef* def = find(domain.empty() ? name : domain + "::" + name);
    for (OperatorDef& other : defs_)
      if (def == nullptr && domain.empty() && other.name == name) def = &other;
    if (def == nullptr) lexer_.fail_at(at, "the file defines no operator " + name_text(name));
    if (!def->example.empty()) lexer_.fail_at(at, def->full_name() + " has two examples");
    size_t end = skip_group("(", ")");
    if (lexer_.sees("{")) end = skip_group("{", "}");
    if (lexer_.accept("->")) end = skip_group("(", ")");
    def->example = text_.substr(begin, end - begin);
    const auto example = parse_example(*def);
    if (!example) lexer_.fail_at(at, example.error().reason, example.error().hint);
    OpContext context = context_of(*def, *example);
    const auto expr = instantiate(*def, context);
    if (!expr)
      lexer_.fail_at(at,
                     "the example of " + def->full_name() + " fails: " + expr.error().to_string());
  }

  // Past a balanced group; gives the offset behind it.
  size_t skip_group(std::string_view open, std::string_view close) {
    lexer_.expect(open);
    size_t end = 0;
    for (int depth = 1; depth > 0;) {
      if (lexer_.sees(Token::Kind::kEnd)) lexer_.fail_expected("'" + std::string(close) + "'");
      depth += lexer_.sees(open) ? 1 : lexer_.sees(close) ? -1 : 0;
      end = lexer_.take().end;
    }
    return end;
  }

  OperatorDef* find(const std::string& full_name) {
    const auto at = std::ranges::find_if(
        defs_, [&](const OperatorDef& def) { return def.full_name() == full_name; });
    return at == defs_.end() ? nullptr : &*at;
  }

  std::string_view text_;
  Lexer lexer_;
  std::string file_;
  std::vector<OperatorDef> defs_;
};

}  // namespace

Result<std::vector<OperatorDef>> parse_operators(std::string_view text,
                                                 std::string_view file_name) {
  try {
    return OperatorFile(text, file_name).read();
  } catch (Failure& failure) {
    return std::unexpected(std::move(failure.error));
  }
}

Result<int> add_operators(OperatorTable& table, std::string_view text, std::string_view file_name) {
  Result<std::vector<OperatorDef>> defs = parse_operators(text, file_name);
  if (!defs) return std::unexpected(std::move(defs.error()));
  for (const OperatorDef& def : *defs)
    if (table.find(def.domain, def.name) != nullptr)
      return fail(ErrorKind::kInvalid, std::string(file_name),
                  def.full_name() + " is already defined", "give it a domain of your own");
  for (OperatorDef& def : *defs) table.add(std::move(def));
  return static_cast<int>(defs->size());
}

}  // namespace hone
