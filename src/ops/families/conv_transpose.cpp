// Transposed windows: ConvTranspose and Col2Im. Both are written as gathers: an output position
// collects from every tap whose window starts at a whole multiple of the stride.
#include "ops/arithmetic.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace hone {
namespace {

// Tap r of the window that starts at s * i - p touches position o iff s * i = o + p - d * r.
struct TransposedTap {
  Scalar starts_here;  // the stride divides o + p - d r
  Index window;        // i, which may lie outside
};

TransposedTap tap_at(const Index& position, const Index& tap, const Dim& stride,
                     const Dim& dilation, const Dim& pad_begin) {
  const Index offset = position + Index(pad_begin) - tap * dilation;
  return {equal(mod(offset, stride), Index(0)), floor_div(offset, stride)};
}

struct Transposed {
  std::vector<Dim> strides, dilations, pad_begin;
  Shape output;
};

Transposed transposed_of(const OpContext& c, const Shape& input, const std::vector<Dim>& kernel) {
  const size_t rank = input.size();
  Transposed t;
  t.strides = spatial_attribute(c, "strides", rank, 1, 1);
  t.dilations = spatial_attribute(c, "dilations", rank, 1, 1);
  const std::vector<Dim> extra = spatial_attribute(c, "output_padding", rank, 0, 0);
  const std::vector<Dim> pads = spatial_attribute(c, "pads", 2 * rank, 0, 0);
  const std::string mode = c.string_attribute("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!same && mode != "VALID" && mode != "NOTSET" && !mode.empty())
    throw_invalid("auto_pad = " + mode, "one of NOTSET, SAME_UPPER, SAME_LOWER, VALID is meant");

  std::vector<Dim> wanted = c.dims_attribute("output_shape", {});
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank) throw_invalid("output_shape has the wrong length");
  for (size_t i = 0; i < rank; ++i) {
    const Dim full =
        (input[i] - 1) * t.strides[i] + extra[i] + (kernel[i] - 1) * t.dilations[i] + 1;
    if (wanted.empty() && !same) {
      const bool padded = mode != "VALID";
      t.pad_begin.push_back(padded ? pads[i] : Dim(0));
      t.output.push_back(padded ? full - pads[i] - pads[rank + i] : full);
    } else {
      const Dim output = wanted.empty() ? input[i] * t.strides[i] : wanted[i];
      const Dim total = max(Dim(0), full - output);
      t.pad_begin.push_back(floor_div(mode == "SAME_UPPER" ? total : total + 1, 2));
      t.output.push_back(output);
    }
    if (t.output.back().is_const() && t.output.back().value() < 0)
      throw_invalid("the pads are larger than the output");
  }
  return t;
}

// y[n, k, o..] = sum_{c, r..} x[n, (k / M) C_g + c, (o + p - d r) / s ..] * w[(k / M) C_g + c, k %
// M, r..]
//                over the taps r with s | o + p - d r, plus bias[k]; x is 0 outside its box
TensorExpr define_conv_transpose(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_same_types(c);
  const Shape spatial = spatial_extents(c, 0);
  const Shape w = c.shape(1);
  if (w.size() != c.shape(0).size()) throw_invalid("the weights have another rank than the input");
  const std::vector<Dim> kernel(w.begin() + 2, w.end());
  Builder b;
  const auto x = c.declare(b, {"x", "w", "bias"});
  const std::vector<Dim> declared = c.dims_attribute("kernel_shape", kernel);
  if (declared.size() != kernel.size()) throw_invalid("kernel_shape has the wrong length");
  for (size_t i = 0; i < kernel.size(); ++i)
    b.require_equal(kernel[i], declared[i], "kernel_shape and the extents of the weights");
  const Dim group = spatial_attribute(c, "group", 1, 1, 1)[0];
  const Dim group_channels = floor_div(w[0], group);
  b.require_equal(c.dim(0, 1), w[0], "channels of the input and of the weights");
  b.require_equal(w[0], group_channels * group, "input channels and a multiple of group");
  const Transposed t = transposed_of(c, spatial, kernel);

  const AxisId n = b.axis("n", c.dim(0, 0));
  const AxisId k = b.axis("k", w[1] * group);
  const AxisId channel = b.axis("c", group_channels);
  const Axes position = b.axes("o", t.output);
  const Axes taps = b.axes("r", kernel);
  const bool one_group = group.is(1) || w[1].is(0);
  const Index source =
      Index(channel) + (one_group ? Index(0) : floor_div(Index(k), w[1]) * group_channels);
  std::vector<Index> x_at = {n, source};
  std::vector<Index> w_at = {source, one_group ? Index(k) : mod(Index(k), w[1])};
  Scalar touches = Scalar::literal(ElementType::kBool, 1);
  for (size_t i = 0; i < kernel.size(); ++i) {
    const TransposedTap tap =
        tap_at(position[i], taps[i], t.strides[i], t.dilations[i], t.pad_begin[i]);
    touches = logical_and(touches, tap.starts_here);
    x_at.push_back(tap.window);
    w_at.emplace_back(taps[i]);
  }
  Axes output = {n, k};
  output.insert(output.end(), position.begin(), position.end());
  Axes reduced = {channel};
  reduced.insert(reduced.end(), taps.begin(), taps.end());
  // The guard stands on x alone, so that the body is a product and is seen as a contraction.
  const Scalar term = select(touches, x[0].at_or(x_at, 0), Literal(0)) * x[1].at(w_at);
  if (!c.has(2)) return b.finish({b.reduce("y", output, Combiner::kSum, reduced, term)});
  require_axes(c, 2, "the bias", 1);
  b.require_equal(c.dim(2, 0), b.extent(k), "output channels and the extent of the bias");
  const Operand sum = b.reduce("total", output, Combiner::kSum, reduced, term);
  return b.finish({b.map("y", output, sum.at(output) + x[2](k))});
}

// y[n, c, o..] = sum_{r..} x[n, (c, r..), (i..)] over the taps r with s i = o + p - d r for a
// window i; both groups of indices are flattened
TensorExpr define_col2im(OpContext& c) {
  require_class(c, 0, ElementClass::kNumber);
  require_axes(c, 0, "the input", 3);
  const std::vector<Dim> image = c.dims_value(1);
  const std::vector<Dim> block = c.dims_value(2);
  const size_t rank = image.size();
  if (block.size() != rank || rank == 0)
    throw_invalid("image_shape and block_shape differ in length");
  for (const auto& extents : {image, block})
    for (const Dim& extent : extents)
      if (extent.is_const() && extent.value() < 1) throw_invalid("an extent is not positive");
  const std::vector<Dim> strides = spatial_attribute(c, "strides", rank, 1, 1);
  const std::vector<Dim> dilations = spatial_attribute(c, "dilations", rank, 1, 1);
  const std::vector<Dim> pads = spatial_attribute(c, "pads", 2 * rank, 0, 0);

  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const Dim taps_of_block = element_count(block);
  const Dim channels = floor_div(c.dim(0, 1), taps_of_block);
  b.require_equal(c.dim(0, 1), channels * taps_of_block, "rows of the input and blocks");
  const AxisId n = b.axis("n", c.dim(0, 0));
  const AxisId channel = b.axis("c", channels);
  const Axes position = b.axes("o", image);
  const Axes taps = b.axes("r", block);
  Index row = channel;
  Index column = 0;
  Dim columns = 1;
  Scalar touches = Scalar::literal(ElementType::kBool, 1);
  for (size_t i = 0; i < rank; ++i) {
    const Dim windows =
        floor_div(image[i] + pads[i] + pads[rank + i] - (block[i] - 1) * dilations[i] - 1,
                  strides[i]) +
        1;
    const TransposedTap tap = tap_at(position[i], taps[i], strides[i], dilations[i], pads[i]);
    touches = logical_and(touches, tap.starts_here);
    touches = logical_and(touches, less_equal(Index(0), tap.window));
    touches = logical_and(touches, less(tap.window, Index(windows)));
    row = row * block[i] + Index(taps[i]);
    column = column * windows + tap.window;
    columns *= windows;
  }
  b.require_equal(c.dim(0, 2), columns, "columns of the input and windows of the image");
  Axes output = {n, channel};
  output.insert(output.end(), position.begin(), position.end());
  return b.finish({b.reduce("y", output, Combiner::kSum, taps,
                            select(touches, x(n, row, column), Literal(0)))});
}

}  // namespace

void register_conv_transpose(OperatorTable& table) {
  table.add({.name = "ConvTranspose",
             .since = 1,
             .doc = "Transposed convolution: the gradient of Conv with respect to its input.",
             .inputs = "x, w, bias?",
             .attributes = "auto_pad: string = \"NOTSET\", dilations: ints, group: int = 1, "
                           "kernel_shape: ints, output_padding: ints, output_shape: ints, "
                           "pads: ints, strides: ints",
             .define = define_conv_transpose,
             .example = "ConvTranspose(x: f32[1, 2, 3, 3], w: f32[2, 4, 3, 3]) "
                        "{strides = [2, 2], pads = [1, 1, 1, 1]}"});
  table.add({.name = "Col2Im",
             .since = 18,
             .doc = "Sums blocks given as columns into the image that they overlap in.",
             .inputs = "x, image_shape, block_shape",
             .attributes = "dilations: ints, pads: ints, strides: ints",
             .define = define_col2im,
             .example = "Col2Im(x: f32[1, 4, 4], image_shape: i64[2] = [3, 3], "
                        "block_shape: i64[2] = [2, 2])"});
}

}  // namespace hone
