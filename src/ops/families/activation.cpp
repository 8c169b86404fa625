// Activation functions: y[i..] = f(x[i..]), with scalar attributes.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/table.h"

namespace hone {
namespace {

struct ActivationRow {
  const char* name;
  int since;
  const char* attributes;
  const char* doc;
  Scalar (*body)(const OpContext& c, const Scalar& x);
};

Scalar leaky_relu(const OpContext& c, const Scalar& x) {
  return select(less(x, 0), x * c.literal_attribute("alpha", 0.01F), x);
}

Scalar elu(const OpContext& c, const Scalar& x) {
  return select(less(x, 0), apply(Fn::kExpm1, x) * c.literal_attribute("alpha", 1), x);
}

Scalar selu(const OpContext& c, const Scalar& x) {
  const Literal alpha = c.literal_attribute("alpha", 1.67326319217681884765625F);
  const Literal gamma = c.literal_attribute("gamma", 1.05070102214813232421875F);
  return select(less_equal(x, 0), apply(Fn::kExpm1, x) * alpha, x) * gamma;
}

Scalar celu(const OpContext& c, const Scalar& x) {
  const Literal alpha = c.literal_attribute("alpha", 1);
  return max(x, 0) + min(apply(Fn::kExpm1, x / alpha) * alpha, 0);
}

Scalar gelu(const OpContext& c, const Scalar& x) {
  const std::string approximate = c.string_attribute("approximate", "none");
  const Literal half = Literal::rational(1, 2);
  if (approximate == "none") {
    return x * half * (Literal(1) + erf(x * Literal::square_root(half)));
  }
  if (approximate != "tanh") {
    throw_invalid("approximate = \"" + approximate + "\" is neither \"none\" nor \"tanh\"");
  }
  const Literal root = Literal::of_double(std::sqrt(2 / std::acos(-1.0)));
  const Scalar cubic = x + x * x * x * Literal::rational(44715, 1000000);
  return x * half * (Literal(1) + tanh(cubic * root));
}

Scalar hard_sigmoid(const OpContext& c, const Scalar& x) {
  const Literal alpha = c.literal_attribute("alpha", 0.2F);
  return clamp(x * alpha + c.literal_attribute("beta", 0.5F), 0, 1);
}

Scalar hard_swish(const OpContext&, const Scalar& x) {
  return x * clamp(x * Literal::rational(1, 6) + Literal::rational(1, 2), 0, 1);
}

Scalar thresholded_relu(const OpContext& c, const Scalar& x) {
  return select(less(number(x, c.literal_attribute("alpha", 1)), x), x, 0);
}

const ActivationRow kRows[] = {
    {"LeakyRelu", 1, "alpha: float = 0.01", "x, or alpha x where x < 0.", leaky_relu},
    {"Elu", 1, "alpha: float = 1", "x, or alpha (exp x - 1) where x < 0.", elu},
    {"Selu", 1, "alpha: float = 1.6732632, gamma: float = 1.050701",
     "gamma x, or gamma alpha (exp x - 1) where x <= 0.", selu},
    {"Celu", 12, "alpha: float = 1", "max(0, x) + min(0, alpha (exp(x / alpha) - 1)).", celu},
    {"Gelu", 20, "approximate: string = \"none\"", "x P(X <= x) for a standard normal X.", gelu},
    {"Sigmoid", 1, "", "1 / (1 + exp(-x)).",
     [](const OpContext&, const Scalar& x) { return sigmoid(x); }},
    {"HardSigmoid", 1, "alpha: float = 0.2, beta: float = 0.5",
     "alpha x + beta, clamped to [0, 1].", hard_sigmoid},
    {"HardSwish", 14, "", "x times (x / 6 + 1 / 2 clamped to [0, 1]).", hard_swish},
    {"Mish", 18, "", "x tanh(log(1 + exp x)).",
     [](const OpContext&, const Scalar& x) { return x * tanh(softplus(x)); }},
    {"Softplus", 1, "", "log(1 + exp x).",
     [](const OpContext&, const Scalar& x) { return softplus(x); }},
    {"Softsign", 1, "", "x / (1 + |x|).",
     [](const OpContext&, const Scalar& x) { return x / (Literal(1) + abs(x)); }},
    {"ThresholdedRelu", 10, "alpha: float = 1", "x where x > alpha, else 0.", thresholded_relu},
    {"Swish", 24, "alpha: float = 1", "x / (1 + exp(-alpha x)).",
     [](const OpContext& c, const Scalar& x) {
       return x * sigmoid(x * c.literal_attribute("alpha", 1));
     }},
};

// y = x + bias where x < -lambd, x - bias where x > lambd, else 0. Integers are compared with the
// fractional bounds exactly, and the result is cut to an integer.
Scalar shrink(const OpContext& c, const Scalar& x) {
  const Literal bias = c.literal_attribute("bias", 0);
  const Literal lambda = c.literal_attribute("lambd", 0.5F);
  const Scalar v = is_float(x.type()) ? x : Scalar::cast(ElementType::kF64, x);
  const Scalar shrunk =
      select(less(v, lambda.negated()), v + bias, select(less(number(v, lambda), v), v - bias, 0));
  return is_float(x.type()) ? shrunk : Scalar::cast(x.type(), shrunk);
}

// y = min(max(x, low), high), the bounds being scalar operands since opset 11.
TensorExpr define_clip(OpContext& c) {
  require_class(c, 0, c.opset() < 11 ? ElementClass::kFloat : ElementClass::kNumber);
  require_same_types(c);
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "low", "high"});
  const Axes axes = b.axes("i", c.shape(0));
  Scalar y = in[0].at(axes);
  if (c.opset() < 11) {
    if (c.has_attribute("min")) y = max(y, c.literal_attribute("min", 0));
    if (c.has_attribute("max")) y = min(y, c.literal_attribute("max", 0));
  }
  if (c.has(1)) y = max(y, read_single(in[1]));
  if (c.has(2)) y = min(y, read_single(in[2]));
  return b.finish({b.map("y", axes, y)});
}

// y = x, or slope x where x < 0; the slope broadcasts to x.
TensorExpr define_prelu(OpContext& c) {
  require_class(c, 0, ElementClass::kNumber);
  require_same_types(c);
  require_broadcastable(c, 1, c.shape(0));
  return elementwise(c, 2, [](const auto& x) { return select(less(x[0], 0), x[0] * x[1], x[0]); });
}

}  // namespace

void register_activation(OperatorTable& table) {
  for (const ActivationRow& row : kRows) {
    table.add({.name = row.name,
               .since = row.since,
               .doc = row.doc,
               .inputs = "x",
               .attributes = row.attributes,
               .define =
                   [body = row.body](OpContext& c) {
                     require_class(c, 0, ElementClass::kFloat);
                     return elementwise(c, 1, [&](const auto& x) { return body(c, x[0]); });
                   },
               .example = std::string(row.name) + "(x: f32[2, 3])"});
  }
  table.add({.name = "Relu",
             .doc = "max(x, 0).",
             .inputs = "x",
             .define =
                 [](OpContext& c) {
                   require_class(c, 0, ElementClass::kSigned);
                   return elementwise(c, 1, [](const auto& x) { return max(x[0], 0); });
                 },
             .example = "Relu(x: f32[2, 3])"});
  table.add({.name = "Shrink",
             .since = 9,
             .doc = "x moved toward 0 by bias, and 0 where |x| <= lambd.",
             .inputs = "x",
             .attributes = "bias: float = 0, lambd: float = 0.5",
             .define =
                 [](OpContext& c) {
                   require_class(c, 0, ElementClass::kNumber);
                   return elementwise(c, 1, [&](const auto& x) { return shrink(c, x[0]); });
                 },
             .example = "Shrink(x: f32[2, 3]) {bias = 1.5, lambd = 1.5}"});
  table.add({.name = "Clip",
             .doc = "Each element, brought into an interval.",
             .inputs = "x, low?, high?",
             .attributes = "min: float, max: float",
             .define = define_clip,
             .example = "Clip(x: f32[2, 3], low: f32[], high: f32[])"});
  table.add({.name = "PRelu",
             .doc = "x, or slope x where x < 0.",
             .inputs = "x, slope",
             .define = define_prelu,
             .example = "PRelu(x: f32[2, 3, 4], slope: f32[3, 1])"});
}

}  // namespace hone
