#include "driver/inputs.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "support/hash.h"

namespace hone {
namespace {

// Least extent that values of operand `tensor` index within one scalar.
void bound_by_reads(const ScalarNode& node, const TensorExpr& expr, int tensor, int64_t& bound);

bool reads_tensor(const ScalarNode& node, int tensor) {
  if (node.kind == ScalarNode::Kind::kRead && node.tensor == tensor) return true;
  return std::any_of(node.args.begin(), node.args.end(),
                     [&](const Scalar& arg) { return reads_tensor(*arg, tensor); });
}

void bound_by_index(const Index& index, const Dim& extent, const TensorExpr& expr, int tensor,
                    int64_t& bound) {
  for (const IndexTerm& term : index.terms()) {
    const IndexAtom& atom = *term.atom;
    if (atom.read && reads_tensor(*atom.read, tensor) && extent.is_const())
      bound = std::min(bound, extent.value());
    if (atom.read) bound_by_reads(*atom.read, expr, tensor, bound);
    bound_by_index(atom.left, extent, expr, tensor, bound);
    bound_by_index(atom.right, extent, expr, tensor, bound);
  }
}

void bound_by_reads(const ScalarNode& node, const TensorExpr& expr, int tensor, int64_t& bound) {
  for (size_t i = 0; i < node.indices.size(); ++i)
    bound_by_index(node.indices[i], expr.tensors[static_cast<size_t>(node.tensor)].shape[i], expr,
                   tensor, bound);
  for (const Scalar& arg : node.args) bound_by_reads(*arg, expr, tensor, bound);
}

// Follows an integer input through nodes that only move or cast it, to the tensors it indexes.
void bound_by_uses(const Graph& graph, ValueId value, int depth, int64_t& bound) {
  constexpr int kMaxDepth = 6;
  if (depth > kMaxDepth) return;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.meaning) continue;
    int operand = 0;
    for (const ValueId input : node.inputs) {
      if (!input.valid()) continue;
      if (input == value) {
        for (const Stage& stage : node.meaning->stages)
          if (stage.body.valid()) bound_by_reads(*stage.body, *node.meaning, operand, bound);
        for (const ValueId output : node.outputs)
          if (output.valid() && is_integer(graph.value(output).type.element))
            bound_by_uses(graph, output, depth + 1, bound);
      }
      ++operand;
    }
  }
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  // Box-Muller, so that every machine gives the same numbers.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

double float_element(InputStyle style, Random& random, int64_t i) {
  switch (style) {
    case InputStyle::kNormal:
      return random.normal();
    case InputStyle::kZeros:
      return 0;
    case InputStyle::kOnes:
      return 1;
    case InputStyle::kLarge:
      return (2 * random.uniform() - 1) * 100;
    case InputStyle::kTiny:
      return (i % 2 == 0 ? 1e-4 : -1e-4) * random.uniform();
  }
  return 0;
}

Buffer fill(const Graph& graph, ValueId id, const std::vector<int64_t>& dims,
            const InputOptions& options) {
  const Value& value = graph.value(id);
  Random random(hash_text(value.name, options.seed));
  const ElementType type = value.type.element;
  if (is_float(type)) {
    Buffer wide = Buffer::allocate(ElementType::kF64, dims);
    auto elements = wide.as_mutable<double>();
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = float_element(options.style, random, static_cast<int64_t>(i));
    return convert(wide, type);
  }
  // Masks are mostly ones, and segment numbers are small, whatever reads them.
  int64_t bound = 128;
  if (type == ElementType::kBool || value.name.find("mask") != std::string::npos)
    bound = 2;
  else
    bound_by_uses(graph, id, 0, bound);
  Buffer wide = Buffer::allocate(ElementType::kI64, dims);
  for (int64_t& element : wide.as_mutable<int64_t>()) {
    const auto drawn = static_cast<int64_t>(random.uniform() * static_cast<double>(bound));
    const bool mask = bound == 2 && type != ElementType::kBool;
    if (options.style == InputStyle::kZeros)
      element = 0;
    else if (options.style == InputStyle::kOnes || mask)
      element = std::min<int64_t>(1, bound - 1);
    else
      element = drawn;
  }
  return convert(wide, type);
}

// Names that the caller gives a shape or a size must be ones of the model.
std::optional<Error> find_unknown_name(const Graph& graph, const InputOptions& options) {
  std::set<std::string> inputs, symbols;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    inputs.insert(value.name);
    if (value.type.shape)
      for (const Dim& dim : *value.type.shape) dim.collect_symbols(symbols);
  }
  const auto complain = [](const std::string& option, const std::string& name,
                           const std::string& what, const std::set<std::string>& known) {
    std::string names;
    for (const std::string& each : known) names += (names.empty() ? "" : ", ") + each;
    return Error{ErrorKind::kInvalid, option + " " + name, "the model has no such " + what,
                 known.empty() ? "it has none" : "one of: " + names};
  };
  for (const auto& [name, dims] : options.shapes)
    if (!inputs.contains(name)) return complain("--shape", name, "input", inputs);
  for (const auto& [name, size] : options.symbols)
    if (!symbols.contains(name)) return complain("--dim", name, "symbolic dimension", symbols);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> dims_for(const Value& value, const InputOptions& options) {
  if (const auto at = options.shapes.find(value.name); at != options.shapes.end())
    return at->second;
  if (!value.type.shape) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Dim& dim : *value.type.shape) {
    std::set<std::string> names;
    dim.collect_symbols(names);
    std::map<std::string, int64_t> values;
    for (const std::string& name : names)
      values[name] = options.symbols.contains(name) ? options.symbols.at(name) : 1;
    const std::optional<int64_t> size = dim.evaluate(values);
    if (!size) throw_invalid("has a dimension " + dim.to_string() + " without a value");
    dims.push_back(*size);
  }
  return dims;
}

Result<Buffer> make_input(const Graph& graph, ValueId id, const InputOptions& options) {
  const Value& value = graph.value(id);
  if (!value.constant.empty_handle()) return Buffer();
  const std::string where = "input " + value.name;
  const ElementType type = value.type.element;
  if (!is_float(type) && !is_integer(type) && type != ElementType::kBool)
    return fail(ErrorKind::kUnsupported, where, "has no type that random values can be drawn for",
                "give it by --input");
  try {
    const auto dims = dims_for(value, options);
    if (!dims)
      return fail(ErrorKind::kInvalid, where, "has an unknown shape", "give it by --shape");
    return fill(graph, id, *dims, options);
  } catch (Failure& failure) {
    failure.error.where = where;
    return std::unexpected(std::move(failure.error));
  }
}

}  // namespace

Result<std::vector<Buffer>> make_inputs(const Graph& graph, const InputOptions& options) {
  if (std::optional<Error> unknown = find_unknown_name(graph, options))
    return std::unexpected(*std::move(unknown));
  std::vector<Buffer> inputs;
  for (const ValueId id : graph.inputs()) {
    Result<Buffer> input = make_input(graph, id, options);
    if (!input) return std::unexpected(std::move(input.error()));
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

}  // namespace hone
