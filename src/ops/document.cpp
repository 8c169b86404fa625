#include "ops/document.h"

#include "expr/text.h"
#include "ops/example.h"

namespace hone {
namespace {

std::string indented(const std::string& text, size_t by) {
  std::string result;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    result += std::string(by, ' ') + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

// What the example means, or why it has no meaning before a run.
std::string meaning(const OperatorDef& def) {
  const Result<Example> example = parse_example(def);
  if (!example) return example.error().to_string();
  OpContext context = context_of(def, *example);
  const Result<TensorExpr> expr = instantiate(def, context);
  return expr ? to_text(*expr) : expr.error().to_string();
}

}  // namespace

std::string document(const OperatorDef& def) {
  std::string text = def.full_name() + "(" + def.inputs + ") -> (" + def.outputs + ")";
  if (def.since > 1) text += ", since opset " + std::to_string(def.since);
  text += "\n";
  if (!def.doc.empty()) text += indented(def.doc, 2);
  if (!def.attributes.empty()) text += "  attributes: " + def.attributes + "\n";
  if (!def.define) text += "  no expression form: " + def.opaque_reason + "\n";
  if (!def.example.empty()) text += "  example: " + def.example + "\n";
  if (def.define && !def.example.empty()) text += indented(meaning(def), 4);
  return text;
}

}  // namespace hone
