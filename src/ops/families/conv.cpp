// Convolutions: Conv, ConvInteger, QLinearConv.
#include "ops/arithmetic.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace hone {
namespace {

constexpr const char* kConvAttributes =
    "auto_pad: string = \"NOTSET\", dilations: ints, group: int = 1, kernel_shape: ints, "
    "pads: ints, strides: ints";

// Axes of a convolution of x [N, C, ..] with w [K, C/group, ..].
struct Convolution {
  Windows windows;
  Axes output;              // n, k, then one axis for each spatial one
  Axes reduced;             // c, then the taps
  std::vector<Index> x, w;  // where the operands are read
  [[nodiscard]] AxisId channel() const { return output[1]; }
};

Convolution convolution_of(const OpContext& c, Builder& b, size_t x_input, size_t w_input) {
  const Shape x = c.shape(x_input);
  const Shape w = c.shape(w_input);
  const Shape spatial = spatial_extents(c, x_input);
  if (w.size() != x.size())
    throw_invalid("the weights have " + std::to_string(w.size()) + " axes, the input " +
                  std::to_string(x.size()));
  const std::vector<Dim> kernel(w.begin() + 2, w.end());
  const std::vector<Dim> declared = c.dims_attribute("kernel_shape", kernel);
  if (declared.size() != kernel.size()) throw_invalid("kernel_shape has the wrong length");
  for (size_t i = 0; i < kernel.size(); ++i)
    b.require_equal(kernel[i], declared[i], "kernel_shape and the extents of the weights");
  const Dim group = spatial_attribute(c, "group", 1, 1, 1)[0];
  b.require_equal(x[1], w[1] * group, "channels of the input and of the weights times group");
  const Dim group_size = floor_div(w[0], group);
  b.require_equal(w[0], group_size * group, "output channels and a multiple of group");

  Convolution conv;
  conv.windows = windows_of(c, spatial, kernel);
  const AxisId n = b.axis("n", x[0]);
  const AxisId k = b.axis("k", w[0]);
  const AxisId channel = b.axis("c", w[1]);
  const Axes window = b.axes("o", conv.windows.output);
  const Axes taps = b.axes("r", kernel);
  conv.output = {n, k};
  conv.output.insert(conv.output.end(), window.begin(), window.end());
  conv.reduced = {channel};
  conv.reduced.insert(conv.reduced.end(), taps.begin(), taps.end());

  // Output channel k belongs to group k / group_size, which reads w[1] channels of its own.
  const Index first =
      group.is(1) || group_size.is(0) ? Index(0) : floor_div(Index(k), group_size) * w[1];
  conv.x = {n, first + Index(channel)};
  for (Index& index : conv.windows.positions(window, taps)) conv.x.push_back(std::move(index));
  conv.w = {k, channel};
  conv.w.insert(conv.w.end(), taps.begin(), taps.end());
  return conv;
}

Operand convolve(Builder& b, const Convolution& conv, const Operand& x, const Operand& w,
                 std::string name) {
  const Scalar read = conv.windows.may_leave ? x.at_or(conv.x, 0) : x.at(conv.x);
  return b.reduce(std::move(name), conv.output, Combiner::kSum, conv.reduced, read * w.at(conv.w));
}

void require_bias(const OpContext& c, Builder& b, size_t i, const Dim& channels) {
  require_axes(c, i, "the bias", 1);
  b.require_equal(c.dim(i, 0), channels, "output channels and the extent of the bias");
}

// y[n, k, o..] = sum_{c, r..} x[n, (k / K_g) C_g + c, s o + d r - p ..] * w[k, c, r..]  + bias[k]
// with 0 where x is read outside its box
TensorExpr define_conv(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  Builder b;
  const auto x = c.declare(b, {"x", "w", "bias"});
  const Convolution conv = convolution_of(c, b, 0, 1);
  if (!c.has(2)) return b.finish({convolve(b, conv, x[0], x[1], "y")});
  require_bias(c, b, 2, c.dim(1, 0));
  const Operand sum = convolve(b, conv, x[0], x[1], "total");
  return b.finish({b.map("y", conv.output, sum.at(conv.output) + x[2](conv.channel()))});
}

// A parameter of the weights: one for all or one for each output channel.
Scalar channel_parameter(const Operand& parameter, AxisId channel, const Dim& channels) {
  if (parameter.rank() > 1) throw_invalid("a quantization parameter has more than one axis");
  return parameter.at(broadcast_indices(parameter.shape(), {channel}, {channels}));
}

Scalar single_parameter(const Operand& parameter) {
  if (!element_count(parameter.shape()).is(1) && is_const(parameter.shape()))
    throw_invalid("a quantization parameter is not a single number");
  return parameter.at(std::vector<Index>(static_cast<size_t>(parameter.rank()), Index(0)));
}

// x - zero as 32-bit integers, on all axes of x.
Operand centred(Builder& b, const Operand& x, const Axes& axes, const Scalar& zero,
                const std::string& name) {
  Scalar body = Scalar::cast(ElementType::kI32, x.at(axes));
  if (zero.valid()) body = body - Scalar::cast(ElementType::kI32, zero);
  return b.map(name, axes, body);
}

Operand integer_convolution(const OpContext& c, Builder& b, const Convolution& conv, size_t x_input,
                            size_t w_input, const std::vector<Operand>& x, const Operand& x_zero,
                            const Operand& w_zero) {
  require_type(c, x_input, "x", {ElementType::kU8, ElementType::kI8});
  require_type(c, w_input, "w", {ElementType::kU8, ElementType::kI8});
  const Axes x_axes = b.axes("i", c.shape(x_input));
  const Axes w_axes = b.axes("v", c.shape(w_input));
  Scalar x_centre;
  Scalar w_centre;
  if (x_zero.valid()) x_centre = single_parameter(x_zero);
  if (w_zero.valid()) w_centre = channel_parameter(w_zero, w_axes[0], c.dim(w_input, 0));
  const Operand xs = centred(b, x[x_input], x_axes, x_centre, "x_centred");
  const Operand ws = centred(b, x[w_input], w_axes, w_centre, "w_centred");
  return convolve(b, conv, xs, ws, "total");
}

// The convolution of x - x_zero with w - w_zero in 32-bit integers; the pads are zeros.
TensorExpr define_conv_integer(OpContext& c) {
  Builder b;
  auto x = c.declare(b, {"x", "w", "x_zero", "w_zero"});
  x.resize(4);
  const Convolution conv = convolution_of(c, b, 0, 1);
  return b.finish({integer_convolution(c, b, conv, 0, 1, x, x[2], x[3])});
}

// y = clip(round((conv(x - x_zero, w - w_zero) + bias) * (x_scale w_scale / y_scale) + y_zero))
TensorExpr define_qlinear_conv(OpContext& c) {
  Builder b;
  auto x = c.declare(
      b, {"x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero", "bias"});
  x.resize(9);
  for (const size_t i : {0, 1, 3, 4, 6, 7})
    if (!x[i].valid()) throw_invalid("QLinearConv needs its inputs 0 to 7");
  const Convolution conv = convolution_of(c, b, 0, 3);
  const AxisId k = conv.channel();
  const Dim channels = c.dim(3, 0);
  const Operand sum = integer_convolution(c, b, conv, 0, 3, x, x[2], x[5]);
  const Operand scales =
      b.map("scales", {k}, single_parameter(x[1]) * channel_parameter(x[4], k, channels));
  const Operand multiplier = b.map("multiplier", {k}, scales(k) / single_parameter(x[6]));
  Scalar total = sum.at(conv.output);
  if (x[8].valid()) {
    require_type(c, 8, "the bias", {ElementType::kI32});
    require_bias(c, b, 8, channels);
    total = total + x[8](k);
  }
  return b.finish(
      {b.map("y", conv.output, requantize(total, multiplier(k), single_parameter(x[7])))});
}

}  // namespace

void register_conv(OperatorTable& table) {
  table.add({.name = "Conv",
             .since = 1,
             .doc = "Convolution over any number of spatial axes, with groups and dilation.",
             .inputs = "x, w, bias?",
             .attributes = kConvAttributes,
             .define = define_conv,
             .example = "Conv(x: f32[1, 4, 5, 5], w: f32[6, 2, 3, 3], bias: f32[6]) "
                        "{group = 2, pads = [1, 1, 1, 1], strides = [2, 2]}"});
  table.add({.name = "ConvInteger",
             .since = 10,
             .doc = "Convolution of 8-bit integers with zero points, in 32-bit integers.",
             .inputs = "x, w, x_zero?, w_zero?",
             .attributes = kConvAttributes,
             .define = define_conv_integer,
             .example = "ConvInteger(x: u8[1, 1, 3, 3], w: u8[1, 1, 2, 2], x_zero: u8[])"});
  table.add({.name = "QLinearConv",
             .since = 10,
             .doc = "Convolution of quantized tensors, quantized again.",
             .inputs = "x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?",
             .attributes = kConvAttributes,
             .define = define_qlinear_conv,
             .example = "QLinearConv(x: u8[1, 1, 3, 3], x_scale: f32[], x_zero: u8[], "
                        "w: u8[2, 1, 2, 2], w_scale: f32[2], w_zero: u8[2], y_scale: f32[], "
                        "y_zero: u8[])"});
}

}  // namespace hone
