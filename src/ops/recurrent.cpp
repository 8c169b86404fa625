#include "ops/recurrent.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "ops/arithmetic.h"
#include "ops/elementwise.h"

namespace hone {
namespace {

struct ActivationKind {
  const char* name;
  std::optional<float> alpha, beta;  // defaults of the parameters that it has
  Scalar (*apply)(const Scalar& x, const Literal& alpha, const Literal& beta);
};

const ActivationKind kActivations[] = {
    {"relu", {}, {}, [](const Scalar& x, const Literal&, const Literal&) { return max(x, 0); }},
    {"tanh", {}, {}, [](const Scalar& x, const Literal&, const Literal&) { return tanh(x); }},
    {"sigmoid", {}, {}, [](const Scalar& x, const Literal&, const Literal&) { return sigmoid(x); }},
    {"affine", 1.0F, 0.0F,
     [](const Scalar& x, const Literal& alpha, const Literal& beta) { return x * alpha + beta; }},
    {"leakyrelu",
     0.01F,
     {},
     [](const Scalar& x, const Literal& alpha, const Literal&) {
       return select(less(x, 0), x * alpha, x);
     }},
    {"thresholdedrelu",
     1.0F,
     {},
     [](const Scalar& x, const Literal& alpha, const Literal&) {
       return select(less_equal(x, alpha), 0, x);
     }},
    {"scaledtanh", 1.0F, 1.0F,
     [](const Scalar& x, const Literal& alpha, const Literal& beta) {
       return tanh(x * beta) * alpha;
     }},
    {"hardsigmoid", 0.2F, 0.5F,
     [](const Scalar& x, const Literal& alpha, const Literal& beta) {
       return min(max(x * alpha + beta, 0), 1);
     }},
    {"elu",
     1.0F,
     {},
     [](const Scalar& x, const Literal& alpha, const Literal&) {
       return select(less(x, 0), (exp(x) - 1) * alpha, x);
     }},
    {"softsign",
     {},
     {},
     [](const Scalar& x, const Literal&, const Literal&) { return x / (abs(x) + 1); }},
    {"softplus",
     {},
     {},
     [](const Scalar& x, const Literal&, const Literal&) { return softplus(x); }},
};

const ActivationKind& find_activation(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const ActivationKind& kind : kActivations)
    if (name == kind.name) return kind;
  throw_invalid("unknown activation " + name);
}

// Takes the next value of a list, or the default.
Literal next_parameter(const std::optional<float>& otherwise, const std::vector<float>& values,
                       size_t& used) {
  if (!otherwise) return {0};
  return Literal::of_double(used < values.size() ? values[used++] : *otherwise);
}

}  // namespace

std::vector<Activation> activations_of(const OpContext& c, size_t directions,
                                       const std::vector<std::string>& defaults) {
  std::vector<std::string> names;
  if (const auto at = c.attributes().find("activations"); at != c.attributes().end()) {
    const auto* given = std::get_if<std::vector<std::string>>(&at->second);
    if (given == nullptr) throw_invalid("attribute activations is not a list of strings");
    names = *given;
  }
  while (names.size() < directions * defaults.size()) {
    // One direction's list serves both.
    names.push_back(names.size() >= defaults.size() ? names[names.size() - defaults.size()]
                                                    : defaults[names.size()]);
  }
  const std::vector<float> alphas = c.floats_attribute("activation_alpha", {});
  const std::vector<float> betas = c.floats_attribute("activation_beta", {});
  const bool clipped = c.has_attribute("clip");
  const float limit = c.float_attribute("clip", 0);
  if (clipped && !(limit >= 0)) throw_invalid("clip is negative");
  std::vector<Activation> result;
  size_t alphas_used = 0;
  size_t betas_used = 0;
  for (size_t i = 0; i < directions * defaults.size(); ++i) {
    const ActivationKind& kind = find_activation(names[i]);
    const Literal alpha = next_parameter(kind.alpha, alphas, alphas_used);
    const Literal beta = next_parameter(kind.beta, betas, betas_used);
    const Literal high = Literal::of_double(limit);
    result.emplace_back([apply = kind.apply, alpha, beta, clipped, high](const Scalar& x) {
      return apply(clipped ? clamp(x, high.negated(), high) : x, alpha, beta);
    });
  }
  return result;
}

Recurrence::Recurrence(const OpContext& c, Builder& builder, std::vector<Operand> operands,
                       size_t gates)
    : b(builder), x(std::move(operands)), type(c.type(0)), gates_(gates) {
  x.resize(8);
  require_class(c, 0, ElementClass::kFloat);
  for (size_t i = 1; i < c.input_count(); ++i)
    if (c.has(i) && i != 4 && c.type(i) != type)
      throw_invalid("input " + std::to_string(i) + " is of another type than the first");
  const std::string direction = c.string_attribute("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    throw_invalid("direction = " + direction, "forward, reverse or bidirectional is meant");
  directions = direction == "bidirectional" ? 2 : 1;
  reverse_first = direction == "reverse";
  batch_first = c.int_attribute("layout", 0) != 0;
  require_axes(c, 0, "x", 3);
  require_axes(c, 1, "w", 3);
  require_axes(c, 2, "r", 3);
  steps = c.dim(0, batch_first ? 1 : 0);
  batch = c.dim(0, batch_first ? 0 : 1);
  inputs = c.dim(0, 2);
  hidden = c.dim(2, 2);

  const Dim both(static_cast<int64_t>(directions));
  const Dim rows = hidden * Dim(static_cast<int64_t>(gates));
  const auto require_shape = [&](size_t i, const Shape& wanted) {
    if (!c.has(i)) return;
    const std::string what = "input " + std::to_string(i);
    require_axes(c, i, what, static_cast<int>(wanted.size()));
    for (size_t axis = 0; axis < wanted.size(); ++axis)
      b.require_equal(c.shape(i)[axis], wanted[axis],
                      "extents of " + what + " on axis " + std::to_string(axis));
  };
  require_shape(1, {both, rows, inputs});
  require_shape(2, {both, rows, hidden});
  require_shape(3, {both, rows * 2});
  require_shape(4, {batch});
  const Shape state = batch_first ? Shape{batch, both, hidden} : Shape{both, batch, hidden};
  require_shape(5, state);
  require_shape(6, state);
  require_shape(7, {both, hidden * 3});
  if (c.has(4) && !is_integer(c.type(4))) throw_invalid("sequence_lens must be integers");
  if (c.has_attribute("hidden_size"))
    b.require_equal(hidden, c.dims_attribute("hidden_size", {}).at(0),
                    "hidden_size and the extent of r");
  n = b.axis("n", batch);
  h = b.axis("h", hidden);
}

Operand Recurrence::initial(size_t i, size_t direction, const std::string& name) const {
  const auto d = static_cast<int64_t>(direction);
  if (!x[i].valid()) return b.map(name, {n, h}, Scalar::literal(type, 0));
  return b.map(name, {n, h}, batch_first ? x[i](n, d, h) : x[i](d, n, h));
}

Scalar Recurrence::recurrent_bias(size_t direction, const Index& gate) const {
  if (!x[3].valid()) return Scalar::literal(type, 0);
  const Dim rows = hidden * Dim(static_cast<int64_t>(gates_));
  return x[3](static_cast<int64_t>(direction), gate + Index(rows));
}

Operand Recurrence::input_part(size_t direction, const Dim& recurrent_bias_until) const {
  const auto d = static_cast<int64_t>(direction);
  const Dim rows = hidden * Dim(static_cast<int64_t>(gates_));
  const AxisId t = b.axis("t", steps);
  const AxisId g = b.axis("g", rows);
  const AxisId i = b.axis("i", inputs);
  const Scalar read = batch_first ? x[0](n, t, i) : x[0](t, n, i);
  const Operand product = b.reduce("x_part", {t, n, g}, Combiner::kSum, {i}, read * x[1](d, g, i));
  if (!x[3].valid()) return product;
  const Scalar both =
      select(less(Index(g), Index(recurrent_bias_until)), recurrent_bias(direction, g), Literal(0));
  return b.map("x_biased", {t, n, g}, product(t, n, g) + x[3](d, g) + both);
}

Operand Recurrence::recurrent_part(size_t direction, const Operand& state, const Dim& first,
                                   const Dim& count, const std::string& name) const {
  const AxisId g = b.axis("g", count);
  const AxisId k = b.axis("k", hidden);
  return b.reduce(name, {n, g}, Combiner::kSum, {k},
                  state(n, k) * x[2](static_cast<int64_t>(direction), Index(g) + Index(first), k));
}

Index Recurrence::time_of(size_t direction, AxisId step) const {
  if (!reversed(direction)) return step;
  const Index length = x[4].valid() ? Index::value(x[4](n)) : Index(steps);
  return length - Index(1) - Index(step);
}

Scalar Recurrence::running(AxisId step) const {
  if (!x[4].valid()) return {};
  return less(Index(step), Index::value(x[4](n)));
}

Scalar Recurrence::read_part(const Operand& part, size_t direction, AxisId step,
                             const Index& row) const {
  const std::vector<Index> at = {time_of(direction, step), n, row};
  return x[4].valid() && reversed(direction) ? part.at_or(at, 0) : part.at(at);
}

Scalar Recurrence::held(AxisId step, const Scalar& next, const Scalar& state) const {
  const Scalar still = running(step);
  return still.valid() ? select(still, next, state) : next;
}

namespace {

// The value for the direction that axis d counts.
Scalar choose(const std::vector<Scalar>& values, AxisId d) {
  return values.size() == 1 ? values[0] : select(less(Index(d), Index(1)), values[0], values[1]);
}

}  // namespace

Operand Recurrence::join_steps(const std::vector<Operand>& collected) const {
  const AxisId t = b.axis("t", steps);
  const AxisId d = b.axis("d", Dim(static_cast<int64_t>(directions)));
  std::vector<Scalar> values;
  for (size_t direction = 0; direction < directions; ++direction) {
    // Reversing is its own inverse: time t was step time_of(t).
    const Operand& from = collected[direction];
    const Scalar still = running(t);
    Scalar value = from(time_of(direction, t), n, h);
    if (still.valid()) value = select(still, value, Literal(0));
    values.push_back(value);
  }
  return b.map("y", batch_first ? Axes{n, t, d, h} : Axes{t, d, n, h}, choose(values, d));
}

Operand Recurrence::join_final(const std::vector<Operand>& finals, const std::string& name) const {
  const AxisId d = b.axis("d", Dim(static_cast<int64_t>(directions)));
  std::vector<Scalar> values;
  for (const Operand& final : finals) values.push_back(final(n, h));
  return b.map(name, batch_first ? Axes{n, d, h} : Axes{d, n, h}, choose(values, d));
}

}  // namespace hone
