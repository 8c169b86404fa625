#include <algorithm>
#include <charconv>
#include <limits>

#include "expr/elaborate.h"
#include "expr/syntax.h"
#include "graph/infer.h"
#include "graph/text.h"
#include "support/lexer.h"

namespace hone {
namespace {

using GraphRef = std::shared_ptr<const Graph>;

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Buffer>& blobs, const OperatorTable& table)
      : lexer_(text), blobs_(blobs), table_(table) {}

  // The place that the parser has come to.
  [[nodiscard]] std::string where() const { return lexer_.where(lexer_.at()); }

  Model model() {
    Model result;
    lexer_.expect("model");
    parse_items([&](const std::string& key) { model_item(result, key); });
    opsets_ = result.opsets;
    result.graph = graph(nullptr);
    lexer_.expect_end();
    return result;
  }

 private:
  // "{key = ..., key = ...}"; `item` reads what follows the key.
  template <typename Item>
  void parse_items(const Item& item) {
    lexer_.expect("{");
    while (!lexer_.accept("}")) {
      const std::string key = lexer_.expect(Token::Kind::kName, "a name").text;
      item(key);
      if (!lexer_.sees("}")) lexer_.expect(",");
    }
  }

  std::string string() { return lexer_.expect(Token::Kind::kString, "a string").text; }
  std::string assigned_string() {
    lexer_.expect("=");
    return string();
  }

  void meta(std::map<std::string, std::string>& into) {
    const std::string key = string();
    into[key] = assigned_string();
  }

  void model_item(Model& model, const std::string& key) {
    if (key == "meta") return meta(model.metadata);
    if (key == "opset") {
      const std::string domain = lexer_.sees(Token::Kind::kString) ? string() : "";
      lexer_.expect("=");
      model.opsets[domain] = integer();
      return;
    }
    if (key == "ir_version" || key == "model_version") {
      lexer_.expect("=");
      (key == "ir_version" ? model.ir_version : model.model_version) = integer();
      return;
    }
    const Position at = lexer_.at();
    const std::string value = assigned_string();
    if (key == "producer_name")
      model.producer_name = value;
    else if (key == "producer_version")
      model.producer_version = value;
    else if (key == "domain")
      model.domain = value;
    else if (key == "doc")
      model.doc = value;
    else if (key == "function")
      model.functions.push_back(value);
    else if (key == "unknown_fields")
      model.unknown_fields = value;
    else
      lexer_.fail_at(at, "a model has no item " + key);
  }

  // A signed number token, as text.
  std::string number() {
    const bool negative = lexer_.accept("-");
    const bool word = lexer_.sees("inf") || lexer_.sees("nan");
    if (!word && !lexer_.sees(Token::Kind::kNumber)) lexer_.fail_expected("a number");
    return (negative ? "-" : "") + lexer_.take().text;
  }

  int64_t integer() {
    const Position at = lexer_.at();
    return integer(number(), at);
  }

  int64_t integer(const std::string& text, Position at) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      lexer_.fail_at(at, text + " is not a 64-bit integer");
    return value;
  }

  static bool is_integer_text(const std::string& text) {
    return text.find_first_of(".einp") == std::string::npos;
  }

  template <typename T>
  T real(const std::string& text, Position at) {
    if (text == "nan" || text == "-nan") return std::numeric_limits<T>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<T>::infinity();
    if (text == "-inf") return -std::numeric_limits<T>::infinity();
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      lexer_.fail_at(at, text + " is not a number");
    return value;
  }

  // After the name: "f32[N, 3]", "f32[?]", "?", or: opaque "..."
  void type(Value& value) {
    if (lexer_.accept("?")) return;
    if (lexer_.accept("opaque")) {
      value.opaque_type = string();
      return;
    }
    value.type = tensor_type();
  }

  TensorType tensor_type() {
    TensorType result;
    const Token word = lexer_.expect(Token::Kind::kName, "an element type");
    const auto element = element_type_of(word.text);
    if (!element) lexer_.fail_at(word.at, word.text + " is no element type");
    result.element = *element;
    lexer_.expect("[");
    if (lexer_.accept("?")) {
      lexer_.expect("]");
      return result;
    }
    result.shape.emplace();
    while (!lexer_.accept("]")) {
      result.shape->push_back(elaborate_dim(*parse_term(lexer_)));
      if (!lexer_.sees("]")) lexer_.expect(",");
    }
    return result;
  }

  // "f32[2] = [1.0, 2.0]" or "f32[2] = data 0"
  Buffer tensor() {
    const Position at = lexer_.at();
    const TensorType type = tensor_type();
    const auto dims = type.shape ? to_ints(*type.shape) : std::nullopt;
    if (!dims) lexer_.fail_at(at, "a constant needs a known shape");
    lexer_.expect("=");
    if (lexer_.accept("data")) return blob(at, type);
    const int64_t count = checked_count(*dims);
    std::vector<double> reals;
    std::vector<int64_t> integers;
    const bool is_real = is_float(type.element);
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      const Position place = lexer_.at();
      if (is_real)
        reals.push_back(real<double>(number(), place));
      else
        integers.push_back(integer());
      if (!lexer_.sees("]")) lexer_.expect(",");
    }
    const auto given = static_cast<int64_t>(is_real ? reals.size() : integers.size());
    if (given != count)
      lexer_.fail_at(
          at, "expects " + std::to_string(count) + " elements, has " + std::to_string(given));
    if (is_real) {
      const Buffer wide = Buffer::of<double>(ElementType::kF64, *dims, reals);
      return convert(wide, type.element);
    }
    if (!is_integer(type.element) && type.element != ElementType::kBool)
      lexer_.fail_at(at, "constants of this type are given as data");
    return convert(Buffer::of<int64_t>(ElementType::kI64, *dims, integers), type.element);
  }

  Buffer blob(Position at, const TensorType& type) {
    const int64_t index = integer();
    if (index < 0 || index >= static_cast<int64_t>(blobs_.size()))
      lexer_.fail_at(at, "there is no data " + std::to_string(index));
    const Buffer& found = blobs_[static_cast<size_t>(index)];
    if (found.tensor_type() != type)
      lexer_.fail_at(at,
                     "data " + std::to_string(index) + " is " + found.tensor_type().to_string());
    return found;
  }

  std::string value_token() {
    lexer_.expect("%");
    return lexer_.expect(Token::Kind::kName, "the name of a value").text;
  }

  ValueId known_value(const Graph& graph) {
    const Position at = lexer_.at();
    const std::string name = value_token();
    const auto id = graph.find_value(name);
    if (!id) lexer_.fail_at(at, "%" + name + " is not defined", "values are defined before use");
    return *id;
  }

  std::string new_value(const Graph& graph) {
    const Position at = lexer_.at();
    std::string name = value_token();
    if (graph.find_value(name)) lexer_.fail_at(at, "%" + name + " is defined twice");
    return name;
  }

  Graph graph(Graph* around) {
    const Nested nested(lexer_);
    Graph result;
    lexer_.expect("graph");
    result.name = lexer_.expect(Token::Kind::kName, "the graph's name").text;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      const std::string name = new_value(result);
      lexer_.expect(":");
      Value facts;
      type(facts);
      const ValueId id = result.add_input(name, facts.type);
      result.value(id).opaque_type = facts.opaque_type;
      if (!lexer_.sees(")")) lexer_.expect(",");
    }
    lexer_.expect("->");
    std::vector<std::pair<Position, std::string>> outputs;
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      const Position at = lexer_.at();
      outputs.emplace_back(at, value_token());
      if (!lexer_.sees(")")) lexer_.expect(",");
    }
    lexer_.expect("{");
    while (!lexer_.accept("}")) statement(result, around);
    set_outputs(result, outputs);
    return result;
  }

  void set_outputs(Graph& graph, const std::vector<std::pair<Position, std::string>>& outputs) {
    std::vector<ValueId> ids;
    for (const auto& [at, name] : outputs) {
      const auto id = graph.find_value(name);
      if (!id) lexer_.fail_at(at, "output %" + name + " is not defined");
      ids.push_back(*id);
    }
    graph.set_outputs(std::move(ids));
  }

  void statement(Graph& graph, Graph* around) {
    if (lexer_.accept("about")) return about(graph);
    if (lexer_.accept("const")) {
      const std::string name = new_value(graph);
      lexer_.expect(":");
      graph.add_constant(name, tensor());
      return;
    }
    if (lexer_.accept("default")) {
      const ValueId id = known_value(graph);
      lexer_.expect(":");
      graph.value(id).constant = tensor();
      return;
    }
    if (lexer_.accept("outer")) return outer(graph, around);
    node(graph);
  }

  void outer(Graph& graph, Graph* around) {
    const Position at = lexer_.at();
    const std::string name = new_value(graph);
    if (around == nullptr || !around->find_value(name))
      lexer_.fail_at(at, "%" + name + " is not a value of the graph around this one");
    lexer_.expect(":");
    Value facts;
    type(facts);
    const ValueId id = graph.add_outer(name, facts.type);
    graph.value(id).opaque_type = facts.opaque_type;
  }

  void about(Graph& graph) {
    const bool of_value = lexer_.sees("%");
    Value unused;
    Value& value = of_value ? graph.value(known_value(graph)) : unused;
    std::string& doc = of_value ? value.doc : graph.doc;
    auto& metadata = of_value ? value.metadata : graph.metadata;
    parse_items([&](const std::string& key) {
      if (key == "meta") return meta(metadata);
      if (key != "doc") lexer_.fail_at(lexer_.at(), "unknown item " + key);
      doc = assigned_string();
    });
  }

  void node(Graph& graph) {
    Node result;
    std::vector<std::string> names;
    std::vector<Value> facts;
    // A node may have no outputs at all: "= Op(%x)".
    while (!lexer_.sees("=")) {
      if (!facts.empty()) lexer_.expect(",");
      facts.emplace_back();
      if (lexer_.accept("_")) {
        names.emplace_back();
        continue;
      }
      names.push_back(new_value(graph));
      lexer_.expect(":");
      type(facts.back());
    }
    lexer_.expect("=");
    operator_of(result, graph);
    arguments(result, graph);
    if (lexer_.sees("{")) attributes(result, graph);
    if (lexer_.accept("@")) node_facts(result);
    const NodeId id = graph.add_node(std::move(result), names);
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) continue;
      Value& value = graph.value(graph.node(id).outputs[i]);
      value.type = facts[i].type;
      value.opaque_type = facts[i].opaque_type;
    }
  }

  void operator_of(Node& node, Graph& graph) {
    if (lexer_.accept("inline")) {
      node.op = "inline";
      node.inline_expr = graph.intern(elaborate(parse_definition(lexer_, false)));
      return;
    }
    if (lexer_.sees(Token::Kind::kString)) {
      node.domain = lexer_.take().text;
      lexer_.expect("::");
    }
    node.op = lexer_.expect(Token::Kind::kName, "an operator").text;
    const auto version = opsets_.find(node.domain);
    node.opset = version == opsets_.end() ? 0 : static_cast<int>(version->second);
    node.def = table_.find(node.domain, node.op);
  }

  void arguments(Node& node, const Graph& graph) {
    lexer_.expect("(");
    while (!lexer_.accept(")")) {
      node.inputs.push_back(lexer_.accept("_") ? ValueId{} : known_value(graph));
      if (!lexer_.sees(")")) lexer_.expect(",");
    }
  }

  void attributes(Node& node, Graph& graph) {
    parse_items([&](const std::string& key) {
      lexer_.expect("=");
      node.attributes[key] = attribute(node, graph);
    });
  }

  void node_facts(Node& node) {
    parse_items([&](const std::string& key) {
      if (key == "meta") return meta(node.metadata);
      const Position at = lexer_.at();
      const std::string value = assigned_string();
      if (key == "name")
        node.name = value;
      else if (key == "overload")
        node.overload = value;
      else if (key == "doc")
        node.doc = value;
      else if (key == "origin")
        node.origin.push_back(value);
      else
        lexer_.fail_at(at, "a node has no item " + key);
    });
  }

  Attribute attribute(Node& node, Graph& graph) {
    if (lexer_.sees(Token::Kind::kString)) return string();
    if (lexer_.accept("tensor")) return tensor();
    if (lexer_.accept("opaque")) return OpaqueAttribute{string()};
    if (lexer_.sees("graph")) return subgraph(node, graph);
    if (lexer_.sees("[")) return list();
    if (lexer_.accept("ints")) return empty_list<int64_t>();
    if (lexer_.accept("floats")) return empty_list<float>();
    if (lexer_.accept("strings")) return empty_list<std::string>();
    if (lexer_.accept("tensors"))
      return elements<Buffer>([&] {
        lexer_.expect("tensor");
        return tensor();
      });
    if (lexer_.accept("graphs")) return elements<GraphRef>([&] { return subgraph(node, graph); });
    if (lexer_.accept("dims"))
      return elements<Dim>([&] { return elaborate_dim(*parse_term(lexer_)); });
    const Position at = lexer_.at();
    const std::string text = number();
    if (is_integer_text(text)) return integer(text, at);
    return real<float>(text, at);
  }

  GraphRef subgraph(Node& node, Graph& around) {
    auto inner = std::make_shared<Graph>(graph(&around));
    for (size_t i = 0; i < inner->value_count(); ++i) {
      const Value& value = inner->value({static_cast<int32_t>(i)});
      if (value.kind != Value::Kind::kOuter) continue;
      const ValueId captured = *around.find_value(value.name);
      if (std::find(node.captures.begin(), node.captures.end(), captured) == node.captures.end())
        node.captures.push_back(captured);
    }
    return inner;
  }

  template <typename T>
  std::vector<T> empty_list() {
    lexer_.expect("[");
    lexer_.expect("]");
    return {};
  }

  template <typename T, typename Element>
  std::vector<T> elements(const Element& element) {
    std::vector<T> result;
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      result.push_back(element());
      if (!lexer_.sees("]")) lexer_.expect(",");
    }
    return result;
  }

  // A list takes the kind of its first element.
  Attribute list() {
    std::vector<std::string> strings;
    std::vector<std::pair<Position, std::string>> numbers;
    lexer_.expect("[");
    while (!lexer_.accept("]")) {
      const Position at = lexer_.at();
      if (lexer_.sees(Token::Kind::kString))
        strings.push_back(string());
      else
        numbers.emplace_back(at, number());
      if (!lexer_.sees("]")) lexer_.expect(",");
    }
    if (numbers.empty()) return strings;
    if (!strings.empty()) lexer_.fail_at(numbers[0].first, "a list mixes numbers and strings");
    if (!is_integer_text(numbers[0].second)) {
      std::vector<float> reals;
      for (const auto& [at, text] : numbers) reals.push_back(real<float>(text, at));
      return reals;
    }
    std::vector<int64_t> integers;
    for (const auto& [at, text] : numbers) integers.push_back(integer(text, at));
    return integers;
  }

  Lexer lexer_;
  const std::vector<Buffer>& blobs_;
  const OperatorTable& table_;
  std::map<std::string, int64_t> opsets_;
};

}  // namespace

Results<Model> parse_model(std::string_view text, const std::vector<Buffer>& blobs,
                           const OperatorTable& table) {
  std::optional<Parser> parser;
  try {
    parser.emplace(text, blobs, table);
    Model model = parser->model();
    if (Errors errors = verify(model.graph); !errors.empty()) return std::unexpected(errors);
    if (Errors errors = infer(model.graph); !errors.empty()) return std::unexpected(errors);
    return model;
  } catch (Failure& failure) {
    if (failure.error.where.empty() && parser) failure.error.where = parser->where();
    return std::unexpected(Errors{std::move(failure.error)});
  }
}

}  // namespace hone
