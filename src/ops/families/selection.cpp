// Operators that choose elements by their values: how many and which is known in a run only.
#include <algorithm>
#include <numeric>

#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

std::vector<Buffer> run_non_zero(const OpContext&, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  std::vector<int64_t> hits;
  for (int64_t i = 0; i < x.count(); ++i) {
    const bool zero = x.type() == ElementType::kString ? x.strings()[static_cast<size_t>(i)].empty()
                                                       : x.as_double(i) == 0;
    if (!zero) hits.push_back(i);
  }
  Buffer result =
      Buffer::allocate(ElementType::kI64, {x.rank(), static_cast<int64_t>(hits.size())});
  const auto to = result.as_mutable<int64_t>();
  for (size_t k = 0; k < hits.size(); ++k) {
    int64_t rest = hits[k];
    for (size_t d = x.dims().size(); d-- > 0; rest /= x.dims()[d])
      to[d * hits.size() + k] = rest % x.dims()[d];
  }
  return {result};
}

std::vector<Buffer> run_compress(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  const Buffer& condition = input(inputs, 1);
  if (condition.type() != ElementType::kBool || condition.rank() != 1)
    throw_invalid("the condition must be a vector of bool");
  const bool flat = !c.has_attribute("axis");
  const int axis = flat ? 0 : c.axis(c.int_attribute("axis", 0), x.rank());
  const std::vector<int64_t> dims = flat ? std::vector<int64_t>{x.count()} : x.dims();
  const AxisView view = view_along(dims, axis);
  std::vector<int64_t> kept;
  for (int64_t k = 0; k < condition.count(); ++k) {
    if (condition.as_int(k) == 0) continue;
    if (k >= view.extent) throw_invalid("the condition is longer than the axis");
    kept.push_back(k);
  }
  std::vector<int64_t> positions;
  for (int64_t o = 0; o < view.outer; ++o)
    for (const int64_t k : kept)
      for (int64_t i = 0; i < view.inner; ++i) positions.push_back(view.at(o, k, i));
  std::vector<int64_t> shape = dims;
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(kept.size());
  return {pick(x, shape, positions)};
}

// Equal values keep the order of their positions.
std::vector<Buffer> run_top_k(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  const int axis = c.axis(c.int_attribute("axis", -1), x.rank());
  const AxisView view = view_along(x.dims(), axis);
  const int64_t k = c.opset() >= 10 ? scalar_int(inputs, 1) : c.int_attribute("k", -1);
  if (k < 0 || k > view.extent)
    throw_invalid("k = " + std::to_string(k) + " of " + std::to_string(view.extent) + " elements");
  const bool largest = c.int_attribute("largest", 1) != 0;
  const ElementOrder order(x);
  std::vector<int64_t> dims = x.dims();
  dims[static_cast<size_t>(axis)] = k;
  std::vector<int64_t> positions(static_cast<size_t>(checked_count(dims)));
  Buffer indices = Buffer::allocate(ElementType::kI64, dims);
  const auto index = indices.as_mutable<int64_t>();
  std::vector<int64_t> candidates(static_cast<size_t>(view.extent));
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      std::iota(candidates.begin(), candidates.end(), 0);
      std::partial_sort(candidates.begin(), candidates.begin() + k, candidates.end(),
                        [&](int64_t a, int64_t b) {
                          const int by = order(view.at(o, a, i), view.at(o, b, i));
                          return by == 0 ? a < b : (by < 0) != largest;
                        });
      for (int64_t r = 0; r < k; ++r) {
        const auto to = static_cast<size_t>((o * k + r) * view.inner + i);
        const int64_t from = candidates[static_cast<size_t>(r)];
        positions[to] = view.at(o, from, i);
        index[to] = from;
      }
    }
  }
  return first_outputs(c, {pick(x, dims, positions), indices});
}

std::vector<TensorType> infer_top_k(OpContext& c) {
  Shape shape = c.shape(0);
  const auto axis = static_cast<size_t>(c.axis(c.int_attribute("axis", -1), c.rank(0)));
  if (c.opset() >= 10) {
    shape[axis] = kUnknownDim;
    if (c.is_known(1) && c.dims_value(1).size() == 1) shape[axis] = c.dims_value(1)[0];
  } else {
    shape[axis] = c.int_attribute("k", 0);
  }
  return {{c.type(0), shape}, {ElementType::kI64, shape}};
}

// Groups of equal slices along an axis (of equal elements, when flat).
struct Groups {
  std::vector<int64_t> first;    // per group, the first slice
  std::vector<int64_t> inverse;  // per slice, its group
  std::vector<int64_t> counts;
};

Groups group_slices(const Buffer& x, const AxisView& view, bool sorted) {
  const ElementOrder order(x);
  const auto compare = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i)
        if (const int by = order(view.at(o, a, i), view.at(o, b, i))) return by;
    return 0;
  };
  std::vector<int64_t> slices(static_cast<size_t>(view.extent));
  std::iota(slices.begin(), slices.end(), 0);
  std::stable_sort(slices.begin(), slices.end(),
                   [&](int64_t a, int64_t b) { return compare(a, b) < 0; });
  std::vector<std::vector<int64_t>> groups;  // ascending slices in each, as the sort is stable
  for (size_t k = 0; k < slices.size(); ++k) {
    if (k == 0 || compare(slices[k - 1], slices[k]) != 0) groups.emplace_back();
    groups.back().push_back(slices[k]);
  }
  if (!sorted)
    std::sort(groups.begin(), groups.end(),
              [](const auto& a, const auto& b) { return a.front() < b.front(); });
  Groups result;
  result.inverse.resize(slices.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    result.first.push_back(groups[g].front());
    result.counts.push_back(static_cast<int64_t>(groups[g].size()));
    for (const int64_t slice : groups[g])
      result.inverse[static_cast<size_t>(slice)] = static_cast<int64_t>(g);
  }
  return result;
}

std::vector<Buffer> run_unique(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  const bool flat = !c.has_attribute("axis");
  const int axis = flat ? 0 : c.axis(c.int_attribute("axis", 0), x.rank());
  const std::vector<int64_t> dims = flat ? std::vector<int64_t>{x.count()} : x.dims();
  const AxisView view = view_along(dims, axis);
  const Groups groups = group_slices(x, view, c.int_attribute("sorted", 1) != 0);
  std::vector<int64_t> positions;
  for (int64_t o = 0; o < view.outer; ++o)
    for (const int64_t k : groups.first)
      for (int64_t i = 0; i < view.inner; ++i) positions.push_back(view.at(o, k, i));
  std::vector<int64_t> shape = dims;
  shape[static_cast<size_t>(axis)] = static_cast<int64_t>(groups.first.size());
  return first_outputs(c, {pick(x, shape, positions), Buffer::of_ints(groups.first),
                           Buffer::of_ints(groups.inverse), Buffer::of_ints(groups.counts)});
}

// The input's shape with an unknown extent on the axis; a vector without an axis.
Shape selected_shape(const OpContext& c) {
  if (!c.has_attribute("axis")) return {kUnknownDim};
  Shape shape = c.shape(0);
  shape[static_cast<size_t>(c.axis(c.int_attribute("axis", 0), c.rank(0)))] = kUnknownDim;
  return shape;
}

std::vector<TensorType> infer_unique(OpContext& c) {
  const Dim slices = c.has_attribute("axis")
                         ? c.dim(0, c.axis(c.int_attribute("axis", 0), c.rank(0)))
                         : element_count(c.shape(0));
  const TensorType per_group = {ElementType::kI64, Shape{kUnknownDim}};
  std::vector<TensorType> types = {
      {c.type(0), selected_shape(c)}, per_group, {ElementType::kI64, Shape{slices}}, per_group};
  if (types.size() > c.output_count()) types.resize(c.output_count());
  return types;
}

}  // namespace

void register_selection(OperatorTable& table) {
  table.add({.name = "NonZero",
             .since = 9,
             .doc = "The positions of the elements that are not zero.",
             .inputs = "x",
             .opaque_reason = "the number of results depends on the values",
             .kernel = run_non_zero,
             .infer =
                 [](OpContext& c) {
                   return std::vector<TensorType>{
                       {ElementType::kI64, Shape{c.rank(0), kUnknownDim}}};
                 },
             .example = "NonZero(x: f32[2, 3])"});
  table.add(
      {.name = "Compress",
       .since = 9,
       .doc = "The slices along an axis (or elements) where a condition holds.",
       .inputs = "x, condition",
       .attributes = "axis: int",
       .opaque_reason = "the number of results depends on the values",
       .kernel = run_compress,
       .infer =
           [](OpContext& c) { return std::vector<TensorType>{{c.type(0), selected_shape(c)}}; },
       .example = "Compress(x: f32[3, 2], condition: bool[3]) {axis = 0}"});
  table.add({.name = "TopK",
             .doc = "The k largest or smallest elements along an axis, and their positions.",
             .inputs = "x, k?",
             .outputs = "values, indices",
             .attributes = "axis: int = -1, largest: int = 1, sorted: int = 1, k: int",
             .opaque_reason = "sorting has no expression form",
             .kernel = run_top_k,
             .infer = infer_top_k,
             .example = "TopK(x: f32[2, 5], k: i64[1] = [3]) {largest = 0} -> (values, indices)"});
  table.add({.name = "Unique",
             .since = 11,
             .doc = "The distinct elements or slices, with positions, group of each, and counts.",
             .inputs = "x",
             .outputs = "y, indices?, inverse?, counts?",
             .attributes = "axis: int, sorted: int = 1",
             .opaque_reason = "the number of results depends on the values",
             .kernel = run_unique,
             .infer = infer_unique,
             .example = "Unique(x: f32[6]) {sorted = 0} -> (y, indices, inverse, counts)"});
}

}  // namespace hone
