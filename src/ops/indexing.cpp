#include "ops/indexing.h"

#include <algorithm>
#include <utility>

#include "ops/kernels.h"

namespace hone {
namespace {

struct Segment {
  size_t from, to;  // how many dimensions of each side
};

Dim product(const Shape& shape, size_t begin, size_t count) {
  Dim result = 1;
  for (size_t i = begin; i < begin + count; ++i) result *= shape[i];
  return result;
}

// The shortest runs from[i..] and to[j..] of equal product; everything left if none is found.
Segment next_segment(const Shape& from, const Shape& to, size_t i, size_t j) {
  constexpr size_t kLongestRun = 8;
  const size_t left = from.size() - i;
  const size_t right = to.size() - j;
  if (left > 0 && right > 0 && from[i] == to[j]) return {1, 1};
  if (left > 0 && from[i].is(1)) return {1, 0};
  if (right > 0 && to[j].is(1)) return {0, 1};
  for (size_t total = 3; total <= 2 * kLongestRun; ++total)
    for (size_t m = 1; m < total && m <= left; ++m)
      if (total - m <= right && product(from, i, m) == product(to, j, total - m))
        return {m, total - m};
  return {left, right};
}

}  // namespace

std::vector<Index> to_indices(const Axes& axes) { return {axes.begin(), axes.end()}; }

Index flat_index(const std::vector<Index>& position, const Shape& shape) {
  Index flat = 0;
  for (size_t i = 0; i < position.size(); ++i) flat = flat * shape[i] + position[i];
  return flat;
}

std::vector<Index> reshape_indices(const Shape& from, const Shape& to,
                                   const std::vector<Index>& position) {
  std::vector<Index> result(from.size(), Index(0));
  const auto is_empty = [](const Dim& d) { return d.is(0); };
  // Without elements nothing is read, and nothing may be divided by 0.
  if (std::any_of(from.begin(), from.end(), is_empty) ||
      std::any_of(to.begin(), to.end(), is_empty))
    return result;
  for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
    const Segment run = next_segment(from, to, i, j);
    Index flat = 0;
    for (size_t k = j; k < j + run.to; ++k) flat = flat * to[k] + position[k];
    Dim stride = 1;
    for (size_t k = i + run.from; k-- > i;) {
      const Index digit = floor_div(flat, stride);
      result[k] = k == i ? digit : mod(digit, from[k]);
      stride *= from[k];
    }
    i += run.from;
    j += run.to;
  }
  return result;
}

TensorExpr reshape_to(const OpContext& c, const Shape& to) {
  Builder b;
  const Operand x = c.declare(b, {"x", "shape"})[0];
  b.require_equal(element_count(x.shape()), element_count(to), "element counts");
  const Axes axes = b.axes("i", to);
  return b.finish({b.map("y", axes, x.at(reshape_indices(x.shape(), to, to_indices(axes))))});
}

Index wrapped_index(const Scalar& value, const Dim& extent) {
  const Scalar i = Scalar::cast(ElementType::kI64, value);
  return Index::value(select(less(i, Literal(0)), i + Scalar::index(extent), i));
}

Scalar single_element(const Operand& x) {
  if (x.rank() > 1) throw_invalid("a scalar is expected, not " + to_string(x.shape()));
  if (x.rank() == 1 && x.dim(0).is_const() && !x.dim(0).is(1))
    throw_invalid("one element is expected, not " + x.dim(0).to_string());
  return x.at(std::vector<Index>(static_cast<size_t>(x.rank()), Index(0)));
}

std::optional<std::vector<Dim>> dims_by_opset(const OpContext& c, const std::string& attribute,
                                              size_t i, int input_since) {
  if (c.opset() >= input_since) {
    if (!c.has(i)) return std::nullopt;
    return c.dims_value(i);
  }
  if (!c.has_attribute(attribute)) return std::nullopt;
  return c.dims_attribute(attribute, {});
}

std::optional<std::vector<int64_t>> ints_by_opset(const OpContext& c, const std::string& attribute,
                                                  size_t i, int input_since) {
  if (c.opset() >= input_since) {
    if (!c.has(i)) return std::nullopt;
    return c.ints_value(i);
  }
  if (!c.has_attribute(attribute)) return std::nullopt;
  return c.ints_attribute(attribute, {});
}

Dim vector_length(const OpContext& c, size_t i) {
  if (c.rank(i) != 1) throw_invalid("input " + std::to_string(i) + " must be a vector");
  return c.dim(i, 0);
}

std::vector<TensorType> type_of_rank(ElementType type, const Dim& rank) {
  if (!rank.is_const()) return {{type, std::nullopt}};
  if (rank.value() < 0 || rank.value() > 1024) throw_invalid("a rank of " + rank.to_string());
  return {{type, Shape(static_cast<size_t>(rank.value()), Dim(kUnknownDim))}};
}

std::vector<TensorType> same_rank(OpContext& c) {
  const auto& shape = c.operand_info(0).type.shape;
  if (!shape) return {{c.type(0), std::nullopt}};
  return type_of_rank(c.type(0), static_cast<int64_t>(shape->size()));
}

bool is_at_most(const Dim& a, const Dim& b) { return min(a, b) == a; }

}  // namespace hone
