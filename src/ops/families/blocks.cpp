// Rearrangements inside a tensor: blocks between depth and space, reversed sequences.
#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

Dim block_size(const OpContext& c) {
  const std::vector<Dim> block = c.dims_attribute("blocksize", {});
  if (block.size() != 1) throw_invalid("blocksize is not given");
  if (block[0].is_const() && (block[0].value() <= 0 || block[0].value() > (1 << 20)))
    throw_invalid("blocksize is " + block[0].to_string());
  return block[0];
}

bool depth_first(const OpContext& c) {
  const std::string mode = c.string_attribute("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") throw_invalid("unknown mode \"" + mode + "\"", "DCR or CRD");
  return mode == "DCR";
}

// With s = (h mod b) b + (w mod b), the place in a block of b x b:
//   DCR: y[n, c, h, w] = x[n, s C' + c, h / b, w / b]        C' = C / b^2
//   CRD: y[n, c, h, w] = x[n, c b^2 + s, h / b, w / b]
TensorExpr define_depth_to_space(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  if (x.rank() != 4) throw_invalid("the input must be [N, C, H, W]");
  const Dim block = block_size(c);
  const Dim area = block * block;
  const Dim depth = floor_div(x.dim(1), area);
  b.require_equal(depth * area, x.dim(1), "channels that fill blocks");
  const Axes y = b.axes("i", {x.dim(0), depth, x.dim(2) * block, x.dim(3) * block});
  const Index s = mod(Index(y[2]), block) * block + mod(Index(y[3]), block);
  const Index channel = depth_first(c) ? s * depth + Index(y[1]) : Index(y[1]) * area + s;
  return b.finish({b.map(
      "y", y,
      x.at({Index(y[0]), channel, floor_div(Index(y[2]), block), floor_div(Index(y[3]), block)}))});
}

// y[n, k, h, w] = x[n, c, h b + r, w b + t] with
//   DCR: k = (r b + t) C + c     CRD: k = c b^2 + r b + t
TensorExpr define_space_to_depth(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  if (x.rank() != 4) throw_invalid("the input must be [N, C, H, W]");
  const Dim block = block_size(c);
  const Dim area = block * block;
  const Dim height = floor_div(x.dim(2), block);
  const Dim width = floor_div(x.dim(3), block);
  b.require_equal(height * block, x.dim(2), "rows that fill blocks");
  b.require_equal(width * block, x.dim(3), "columns that fill blocks");
  if (x.dim(1).is(0)) throw_invalid("no channels");
  const Axes y = b.axes("i", {x.dim(0), x.dim(1) * area, height, width});
  const Index k = y[1];
  const bool depth = depth_first(c);
  const Dim inner = depth ? x.dim(1) : Dim(1);  // stride of t in k
  const Index channel = depth ? mod(k, inner) : floor_div(k, area);
  const Index row = floor_div(k, inner * block);
  const Index r = depth ? row : mod(row, block);
  const Index t = mod(floor_div(k, inner), block);
  return b.finish({b.map(
      "y", y, x.at({Index(y[0]), channel, Index(y[2]) * block + r, Index(y[3]) * block + t}))});
}

// y[.., t, .., n, ..] = x[.., select(t < L, L - 1 - t, t), .., n, ..] with L = lengths[n]
TensorExpr define_reverse_sequence(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "lengths"});
  if (x[0].rank() < 2 || x[1].rank() != 1)
    throw_invalid("the input needs two dimensions or more, the lengths one");
  const auto time = static_cast<size_t>(c.axis(c.int_attribute("time_axis", 0), x[0].rank()));
  const auto batch = static_cast<size_t>(c.axis(c.int_attribute("batch_axis", 1), x[0].rank()));
  if (time == batch) throw_invalid("time_axis and batch_axis are the same");
  b.require_equal(x[1].dim(0), x[0].shape()[batch], "sequences in the batch");
  const Axes axes = b.axes("i", x[0].shape());
  const Scalar length = Scalar::cast(ElementType::kI64, x[1](axes[batch]));
  const Scalar t = Scalar::index(axes[time]);
  std::vector<Index> at = to_indices(axes);
  at[time] = Index::value(select(less(t, length), length - Literal(1) - t, t));
  return b.finish({b.map("y", axes, x[0].at(at))});
}

}  // namespace

void register_blocks(OperatorTable& table) {
  table.add({.name = "DepthToSpace",
             .doc = "Spreads channels over blocks of pixels.",
             .inputs = "x",
             .attributes = "blocksize: int, mode: string = \"DCR\"",
             .define = define_depth_to_space,
             .example = "DepthToSpace(x: f32[1, 8, 2, 3]) {blocksize = 2, mode = \"CRD\"}"});
  table.add({.name = "SpaceToDepth",
             .doc = "Gathers blocks of pixels into channels.",
             .inputs = "x",
             .attributes = "blocksize: int, mode: string = \"DCR\"",
             .define = define_space_to_depth,
             .example = "SpaceToDepth(x: f32[1, 2, 4, 6]) {blocksize = 2}"});
  table.add({.name = "ReverseSequence",
             .since = 10,
             .doc = "Reverses the beginning of each sequence of a batch.",
             .inputs = "x, lengths",
             .attributes = "batch_axis: int = 1, time_axis: int = 0",
             .define = define_reverse_sequence,
             .example = "ReverseSequence(x: f32[4, 3], lengths: i64[3] = [4, 2, 1])"});
}

}  // namespace hone
