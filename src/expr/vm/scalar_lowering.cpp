#include "expr/vm/scalar_lowering.h"

#include <algorithm>
#include <cstring>

#include "expr/vm/dispatch.h"
#include "expr/vm/index_lowering.h"
#include "support/error.h"

namespace hone::vm {

namespace {

// One pass over the scalars of a nest; shared subtrees are lowered once.
class ScalarLowering {
 public:
  ScalarLowering(const Environment& environment, const Nest& nest, std::vector<Linear> images,
                 Code& code)
      : environment_(environment),
        nest_(nest),
        builder_(code),
        indices_(
            environment, nest, builder_, std::move(images),
            [this](const Scalar& scalar, bool guarded) { return index_value(scalar, guarded); }) {}

  int lower(const Scalar& scalar, bool guarded) {
    auto& done = done_[guarded];
    if (const auto at = done.find(scalar.node().get()); at != done.end()) return at->second;
    const int id = lower_node(*scalar, guarded);
    done.emplace(scalar.node().get(), id);
    return id;
  }
  int lower(const Index& index) { return builder_.as_value(indices_.lower(index, false)); }

 private:
  [[nodiscard]] ElementType compute(ElementType type) const {
    return compute_type(type, environment_.numbers);
  }

  int lower_node(const ScalarNode& node, bool guarded) {
    switch (node.kind) {
      case ScalarNode::Kind::kLiteral:
        return literal(node.literal, node.type);
      case ScalarNode::Kind::kParameter:
        return parameter(node);
      case ScalarNode::Kind::kIndex:
        return builder_.as_value(indices_.lower(node.index, guarded));
      case ScalarNode::Kind::kTable:
        return table(node, guarded);
      case ScalarNode::Kind::kRead:
        return read(node, guarded);
      case ScalarNode::Kind::kApply:
        return apply(node, guarded);
    }
    return -1;
  }

  int index_value(const Scalar& scalar, bool guarded) {
    return cast(lower(scalar, guarded), scalar.type(), ElementType::kI64, false);
  }

  int literal(const Literal& value, ElementType type) {
    const ElementType t = compute(type);
    return builder_.constant(t, constant_of(value, t, environment_.seed), value.to_string());
  }

  // -inf around a max is its identity, which F_p orders lowest; elsewhere it has no size there.
  int outside(const Scalar& scalar, bool guarded) {
    const bool is_identity = scalar.is_literal() && nest_.combiner == Combiner::kMax &&
                             scalar->literal == Literal::infinity(true) &&
                             compute(scalar.type()) == ElementType::kField;
    if (is_identity) return literal(Literal(0), scalar.type());
    return lower(scalar, guarded);
  }

  int parameter(const ScalarNode& node) {
    const auto at = environment_.parameters.find(node.name);
    if (at == environment_.parameters.end())
      throw_unknown("the parameter '" + node.name + "' has no value");
    return literal(at->second, node.type);
  }

  int table(const ScalarNode& node, bool guarded) {
    const Table& table = environment_.expr.tables[static_cast<size_t>(node.table.value)];
    const auto size = static_cast<int64_t>(std::max(table.literals.size(), table.indices.size()));
    Value value;
    value.op = Value::Op::kRead;
    value.type = compute(node.type);
    value.tensor = environment_.memory_of(node.table, value.type);
    value.linear = indices_.lower(node.index, guarded);
    value.name = table.name;
    const auto range = indices_.range_of(node.index);
    if (!range || range->low < 0 || range->high >= size)
      value.checks.push_back({value.linear, size});
    allow_miss(value, nullptr, node.type, guarded);
    return builder_.add(std::move(value));
  }

  int read(const ScalarNode& node, bool guarded) {
    const TensorDecl& tensor = environment_.expr.tensors[static_cast<size_t>(node.tensor)];
    const std::vector<int64_t> dims = numbers(tensor.shape);
    const std::vector<int64_t> strides = row_major_strides(dims);
    Value value;
    value.op = Value::Op::kRead;
    value.type = compute(node.type);
    value.tensor = node.tensor;
    value.name = tensor.name;
    for (size_t d = 0; d < dims.size(); ++d) {
      const Linear index = indices_.lower(node.indices[d], guarded);
      value.linear.add(index, strides[d]);
      const auto form = indices_.range_of(node.indices[d]);
      const auto sum = builder_.range_of(index);
      const auto inside = [&](const std::optional<Interval>& range) {
        return range && range->low >= 0 && range->high < dims[d];
      };
      if (!inside(form) && !inside(sum)) value.checks.push_back({index, dims[d]});
    }
    allow_miss(value, node.outside, node.type, guarded);
    return builder_.add(std::move(value));
  }

  // Reads with a value outside their box may miss it, and so may reads in a branch of a select,
  // whose missing lanes are not chosen.
  void allow_miss(Value& value, const std::shared_ptr<const ScalarNode>& otherwise,
                  ElementType type, bool guarded) {
    if (value.checks.empty() || (!otherwise && !guarded)) return;
    value.may_miss = true;
    value.args = {otherwise ? outside(Scalar(otherwise), guarded) : literal(Literal(0), type)};
  }

  int apply(const ScalarNode& node, bool guarded) {
    if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
      return cast(lower(node.args[0], guarded), node.args[0].type(), node.type,
                  node.fn == Fn::kCastWrap);
    Value value;
    value.op = Value::Op::kApply;
    value.type = compute(node.type);
    value.name = info_of(node.fn).name;
    value.tag = static_cast<int>(node.fn);
    const ElementType operands = compute(node.args.back().type());
    if (const auto exponent = field_exponent(node)) {
      value.kernel = {find_field_power(), nullptr, nullptr};
      value.tag = static_cast<int>(*exponent);
      value.args = {lower(node.args[0], guarded)};
      return builder_.add(std::move(value));
    }
    value.kernel = find_kernel(node.fn, operands);
    if (!value.kernel.arrays)
      throw_unsupported(std::string(info_of(node.fn).name) + " is not defined on " +
                        std::string(name_of(node.args.back().type())));
    value.is_select = node.fn == Fn::kSelect;
    for (size_t i = 0; i < node.args.size(); ++i)
      value.args.push_back(lower(node.args[i], guarded || (value.is_select && i > 0)));
    return builder_.add(std::move(value));
  }

  // x^n for a small natural n needs no random function.
  std::optional<int64_t> field_exponent(const ScalarNode& node) const {
    if (node.fn != Fn::kPow || compute(node.type) != ElementType::kField) return std::nullopt;
    if (!node.args[1].is_literal()) return std::nullopt;
    const auto exponent = node.args[1]->literal.to_int();
    return exponent && *exponent >= 0 && *exponent <= 4096 ? exponent : std::nullopt;
  }

  int cast(int id, ElementType from, ElementType to, bool wrap) {
    const ElementType source = compute(from), target = compute(to);
    if (source != target)
      id = add_unary(find_cast(source, target), id, target, "cast_" + std::string(name_of(to)), 0);
    const bool rounds = !is_float(to) || environment_.numbers == Numbers::kNative;
    if (const Kernel narrow = rounds ? find_narrowing(to) : nullptr)
      id = add_unary(narrow, id, target, "round_" + std::string(name_of(to)),
                     static_cast<int>(to) | (wrap ? kWrap : 0));
    return id;
  }

  int add_unary(Kernel kernel, int arg, ElementType type, std::string name, int tag) {
    Value value;
    value.op = Value::Op::kApply;
    value.type = type;
    value.kernel = {kernel, nullptr, nullptr};
    value.args = {arg};
    value.name = std::move(name);
    value.tag = tag;
    return builder_.add(std::move(value));
  }

  const Environment& environment_;
  const Nest& nest_;
  CodeBuilder builder_;
  IndexLowering indices_;
  std::unordered_map<const ScalarNode*, int> done_[2];
};

}  // namespace

void lower_roots(const Environment& environment, const Nest& nest, std::vector<Linear> images,
                 Code& code) {
  ScalarLowering lowering(environment, nest, std::move(images), code);
  for (const Scalar& body : nest.bodies) code.roots.push_back(lowering.lower(body, false));
  for (const Index& target : nest.targets) code.roots.push_back(lowering.lower(target));
}

namespace {

template <Int T>
T integer_of(const Literal& literal) {
  if (literal.kind() == Literal::Kind::kPositiveInfinity) return std::numeric_limits<T>::max();
  if (literal.kind() == Literal::Kind::kNegativeInfinity) return std::numeric_limits<T>::min();
  if (const auto exact = literal.to_int()) return static_cast<T>(*exact);
  if (literal.is_finite() && !literal.negative() && literal.denominator() == 1 &&
      literal.radicand() == 1 && literal.exponent() >= 0 && literal.exponent() < 64)
    return static_cast<T>(literal.numerator() << literal.exponent());
  return to_integer<T>(literal.to_double());
}

}  // namespace

std::array<std::byte, 8> constant_of(const Literal& literal, ElementType type, uint64_t seed) {
  std::array<std::byte, 8> bytes{};
  with_type(type, [&]<typename T>(T value) {
    if constexpr (kIsBool<T>)
      value = make_bool(!literal.is_zero());
    else if constexpr (kIsField<T>)
      value = field_of(literal, seed);
    else if constexpr (Int<T>)
      value = integer_of<T>(literal);
    else
      value = static_cast<T>(literal.to_double());
    std::memcpy(bytes.data(), &value, sizeof(T));
  });
  return bytes;
}

}  // namespace hone::vm
