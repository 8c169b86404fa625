// Deformable convolution.
#include "ops/arithmetic.h"
#include "ops/sampling.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace hone {
namespace {

// s[n, c, r.., o..] = x[n, c, ..] interpolated linearly at s o + d r - p + offset[n, c / C_f, r, j,
// o..]
//                     (0 outside), times mask[n, c / C_f, r.., o..]
// y[n, k, o..] = sum_{c, r..} s[n, (k / K_g) C_g + c, r.., o..] * w[k, c, r..] + bias[k]
TensorExpr define_deform_conv(OpContext& c) {
  for (const size_t i : {0, 1, 2}) require_class(c, i, ElementClass::kFloat);
  require_same_types(c);
  const Shape spatial = spatial_extents(c, 0);
  const Shape shape = c.shape(0);
  const Shape w = c.shape(1);
  const size_t rank = spatial.size();
  for (const size_t i : {1, 2})
    if (c.shape(i).size() != shape.size())
      throw_invalid("weights and offsets need the input's rank");
  const std::vector<Dim> kernel(w.begin() + 2, w.end());
  const Windows windows = windows_of(c, spatial, kernel);
  const Dim group = spatial_attribute(c, "group", 1, 1, 1)[0];
  const Dim offset_group = spatial_attribute(c, "offset_group", 1, 1, 1)[0];
  const Dim taps_count = element_count(kernel);
  const Dim group_size = floor_div(w[0], group);
  const Dim offset_channels = floor_div(shape[1], offset_group);

  Builder b;
  auto x = c.declare(b, {"x", "w", "offset", "bias", "mask"});
  x.resize(5);
  b.require_equal(shape[1], w[1] * group, "channels of the input and of the weights times group");
  b.require_equal(w[0], group_size * group, "output channels and a multiple of group");
  b.require_equal(shape[1], offset_channels * offset_group,
                  "channels and a multiple of offset_group");
  b.require_equal(c.dim(2, 0), shape[0], "batch extents of the input and the offsets");
  b.require_equal(c.dim(2, 1), offset_group * taps_count * Dim(static_cast<int64_t>(rank)),
                  "channels of the offsets and what offset_group and the kernel ask for");
  for (size_t j = 0; j < rank; ++j)
    b.require_equal(c.dim(2, static_cast<int>(j) + 2), windows.output[j],
                    "spatial extents of the offsets and of the output");

  const AxisId n = b.axis("n", shape[0]);
  const AxisId f = b.axis("f", offset_group);
  const AxisId source = b.axis("i", shape[1]);
  const Axes taps = b.axes("r", kernel);
  const Axes window = b.axes("o", windows.output);
  const auto joined = [](Axes first, const Axes& second, const Axes& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  };
  Index flat_tap = 0;
  for (size_t j = 0; j < rank; ++j) flat_tap = flat_tap * kernel[j] + Index(taps[j]);

  // Neighbours and weights along each axis are found once for all channels of an offset group.
  const bool one_offset_group = offset_group.is(1) || offset_channels.is(0);
  const Index group_of_source =
      one_offset_group ? Index(0) : floor_div(Index(source), offset_channels);
  const Axes at = joined({n, f}, taps, window);
  const Axes sampled_axes = joined({n, source}, taps, window);
  const auto of_source = [&](const Scalar& value) {
    return substitute(value, {.axis = [&](AxisId a) { return a == f ? group_of_source : Index(a); },
                              .tensor = {},
                              .table = {}});
  };
  const auto index_of_source = [&](const Index& value) {
    return substitute(value, {.axis = [&](AxisId a) { return a == f ? group_of_source : Index(a); },
                              .tensor = {},
                              .table = {}});
  };
  std::vector<Index> read = {n, source};
  Axes neighbours;
  Scalar weight = Scalar::literal(x[0].type(), 1);
  for (size_t j = 0; j < rank; ++j) {
    const auto component = static_cast<int64_t>(j);
    std::vector<Index> offset_at = {
        n, (Index(f) * taps_count + flat_tap) * Dim(static_cast<int64_t>(rank)) + Index(component)};
    offset_at.insert(offset_at.end(), window.begin(), window.end());
    const Scalar position =
        as_number(x[2].type(), windows.position(j, window[j], taps[j])) + x[2].at(offset_at);
    const Sampler sampler =
        linear_sampler(b, "p" + std::to_string(j), at, near_box(position, spatial[j], 1));
    neighbours.push_back(sampler.tap);
    weight = weight * of_source(sampler.weight);
    read.push_back(index_of_source(sampler.neighbour));
  }
  Operand sampled =
      b.reduce("sampled", sampled_axes, Combiner::kSum, neighbours, x[0].at_or(read, 0) * weight);
  if (x[4].valid()) {
    if (c.shape(4).size() != shape.size()) throw_invalid("the mask needs the input's rank");
    b.require_equal(c.dim(4, 1), offset_group * taps_count, "channels of the mask and of the taps");
    std::vector<Index> mask_at = {n, group_of_source * taps_count + flat_tap};
    mask_at.insert(mask_at.end(), window.begin(), window.end());
    sampled = b.map("masked", sampled_axes, sampled.at(sampled_axes) * x[4].at(mask_at));
  }

  const AxisId k = b.axis("k", w[0]);
  const AxisId channel = b.axis("c", w[1]);
  const Index first =
      group.is(1) || group_size.is(0) ? Index(0) : floor_div(Index(k), group_size) * w[1];
  std::vector<Index> sampled_at = {n, first + Index(channel)};
  std::vector<Index> w_at = {k, channel};
  sampled_at.insert(sampled_at.end(), taps.begin(), taps.end());
  sampled_at.insert(sampled_at.end(), window.begin(), window.end());
  w_at.insert(w_at.end(), taps.begin(), taps.end());
  const Axes output = joined({n, k}, window, {});
  const Operand sum = b.reduce("total", output, Combiner::kSum, joined({channel}, taps, {}),
                               sampled.at(sampled_at) * x[1].at(w_at));
  if (!x[3].valid()) return b.finish({sum});
  require_axes(c, 3, "the bias", 1);
  b.require_equal(c.dim(3, 0), w[0], "output channels and the extent of the bias");
  return b.finish({b.map("y", output, sum.at(output) + x[3](k))});
}

}  // namespace

void register_deform_conv(OperatorTable& table) {
  table.add({.name = "DeformConv",
             .since = 19,
             .doc = "Convolution whose taps are moved by computed offsets.",
             .inputs = "x, w, offset, bias?, mask?",
             .attributes = "dilations: ints, group: int = 1, kernel_shape: ints, "
                           "offset_group: int = 1, pads: ints, strides: ints",
             .define = define_deform_conv,
             .example = "DeformConv(x: f32[1, 1, 3, 3], w: f32[1, 1, 2, 2], "
                        "offset: f32[1, 8, 2, 2])"});
}

}  // namespace hone
