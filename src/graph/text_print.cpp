#include <array>
#include <charconv>
#include <cmath>

#include "expr/text.h"
#include "graph/text.h"
#include "support/lexer.h"

namespace hone {
namespace {

template <typename T>
std::string float_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string value_name(const std::string& name) { return "%" + name_text(name); }

// A text of several lines inside a line that starts with `indent`; without its last line break.
std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  for (const char c : text.substr(0, text.find_last_not_of('\n') + 1)) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result;
}

std::string type_text(const Value& value) {
  if (!value.opaque_type.empty()) return "opaque " + string_text(value.opaque_type);
  if (value.type.element == ElementType::kInvalid) return "?";
  return value.type.to_string();
}

// Numbers that decimal text gives back bit by bit.
bool prints_exactly(const Buffer& buffer) {
  using enum ElementType;
  switch (buffer.type()) {
    case kF32:
    case kF64:
    case kF16:
    case kBF16:
    case kI8:
    case kI16:
    case kI32:
    case kI64:
    case kU8:
    case kU16:
    case kU32:
    case kBool:
    case kI4:
    case kU4:
      break;
    default:
      return false;
  }
  for (int64_t i = 0; i < buffer.count(); ++i)
    if (!std::isfinite(buffer.as_double(i))) return false;
  return true;
}

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string out;
  std::vector<Buffer> blobs;

  void print(const Model& model) {
    Items items(*this, "model {");
    items.add("ir_version", std::to_string(model.ir_version));
    for (const auto& [domain, version] : model.opsets)
      items.add(domain.empty() ? "opset" : "opset " + string_text(domain), std::to_string(version));
    items.add_text("producer_name", model.producer_name);
    items.add_text("producer_version", model.producer_version);
    items.add_text("domain", model.domain);
    if (model.model_version != 0) items.add("model_version", std::to_string(model.model_version));
    items.add_text("doc", model.doc);
    items.add_meta(model.metadata);
    for (const std::string& function : model.functions)
      items.add("function", string_text(function));
    items.add_text("unknown_fields", model.unknown_fields);
    items.close();
    out += "\n";
    print(model.graph, "");
    out += "\n";
  }

  void print(const Graph& graph, const std::string& indent) {
    out += "graph " + name_text(graph.name) + "(";
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      if (i > 0) out += ", ";
      const Value& value = graph.value(graph.inputs()[i]);
      out += value_name(value.name) + ": " + type_text(value);
    }
    out += ") -> (";
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
      if (i > 0) out += ", ";
      out += value_name(graph.value(graph.outputs()[i]).name);
    }
    out += ") {\n";
    const std::string inner = indent + "  ";
    print_about(graph, inner);
    print_values(graph, inner);
    for (const NodeId id : graph.order()) print_node(graph, graph.node(id), inner);
    out += indent + "}";
  }

 private:
  // "{a = 1, b = 2}", nothing when empty unless opened by a word.
  class Items {
   public:
    Items(Printer& printer, std::string open) : printer_(printer), open_(std::move(open)) {}
    void add(const std::string& key, const std::string& value) {
      printer_.out += (first_ ? open_ : ", ") + key + " = " + value;
      first_ = false;
    }
    void add_text(const std::string& key, const std::string& value) {
      if (!value.empty()) add(key, string_text(value));
    }
    void add_meta(const std::map<std::string, std::string>& metadata) {
      for (const auto& [key, value] : metadata) add("meta " + string_text(key), string_text(value));
    }
    void close() {
      if (!first_) printer_.out += "}";
    }

   private:
    Printer& printer_;
    std::string open_;
    bool first_ = true;
  };

  void print_about(const Graph& graph, const std::string& indent) {
    if (graph.doc.empty() && graph.metadata.empty()) return;
    out += indent;
    Items items(*this, "about {");
    items.add_text("doc", graph.doc);
    items.add_meta(graph.metadata);
    items.close();
    out += "\n";
  }

  void print_values(const Graph& graph, const std::string& indent) {
    for (size_t i = 0; i < graph.value_count(); ++i) {
      const Value& value = graph.value({static_cast<int32_t>(i)});
      const bool removed = value.kind == Value::Kind::kResult && !graph.find_value(value.name);
      if (removed) continue;
      if (value.kind == Value::Kind::kOuter)
        out += indent + "outer " + value_name(value.name) + ": " + type_text(value) + "\n";
      if (value.kind == Value::Kind::kConstant)
        out += indent + "const " + value_name(value.name) + ": " + tensor(value.constant) + "\n";
      if (value.kind == Value::Kind::kInput && !value.constant.empty_handle())
        out += indent + "default " + value_name(value.name) + ": " + tensor(value.constant) + "\n";
      if (value.kind != Value::Kind::kResult)
        print_value_facts(graph, {static_cast<int32_t>(i)}, indent);
    }
  }

  void print_value_facts(const Graph& graph, ValueId id, const std::string& indent) {
    const Value& value = graph.value(id);
    if (value.doc.empty() && value.metadata.empty()) return;
    out += indent + "about " + value_name(value.name) + " ";
    Items items(*this, "{");
    items.add_text("doc", value.doc);
    items.add_meta(value.metadata);
    items.close();
    out += "\n";
  }

  // "f32[2] = [1.0, 2.0]" or "f32[64, 3] = data 7"
  std::string tensor(const Buffer& buffer) {
    std::string text = buffer.tensor_type().to_string() + " = ";
    if (buffer.count() > options_.max_inline_elements || !prints_exactly(buffer)) {
      blobs.push_back(buffer);
      return text + "data " + std::to_string(blobs.size() - 1);
    }
    text += "[";
    for (int64_t i = 0; i < buffer.count(); ++i) {
      if (i > 0) text += ", ";
      const bool real = is_float(buffer.type());
      if (buffer.type() == ElementType::kF32)
        text += float_text(static_cast<float>(buffer.as_double(i)));
      else
        text += real ? float_text(buffer.as_double(i)) : std::to_string(buffer.as_int(i));
    }
    return text + "]";
  }

  void print_node(const Graph& graph, const Node& node, const std::string& indent) {
    out += indent;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (i > 0) out += ", ";
      if (!node.outputs[i].valid()) {
        out += "_";
        continue;
      }
      const Value& value = graph.value(node.outputs[i]);
      out += value_name(value.name) + ": " + type_text(value);
    }
    out += node.outputs.empty() ? "= " : " = ";
    if (node.inline_expr) {
      out += "inline " + indented(to_text(*node.inline_expr), indent) + " ";
    } else {
      if (!node.domain.empty()) out += string_text(node.domain) + "::";
      out += name_text(node.op);
    }
    print_arguments(graph, node);
    print_attributes(node, indent);
    print_node_facts(node);
    out += "\n";
    for (const ValueId output : node.outputs)
      if (output.valid()) print_value_facts(graph, output, indent);
  }

  void print_arguments(const Graph& graph, const Node& node) {
    out += "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i > 0) out += ", ";
      out += node.inputs[i].valid() ? value_name(graph.value(node.inputs[i]).name) : "_";
    }
    out += ")";
  }

  void print_attributes(const Node& node, const std::string& indent) {
    if (node.attributes.empty()) return;
    out += " {";
    bool first = true;
    for (const auto& [name, attribute] : node.attributes) {
      if (!first) out += ", ";
      first = false;
      out += name_text(name) + " = ";
      std::visit([&](const auto& value) { print_attribute(value, indent); }, attribute);
    }
    out += "}";
  }

  void print_node_facts(const Node& node) {
    Items items(*this, " @ {");
    items.add_text("name", node.name);
    items.add_text("overload", node.overload);
    items.add_text("doc", node.doc);
    items.add_meta(node.metadata);
    for (const std::string& origin : node.origin) items.add("origin", string_text(origin));
    items.close();
  }

  using GraphRef = std::shared_ptr<const Graph>;

  void print_attribute(int64_t v, const std::string&) { out += std::to_string(v); }
  void print_attribute(float v, const std::string&) { out += float_text(v); }
  void print_attribute(const std::string& v, const std::string&) { out += string_text(v); }
  void print_attribute(const Buffer& v, const std::string&) { out += "tensor " + tensor(v); }
  void print_attribute(const Dim& v, const std::string&) { out += v.to_string(); }
  void print_attribute(const OpaqueAttribute& v, const std::string&) {
    out += "opaque " + string_text(v.bytes);
  }
  void print_attribute(const GraphRef& v, const std::string& indent) { print(*v, indent + "  "); }

  static const char* list_word(const std::vector<int64_t>& v) { return v.empty() ? "ints" : ""; }
  static const char* list_word(const std::vector<float>& v) { return v.empty() ? "floats" : ""; }
  static const char* list_word(const std::vector<std::string>& v) {
    return v.empty() ? "strings" : "";
  }
  static const char* list_word(const std::vector<Buffer>&) { return "tensors"; }
  static const char* list_word(const std::vector<GraphRef>&) { return "graphs"; }
  static const char* list_word(const std::vector<Dim>&) { return "dims"; }

  template <typename T>
  void print_attribute(const std::vector<T>& values, const std::string& indent) {
    out += std::string(list_word(values)) + "[";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += ", ";
      print_attribute(values[i], indent);
    }
    out += "]";
  }

  const PrintOptions& options_;
};

}  // namespace

ModelText to_text(const Model& model, const PrintOptions& options) {
  Printer printer(options);
  printer.print(model);
  return {std::move(printer.out), std::move(printer.blobs)};
}

std::string to_text(const Graph& graph) {
  const PrintOptions options;
  Printer printer(options);
  printer.print(graph, "");
  return std::move(printer.out);
}

}  // namespace hone
