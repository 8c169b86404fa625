// Joining tensors along an axis, and taking them apart again.
#include <utility>

#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/table.h"

namespace hone {
namespace {

// select(i < offset_mid, parts below mid, parts from mid on), balanced: an element takes log n
// tests
Scalar choose_part(const std::vector<Operand>& parts, const std::vector<Dim>& offsets,
                   const Axes& axes, size_t axis, size_t begin, size_t end) {
  if (end - begin == 1) {
    std::vector<Index> at = to_indices(axes);
    at[axis] = at[axis] - Index(offsets[begin]);
    return parts[begin].at(at);
  }
  const size_t middle = begin + (end - begin) / 2;
  return select(less(Index(axes[axis]), Index(offsets[middle])),
                choose_part(parts, offsets, axes, axis, begin, middle),
                choose_part(parts, offsets, axes, axis, middle, end));
}

// y[.., i, ..] = x_k[.., i - offset_k, ..] where offset_k <= i < offset_k+1
TensorExpr define_concat(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const std::vector<Operand> parts = c.declare(b);
  if (parts.empty()) throw_invalid("nothing to join");
  const int rank = c.rank(0);
  const auto axis = static_cast<size_t>(c.axis(c.int_attribute("axis", 1), rank));
  std::vector<Dim> offsets;
  Dim length = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].valid()) throw_invalid("input " + std::to_string(k) + " is absent");
    if (parts[k].type() != parts[0].type()) throw_invalid("inputs differ in element type");
    if (parts[k].rank() != rank) throw_invalid("inputs differ in rank");
    for (size_t d = 0; d < static_cast<size_t>(rank); ++d)
      if (d != axis)
        b.require_equal(parts[k].shape()[d], parts[0].shape()[d], "dimensions that are not joined");
    offsets.push_back(length);
    length += parts[k].shape()[axis];
  }
  Shape shape = c.shape(0);
  shape[axis] = length;
  const Axes axes = b.axes("i", shape);
  return b.finish({b.map("y", axes, choose_part(parts, offsets, axes, axis, 0, parts.size()))});
}

// Parts of equal size; where they cannot be equal, opset 18 makes the last ones smaller.
std::vector<Dim> equal_parts(Builder& b, const Dim& extent, int64_t count, bool uneven) {
  if (count <= 0) throw_invalid("the number of outputs is " + std::to_string(count));
  const Dim exact = floor_div(extent, count);
  if (exact * count == extent || !uneven) {
    b.require_equal(exact * count, extent, "parts of equal size");
    return std::vector<Dim>(static_cast<size_t>(count), exact);
  }
  const Dim size = ceil_div(extent, count);
  std::vector<Dim> sizes;
  Dim left = extent;
  for (int64_t k = 0; k < count; ++k) {
    sizes.push_back(min(size, left));
    left -= sizes.back();
  }
  return sizes;
}

// y_k[.., i, ..] = x[.., i + offset_k, ..]
TensorExpr define_split(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const Operand x = c.declare(b, {"x", "split"})[0];
  const auto axis = static_cast<size_t>(c.axis(c.int_attribute("axis", 0), x.rank()));
  const Dim& extent = x.shape()[axis];
  std::vector<Dim> sizes;
  if (const auto given = dims_by_opset(c, "split", 1, 13)) {
    sizes = *given;
    Dim sum = 0;
    for (const Dim& size : sizes) {
      if (size.is_const() && size.value() < 0) throw_invalid("a part has a negative size");
      sum += size;
    }
    b.require_equal(sum, extent, "sum of the parts");
  } else {
    const int64_t count = c.int_attribute("num_outputs", static_cast<int64_t>(c.output_count()));
    if (count > 65536) throw_invalid("too many outputs");
    sizes = equal_parts(b, extent, count, c.opset() >= 18);
  }
  if (sizes.size() != c.output_count())
    throw_invalid(std::to_string(sizes.size()) + " parts for " + std::to_string(c.output_count()) +
                  " outputs");
  std::vector<Operand> outputs;
  Dim offset = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    Shape shape = x.shape();
    shape[axis] = sizes[k];
    const Axes axes = b.axes("i", shape);
    std::vector<Index> at = to_indices(axes);
    at[axis] = at[axis] + Index(offset);
    outputs.push_back(b.map("y" + std::to_string(k), axes, x.at(at)));
    offset += sizes[k];
  }
  return b.finish(outputs);
}

}  // namespace

void register_concat_split(OperatorTable& table) {
  table.add({.name = "Concat",
             .doc = "Joins tensors along an axis.",
             .inputs = "xs...",
             .attributes = "axis: int = 1",
             .define = define_concat,
             .example = "Concat(a: f32[2, 3], b: f32[2, 1], c: f32[2, 4]) {axis = -1}"});
  table.add({.name = "Split",
             .doc = "Takes a tensor apart along an axis.",
             .inputs = "x, split?",
             .outputs = "ys...",
             .attributes = "axis: int = 0, split: ints, num_outputs: int",
             .define = define_split,
             .example = "Split(x: f32[4, 3], split: i64[2] = [1, 3]) -> (a, b)"});
}

}  // namespace hone
