// Random numbers: seeded, the same in every run of the reference engine.
#include <bit>
#include <cmath>
#include <numbers>

#include "ops/kernels.h"
#include "ops/table.h"
#include "support/hash.h"

namespace hone {
namespace {

class Random {
 public:
  explicit Random(const OpContext& c)
      : state_(mix_hash(std::bit_cast<uint32_t>(c.float_attribute("seed", 0)) + 1ULL)) {}
  double uniform() {  // [0, 1)
    state_ += 0x9e3779b97f4a7c15U;
    return static_cast<double>(mix_hash(state_) >> 11) * 0x1p-53;
  }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

template <typename Draw>
Buffer filled(ElementType type, std::vector<int64_t> dims, Draw draw) {
  std::vector<double> values(static_cast<size_t>(Buffer::allocate(type, dims).count()));
  for (double& value : values) value = draw();
  return of_doubles(type, std::move(dims), values);
}

ElementType result_type(const OpContext& c) {
  const bool like = c.input_count() > 0;
  const ElementType type = c.type_attribute("dtype", like ? c.type(0) : ElementType::kF32);
  if (!is_float(type)) throw_invalid("random numbers of type " + std::string(name_of(type)));
  return type;
}

std::vector<int64_t> result_dims(const OpContext& c, std::span<const Buffer> inputs) {
  if (!inputs.empty()) return input(inputs, 0).dims();
  const std::vector<int64_t> dims = c.ints_attribute("shape", {});
  (void)checked_count(dims);
  return dims;
}

std::vector<Buffer> run_uniform(const OpContext& c, std::span<const Buffer> inputs) {
  Random random(c);
  const double low = c.float_attribute("low", 0);
  const double high = c.float_attribute("high", 1);
  return {filled(result_type(c), result_dims(c, inputs),
                 [&] { return low + (high - low) * random.uniform(); })};
}

std::vector<Buffer> run_normal(const OpContext& c, std::span<const Buffer> inputs) {
  Random random(c);
  const double mean = c.float_attribute("mean", 0);
  const double scale = c.float_attribute("scale", 1);
  return {filled(result_type(c), result_dims(c, inputs),
                 [&] { return mean + scale * random.normal(); })};
}

std::vector<TensorType> infer_random(OpContext& c) {
  if (c.input_count() > 0) return {{result_type(c), c.shape(0)}};
  return {{result_type(c), to_shape(c.ints_attribute("shape", {}))}};
}

std::vector<Buffer> run_bernoulli(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& p = input(inputs, 0);
  Random random(c);
  int64_t i = 0;
  return {filled(c.type_attribute("dtype", p.type()), p.dims(),
                 [&] { return random.uniform() < p.as_double(i++) ? 1.0 : 0.0; })};
}

// Row by row, samples of the classes with probabilities exp(x) / sum exp(x).
std::vector<Buffer> run_multinomial(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  const int64_t samples = c.int_attribute("sample_size", 1);
  if (x.rank() != 2 || !is_float(x.type()) || x.dims()[1] < 1 || samples < 0)
    throw_invalid("the input must be [batch, classes], the sample size not negative");
  Random random(c);
  std::vector<double> values;
  for (int64_t n = 0; n < x.dims()[0]; ++n) {
    const auto at = [&](int64_t k) { return x.as_double(n * x.dims()[1] + k); };
    double most = at(0);
    for (int64_t k = 1; k < x.dims()[1]; ++k) most = std::max(most, at(k));
    std::vector<double> sums;
    double sum = 0;
    for (int64_t k = 0; k < x.dims()[1]; ++k) sums.push_back(sum += std::exp(at(k) - most));
    for (int64_t s = 0; s < samples; ++s) {
      const double drawn = random.uniform() * sum;
      int64_t k = 0;
      while (k + 1 < x.dims()[1] && sums[static_cast<size_t>(k)] <= drawn) ++k;
      values.push_back(static_cast<double>(k));
    }
  }
  return {of_doubles(c.type_attribute("dtype", ElementType::kI32), {x.dims()[0], samples}, values)};
}

OperatorDef random_operator(OperatorDef def) {
  def.opaque_reason = "random numbers have no expression form";
  def.deterministic = false;
  if (!def.infer) def.infer = infer_random;
  return def;
}

}  // namespace

void register_random(OperatorTable& table) {
  table.add(random_operator({.name = "RandomUniform",
                             .doc = "Random numbers, uniform between low and high.",
                             .attributes = "shape: ints, dtype: int = 1, low: float = 0, "
                                           "high: float = 1, seed: float",
                             .kernel = run_uniform,
                             .example = "RandomUniform() {shape = [2, 3], seed = 1.0}"}));
  table.add(random_operator({.name = "RandomUniformLike",
                             .doc = "Random numbers, uniform, in the shape of the input.",
                             .inputs = "x",
                             .attributes = "dtype: int, low: float = 0, high: float = 1, "
                                           "seed: float",
                             .kernel = run_uniform,
                             .example = "RandomUniformLike(x: f32[2, 3])"}));
  table.add(random_operator({.name = "RandomNormal",
                             .doc = "Random numbers of a normal distribution.",
                             .attributes = "shape: ints, dtype: int = 1, mean: float = 0, "
                                           "scale: float = 1, seed: float",
                             .kernel = run_normal,
                             .example = "RandomNormal() {shape = [4], scale = 0.5}"}));
  table.add(random_operator({.name = "RandomNormalLike",
                             .doc = "Normally distributed numbers in the shape of the input.",
                             .inputs = "x",
                             .attributes = "dtype: int, mean: float = 0, scale: float = 1, "
                                           "seed: float",
                             .kernel = run_normal,
                             .example = "RandomNormalLike(x: f32[2, 3]) {mean = 1.0}"}));
  table.add(random_operator({.name = "Bernoulli",
                             .since = 15,
                             .doc = "Ones with the given probabilities, zeros else.",
                             .inputs = "x",
                             .attributes = "dtype: int, seed: float",
                             .kernel = run_bernoulli,
                             .infer =
                                 [](OpContext& c) {
                                   return std::vector<TensorType>{
                                       {c.type_attribute("dtype", c.type(0)), c.shape(0)}};
                                 },
                             .example = "Bernoulli(x: f32[2, 3])"}));
  table.add(random_operator({.name = "Multinomial",
                             .since = 7,
                             .doc = "Samples of classes by their unnormalised log-probabilities.",
                             .inputs = "x",
                             .attributes = "dtype: int = 6, sample_size: int = 1, seed: float",
                             .kernel = run_multinomial,
                             .infer =
                                 [](OpContext& c) {
                                   if (c.rank(0) != 2)
                                     throw_invalid("the input must be [batch, classes]");
                                   return std::vector<TensorType>{
                                       {c.type_attribute("dtype", ElementType::kI32),
                                        Shape{c.dim(0, 0), c.int_attribute("sample_size", 1)}}};
                                 },
                             .example = "Multinomial(x: f32[2, 4]) {sample_size = 3}"}));
}

}  // namespace hone
