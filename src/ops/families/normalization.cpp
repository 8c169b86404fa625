// Normalisations by statistics of the operand itself: layer, RMS, instance, group, mean-variance.
#include <numeric>

#include "ops/element_classes.h"
#include "ops/elementwise.h"
#include "ops/reduction.h"
#include "ops/table.h"

namespace hone {
namespace {

Literal epsilon_of(const OpContext& c) { return c.literal_attribute("epsilon", 1e-5F); }

// All axes from the node's axis on.
std::vector<int> trailing_axes(const OpContext& c) {
  require_rank(c, 0, 1);
  const int first = c.axis(c.int_attribute("axis", -1), c.rank(0));
  std::vector<int> axes(static_cast<size_t>(c.rank(0) - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// The type that statistics are computed in.
ElementType stash_type(const OpContext& c) {
  const ElementType type = c.type_attribute("stash_type", ElementType::kF32);
  if (!belongs(type, ElementClass::kFloat)) throw_invalid("stash_type is no floating type");
  return type;
}

// The kept axes, and an axis of extent 1 for each reduced one.
Axes with_ones(Builder& b, const ReductionAxes& over) {
  Axes result = over.kept;
  for (size_t i = 0; i < over.reduced.size(); ++i) {
    result.push_back(b.axis("one" + std::to_string(i), 1));
  }
  return result;
}

// mean, variance over the trailing axes; r = 1 / sqrt(variance + epsilon)
// y = (x - mean) r scale + bias; the further outputs are mean and r.
TensorExpr define_layer_normalization(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  const std::vector<int> axes = trailing_axes(c);
  require_broadcastable(c, 1, c.shape(0));
  if (c.has(2)) require_broadcastable(c, 2, c.shape(0));
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "bias"});
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const Scalar x = Scalar::cast(stash_type(c), in[0].at(over.all));
  const Operand mean = mean_over(b, "mean", over, x);
  const Operand variance = variance_over(b, over, x, mean);
  const Operand inverse = inverse_deviation(b, over.kept, variance, epsilon_of(c));
  const Scalar unit = (x - mean.at(over.kept)) * inverse.at(over.kept);
  Scalar y = Scalar::cast(c.type(0), unit) * read_broadcast(in[1], over.all, c.shape(0));
  if (c.has(2)) y = y + read_broadcast(in[2], over.all, c.shape(0));
  std::vector<Operand> outputs = {b.map("y", over.all, y)};
  if (c.output_count() > 1) {
    const Axes places = with_ones(b, over);
    outputs.push_back(b.map("mean_out", places, mean.at(over.kept)));
    if (c.output_count() > 2) {
      outputs.push_back(b.map("inverse_out", places, inverse.at(over.kept)));
    }
  }
  return b.finish(outputs);
}

// y = x / sqrt(mean of x^2 over the trailing axes + epsilon) scale, of the scale's type
TensorExpr define_rms_normalization(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_class(c, 1, ElementClass::kFloat);
  const std::vector<int> axes = trailing_axes(c);
  require_broadcastable(c, 1, c.shape(0));
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale"});
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const Scalar x = Scalar::cast(stash_type(c), in[0].at(over.all));
  const Operand square = mean_over(b, "square", over, x * x);
  const Operand inverse = inverse_deviation(b, over.kept, square, epsilon_of(c));
  const Scalar unit = Scalar::cast(in[1].type(), x * inverse.at(over.kept));
  return b.finish({b.map("y", over.all, unit * read_broadcast(in[1], over.all, c.shape(0)))});
}

// Per instance n and channel k: y = (x - mean) / sqrt(variance + epsilon) scale[k] + bias[k]
TensorExpr define_instance_normalization(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  require_rank(c, 0, 2);
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "bias"});
  for (size_t i = 1; i < 3; ++i) {
    if (c.rank(i) != 1) throw_invalid("scale and bias must be vectors");
    b.require_equal(c.dim(i, 0), c.dim(0, 1), "numbers of channels and parameters");
  }
  std::vector<int> axes(static_cast<size_t>(c.rank(0) - 2));
  std::iota(axes.begin(), axes.end(), 2);
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const ElementType wide = accumulator_of(c.type(0));
  const Scalar x = Scalar::cast(wide, in[0].at(over.all));
  const AxisId channel = over.all[1];
  const Operand mean = mean_over(b, "mean", over, x);
  const Operand variance = variance_over(b, over, x, mean);
  const Operand inverse = inverse_deviation(b, over.kept, variance, epsilon_of(c));
  const Scalar unit = (x - mean.at(over.kept)) * inverse.at(over.kept);
  const Scalar y = unit * Scalar::cast(wide, in[1](channel)) + Scalar::cast(wide, in[2](channel));
  return b.finish({b.map("y", over.all, Scalar::cast(c.type(0), y))});
}

// The same per group of size = C / num_groups channels; scale and bias belong to groups in opset
// 18, to channels since opset 21.
TensorExpr define_group_normalization(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  require_rank(c, 0, 2);
  const std::vector<Dim> named = c.dims_attribute("num_groups", {});
  if (named.size() != 1) throw_invalid("num_groups must be one integer");
  const Dim& groups = named[0];
  if (groups.is_const() && groups.value() < 1) throw_invalid("num_groups must be positive");
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "bias"});
  const Dim channels = c.dim(0, 1);
  const Dim size = floor_div(channels, groups);
  b.require_equal(size * groups, channels, "channels and groups times channels of each");
  const bool by_channel = c.opset() >= 21;
  for (size_t i = 1; i < 3; ++i) {
    if (c.rank(i) != 1) throw_invalid("scale and bias must be vectors");
    b.require_equal(c.dim(i, 0), by_channel ? channels : groups, "extents of the parameters");
  }

  // x seen as [n, group, member, places..]
  Shape split = c.shape(0);
  split[1] = groups;
  split.insert(split.begin() + 2, size);
  std::vector<int> axes(split.size() - 2);
  std::iota(axes.begin(), axes.end(), 2);
  const ReductionAxes over = split_axes(b, split, axes);
  std::vector<Index> member = {over.all[0], Index(over.all[1]) * size + over.all[2]};
  member.insert(member.end(), over.all.begin() + 3, over.all.end());
  const ElementType wide = c.opset() >= 21 ? stash_type(c) : accumulator_of(c.type(0));
  const Scalar grouped = Scalar::cast(wide, in[0].at(std::move(member)));
  const Operand mean = mean_over(b, "mean", over, grouped);
  const Operand variance = variance_over(b, over, grouped, mean);
  const Operand inverse = inverse_deviation(b, over.kept, variance, epsilon_of(c));

  const Axes at = b.axes("i", c.shape(0));
  const Index group = floor_div(Index(at[1]), size);
  const Index parameter = by_channel ? Index(at[1]) : group;
  const Scalar x = Scalar::cast(wide, in[0].at(at));
  const Scalar unit = (x - mean(at[0], group)) * inverse(at[0], group);
  const Scalar y = Scalar::cast(c.type(0), unit) * in[1](parameter) + in[2](parameter);
  return b.finish({b.map("y", at, y)});
}

// y = (x - mean) / (sqrt(variance) + 1e-9) over the named axes
TensorExpr define_mean_variance(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand in = c.declare(b, {"x"})[0];
  const std::vector<int> axes = c.axes(c.ints_attribute("axes", {0, 2, 3}), c.rank(0));
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const Scalar x = Scalar::cast(accumulator_of(c.type(0)), in.at(over.all));
  const Operand mean = mean_over(b, "mean", over, x);
  const Operand variance = variance_over(b, over, x, mean);
  const Literal tiny = Literal::of_double(1e-9F);
  const Operand deviation = b.map("deviation", over.kept, sqrt(variance.at(over.kept)) + tiny);
  const Scalar y = (x - mean.at(over.kept)) / deviation.at(over.kept);
  return b.finish({b.map("y", over.all, Scalar::cast(c.type(0), y))});
}

}  // namespace

void register_normalization(OperatorTable& table) {
  table.add({.name = "LayerNormalization",
             .since = 17,
             .doc = "Mean 0 and variance 1 over the trailing axes, then scaled and biased.",
             .inputs = "x, scale, bias?",
             .outputs = "y, mean?, inverse_deviation?",
             .attributes = "axis: int = -1, epsilon: float = 1e-05, stash_type: type = 1",
             .define = define_layer_normalization,
             .example = "LayerNormalization(x: f32[2, 3, 4], scale: f32[4], bias: f32[4])"});
  table.add({.name = "RMSNormalization",
             .since = 23,
             .doc = "Mean square 1 over the trailing axes, then scaled.",
             .inputs = "x, scale",
             .attributes = "axis: int = -1, epsilon: float = 1e-05, stash_type: type = 1",
             .define = define_rms_normalization,
             .example = "RMSNormalization(x: f32[2, 3, 4], scale: f32[4])"});
  table.add({.name = "InstanceNormalization",
             .doc = "Mean 0 and variance 1 for each instance and channel, then scaled and biased.",
             .inputs = "x, scale, bias",
             .attributes = "epsilon: float = 1e-05",
             .define = define_instance_normalization,
             .example = "InstanceNormalization(x: f32[2, 3, 4], scale: f32[3], bias: f32[3])"});
  table.add({.name = "GroupNormalization",
             .since = 18,
             .doc = "Mean 0 and variance 1 for each instance and group of channels, then scaled.",
             .inputs = "x, scale, bias",
             .attributes = "num_groups: int, epsilon: float = 1e-05, stash_type: type = 1",
             .define = define_group_normalization,
             .example = "GroupNormalization(x: f32[2, 4, 5], scale: f32[4], bias: f32[4]) "
                        "{num_groups = 2}"});
  table.add({.name = "MeanVarianceNormalization",
             .since = 9,
             .doc = "Mean 0 and variance 1 over the named axes.",
             .inputs = "x",
             .attributes = "axes: ints = [0, 2, 3]",
             .define = define_mean_variance,
             .example = "MeanVarianceNormalization(x: f32[2, 3, 4, 5])"});
}

}  // namespace hone
