// BatchNormalization, in inference and training, of every opset.
#include <algorithm>

#include "ops/element_classes.h"
#include "ops/reduction.h"
#include "ops/table.h"

namespace hone {
namespace {

// The axes of x that are averaged over: all but the channels, axis 1; with spatial = 0, which
// opset 9 dropped, the batch axis alone.
std::vector<int> batch_axes(const OpContext& c) {
  const bool spatial = c.opset() >= 9 || c.int_attribute("spatial", 1) != 0;
  std::vector<int> result = {0};
  for (int i = 2; spatial && i < c.rank(0); ++i) result.push_back(i);
  return result;
}

bool is_training(const OpContext& c) {
  if (c.opset() >= 14) return c.int_attribute("training_mode", 0) != 0;
  return c.opset() < 7 ? c.int_attribute("is_test", 0) == 0 : c.output_count() > 1;
}

// Parameters have an element for each place of the kept axes; a vector x has a single channel.
void check_parameters(Builder& b, const OpContext& c, const Axes& kept) {
  for (size_t i = 1; i < 5; ++i) {
    const Shape& have = c.shape(i);
    if (have.size() != std::max<size_t>(kept.size(), 1)) {
      throw_invalid("operand " + std::to_string(i) + " of BatchNormalization has shape " +
                    to_string(have) + ", which does not fit x of shape " + to_string(c.shape(0)));
    }
    for (size_t k = 0; k < have.size(); ++k) {
      b.require_equal(have[k], kept.empty() ? Dim(1) : b.extent(kept[k]),
                      "numbers of channels and parameters");
    }
  }
}

// factor = scale / sqrt(variance + epsilon)
// y      = (x - mean) factor + bias
//
// In training, mean and variance are those of x, and move the running ones:
// running = running momentum + current (1 - momentum)
TensorExpr define_batch_normalization(OpContext& c) {
  for (size_t i = 0; i < 5; ++i) require_class(c, i, ElementClass::kFloat);
  require_rank(c, 0, 1);
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "bias", "mean", "variance"});
  const ReductionAxes over = split_axes(b, c.shape(0), batch_axes(c));
  check_parameters(b, c, over.kept);
  const ElementType type = c.type(0);
  const ElementType wide = accumulator_of(type);
  const Scalar x = Scalar::cast(wide, in[0].at(over.all));
  const auto parameter = [&](size_t i) {
    return Scalar::cast(wide, over.kept.empty() ? in[i](0) : in[i].at(over.kept));
  };

  const bool training = is_training(c);
  Scalar mean = parameter(3);
  Scalar variance = parameter(4);
  if (training) {
    const Operand batch_mean = mean_over(b, "batch_mean", over, x);
    mean = batch_mean.at(over.kept);
    variance = variance_over(b, over, x, batch_mean).at(over.kept);
  }
  const Literal epsilon = c.literal_attribute("epsilon", 1e-5F);
  const Operand factor = b.map("factor", over.kept, parameter(1) / sqrt(variance + epsilon));
  const Scalar y = (x - mean) * factor.at(over.kept) + parameter(2);
  std::vector<Operand> outputs = {b.map("y", over.all, Scalar::cast(type, y))};
  if (!training) return b.finish(outputs);

  const Axes places = over.kept.empty() ? Axes{b.axis("one", 1)} : over.kept;
  const Literal momentum = c.literal_attribute("momentum", 0.9F);
  const auto running = [&](const char* name, size_t i, const Scalar& current) {
    const Scalar moved = parameter(i) * momentum + current * (number(current, 1) - momentum);
    return b.map(name, places, Scalar::cast(in[i].type(), moved));
  };
  outputs.push_back(running("running_mean", 3, mean));
  outputs.push_back(running("running_variance", 4, variance));
  if (c.opset() < 14) {
    outputs.push_back(b.map("saved_mean", places, Scalar::cast(in[3].type(), mean)));
    outputs.push_back(b.map("saved_variance", places, Scalar::cast(in[4].type(), variance)));
  }
  outputs.resize(std::clamp<size_t>(c.output_count(), 1, outputs.size()));
  return b.finish(outputs);
}

}  // namespace

void register_batch_norm(OperatorTable& table) {
  table.add({.name = "BatchNormalization",
             .doc = "Each channel shifted by its mean, divided by its deviation, scaled, biased.",
             .inputs = "x, scale, bias, mean, variance",
             .outputs = "y, running_mean?, running_variance?, saved_mean?, saved_variance?",
             .attributes = "epsilon: float = 1e-05, momentum: float = 0.9, spatial: int = 1, "
                           "training_mode: int = 0",
             .define = define_batch_normalization,
             .example = "BatchNormalization(x: f32[2, 3, 4], scale: f32[3], bias: f32[3], "
                        "mean: f32[3], variance: f32[3])"});
}

}  // namespace hone
