#include "driver/interface.h"

#include <algorithm>
#include <set>

namespace hone {
namespace {

using Symbols = std::map<std::string, int64_t>;

Result<void> check_symbols(const Symbols& wanted, const std::vector<InterfaceValue>& inputs) {
  std::set<std::string> symbols;
  for (const InterfaceValue& input : inputs)
    if (input.type.shape)
      for (const Dim& dim : *input.type.shape) dim.collect_symbols(symbols);
  for (const auto& [name, value] : wanted) {
    if (symbols.contains(name)) continue;
    std::string known;
    for (const std::string& symbol : symbols) known += " " + symbol;
    return fail(ErrorKind::kInvalid, "symbol '" + name + "'", "the inputs have no such dimension",
                known.empty() ? "they have none" : "they have:" + known);
  }
  return {};
}

// Binds symbols to what the shapes say.
Result<void> bind_shapes(const InputShapes& shapes, std::vector<InterfaceValue>& inputs,
                         Symbols& bindings) {
  for (const auto& [name, dims] : shapes) {
    const auto at = std::ranges::find(inputs, name, &InterfaceValue::name);
    if (at == inputs.end())
      return fail(ErrorKind::kInvalid, "shape of '" + name + "'", "the model has no such input",
                  "its inputs are: " + names_of(inputs));
    if (!at->type.shape) at->type.shape = to_shape(dims);
    if (std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; }) ||
        !unify(*at->type.shape, dims, bindings))
      return fail(ErrorKind::kInvalid, "shape of '" + name + "'",
                  to_string(to_shape(dims)) + " is no case of " + at->type.to_string());
  }
  return {};
}

}  // namespace

Result<std::vector<InterfaceValue>> fixed_inputs(const Graph& graph, const InputShapes& shapes,
                                                 const Symbols& symbols) {
  std::vector<InterfaceValue> inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    if (value.type.element == ElementType::kInvalid || value.type.element == ElementType::kString)
      return fail(ErrorKind::kUnsupported, "input '" + value.name + "'",
                  "only tensors of numbers can be run natively");
    inputs.push_back({value.name, value.type, value.constant});
  }
  Symbols bindings = symbols;
  if (Result<void> known = check_symbols(symbols, inputs); !known)
    return std::unexpected(std::move(known.error()));
  if (Result<void> bound = bind_shapes(shapes, inputs, bindings); !bound)
    return std::unexpected(std::move(bound.error()));
  const std::map<std::string, Dim> values(bindings.begin(), bindings.end());
  for (InterfaceValue& input : inputs)
    if (input.type.shape)
      for (Dim& dim : *input.type.shape) dim = dim.substitute(values);
  return inputs;
}

std::vector<InterfaceValue> outputs_of(const Graph& graph) {
  std::vector<InterfaceValue> outputs;
  for (const ValueId id : graph.outputs()) {
    const Value& value = graph.value(id);
    outputs.push_back({value.name, value.type, {}});
  }
  return outputs;
}

Result<InputShapes> concrete_shapes(const std::vector<InterfaceValue>& inputs) {
  InputShapes shapes;
  for (const InterfaceValue& input : inputs) {
    if (!input.type.shape)
      return fail(ErrorKind::kInvalid, "input '" + input.name + "'", "its shape is open",
                  "give it by --shape " + input.name + "=1,3,224,224");
    for (const Dim& dim : *input.type.shape)
      if (!dim.is_const())
        return fail(ErrorKind::kInvalid, "input '" + input.name + "'",
                    "dimension " + dim.to_string() + " of " + input.type.to_string() + " is open",
                    "give it by --dim " + dim.to_string() + "=8 or --shape " + input.name + "=...");
    shapes[input.name] = *to_ints(*input.type.shape);
  }
  return shapes;
}

std::string names_of(const std::vector<InterfaceValue>& values) {
  std::string text;
  for (const InterfaceValue& value : values) text += (text.empty() ? "" : ", ") + value.name;
  return text;
}

}  // namespace hone
