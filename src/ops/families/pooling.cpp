// Pooling by sliding windows: MaxPool, AveragePool, LpPool.
#include "ops/arithmetic.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace hone {
namespace {

constexpr const char* kPoolAttributes =
    "auto_pad: string = \"NOTSET\", ceil_mode: int = 0, dilations: ints, kernel_shape: ints, "
    "pads: ints, strides: ints";

struct Pool {
  Windows windows;
  Shape input;  // spatial extents
  Axes output;  // n, c, then the windows
  Axes window, taps;
  std::vector<Index> read;  // of the input
};

Pool pool_of(const OpContext& c, Builder& b) {
  Pool pool;
  pool.input = spatial_extents(c, 0);
  const auto rounding = c.int_attribute("ceil_mode", 0) != 0 ? Rounding::kCeil : Rounding::kFloor;
  pool.windows = windows_of(c, pool.input, required_kernel(c, pool.input.size()), rounding);
  const AxisId n = b.axis("n", c.dim(0, 0));
  const AxisId channel = b.axis("c", c.dim(0, 1));
  pool.window = b.axes("o", pool.windows.output);
  pool.taps = b.axes("r", pool.windows.kernel);
  pool.output = {n, channel};
  pool.output.insert(pool.output.end(), pool.window.begin(), pool.window.end());
  pool.read = {n, channel};
  for (Index& index : pool.windows.positions(pool.window, pool.taps))
    pool.read.push_back(std::move(index));
  return pool;
}

Scalar read_or(const Pool& pool, const Operand& x, const Literal& outside) {
  return pool.windows.may_leave ? x.at_or(pool.read, outside) : x.at(pool.read);
}

// Among the taps of a window along one axis, the nearest to `tap` that reads inside the input.
Index inside_tap(const Pool& pool, size_t axis, const Index& tap) {
  if (!pool.windows.may_leave) return tap;
  const Windows& w = pool.windows;
  const Index start = w.position(axis, pool.window[axis], 0);
  // The first tap with start + d r >= 0 and the last with start + d r <= extent - 1.
  const Index first = Index(0) - floor_div(start, w.dilations[axis]);
  const Index last = floor_div(Index(pool.input[axis] - 1) - start, w.dilations[axis]);
  return min(max(tap, first), last);
}

// The position of the first maximum of each window in the flattened input. The window is
// flattened for it, and taps that read outside are moved to the nearest one inside; that keeps
// the order of the positions, so the first maximum stays the first.
Operand max_position(const OpContext& c, Builder& b, const Pool& pool, const Operand& x) {
  const size_t rank = pool.windows.rank();
  const auto positions = [&](const Index& flat) {
    std::vector<Index> result(rank);
    Index rest = flat;
    for (size_t i = rank; i-- > 0;) {
      const Dim& kernel = pool.windows.kernel[i];
      const Index tap = inside_tap(pool, i, i == 0 ? rest : mod(rest, kernel));
      result[i] = pool.windows.position(i, pool.window[i], tap);
      rest = floor_div(rest, kernel);
    }
    return result;
  };
  const AxisId n = pool.output[0];
  const AxisId channel = pool.output[1];
  const AxisId flat = b.axis("q", element_count(pool.windows.kernel));
  std::vector<Index> read = {n, channel};
  for (const Index& index : positions(flat)) read.push_back(index);
  const Operand tap = b.reduce("tap", pool.output, Combiner::kArgMaxFirst, {flat},
                               x.at_or(read, lowest_of(x.type())));

  const std::vector<Index> chosen = positions(Index::value(tap.at(pool.output)));
  Index position = Index(n) * c.dim(0, 1) + Index(channel);
  if (c.int_attribute("storage_order", 0) == 0) {
    for (size_t i = 0; i < rank; ++i) position = position * pool.input[i] + chosen[i];
  } else {
    position = position * element_count(pool.input);
    Dim step = 1;
    for (size_t i = 0; i < rank; ++i) {
      position = position + chosen[i] * step;
      step *= pool.input[i];
    }
  }
  return b.map("indices", pool.output, Scalar::index(position));
}

// y[n, c, o..] = max_{r..} x[n, c, s o + d r - p ..]
TensorExpr define_max_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kNumber);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const Pool pool = pool_of(c, b);
  const Operand y =
      b.reduce("y", pool.output, Combiner::kMax, pool.taps, read_or(pool, x, lowest_of(x.type())));
  if (c.output_count() < 2) return b.finish({y});
  return b.finish({y, max_position(c, b, pool, x)});
}

// How many taps r of a window along one axis have begin <= s o + d r - p < end.
Index count_between(const Pool& pool, size_t axis, const Dim& begin, const Dim& end) {
  const Windows& w = pool.windows;
  const Dim& dilation = w.dilations[axis];
  const Index start = w.position(axis, pool.window[axis], 0);
  const Index before = max(Index(0), Index(0) - floor_div(start - Index(begin), dilation));
  const Index until = min(Index(w.kernel[axis]), floor_div(Index(end - 1) - start, dilation) + 1);
  return max(until - before, Index(0));
}

// y[n, c, o..] = sum_{r..} x[n, c, s o + d r - p ..] / count(o..)
// The count is that of the taps inside the input or, with count_include_pad, inside the padded
// input; what ceil_mode adds beyond the pads never counts.
TensorExpr define_average_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType type = x.type();
  const ElementType wide = accumulator_of(type);
  const Pool pool = pool_of(c, b);
  const bool pads_count = c.int_attribute("count_include_pad", 0) != 0;
  const Operand sum = b.reduce("total", pool.output, Combiner::kSum, pool.taps,
                               Scalar::cast(wide, read_or(pool, x, 0)));
  Scalar count = as_number(wide, element_count(pool.windows.kernel));
  const bool always_full =
      !pool.windows.may_leave || (pads_count && c.int_attribute("ceil_mode", 0) == 0);
  if (!always_full) {
    count = as_number(wide, Index(1));
    for (size_t i = 0; i < pool.windows.rank(); ++i) {
      const Dim begin = pads_count ? -pool.windows.pad_begin[i] : Dim(0);
      const Dim end = pads_count ? pool.input[i] + pool.windows.pad_end[i] : pool.input[i];
      count = count * as_number(wide, count_between(pool, i, begin, end));
    }
  }
  return b.finish({b.map("y", pool.output, Scalar::cast(type, sum.at(pool.output) / count))});
}

// y[n, c, o..] = (sum_{r..} |x[n, c, s o + d r - p ..]|^p)^(1/p)
TensorExpr define_lp_pool(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ElementType wide = accumulator_of(x.type());
  const Pool pool = pool_of(c, b);
  const int64_t p = c.int_attribute("p", 2);
  if (p < 1) throw_invalid("p = " + std::to_string(p) + " gives no norm");
  const Scalar value = Scalar::cast(wide, read_or(pool, x, 0));
  const Scalar power = p == 1   ? abs(value)
                       : p == 2 ? value * value
                                : pow(abs(value), Scalar::literal(wide, p));
  const Operand sum = b.reduce("total", pool.output, Combiner::kSum, pool.taps, power);
  const Scalar total = sum.at(pool.output);
  const Scalar root = p == 1   ? total
                      : p == 2 ? sqrt(total)
                               : pow(total, Scalar::literal(wide, Literal::rational(1, p)));
  return b.finish({b.map("y", pool.output, Scalar::cast(x.type(), root))});
}

}  // namespace

void register_pooling(OperatorTable& table) {
  table.add({.name = "MaxPool",
             .since = 1,
             .doc = "Maximum over sliding windows, and optionally where each was found.",
             .inputs = "x",
             .outputs = "y, indices?",
             .attributes = std::string(kPoolAttributes) + ", storage_order: int = 0",
             .define = define_max_pool,
             .example = "MaxPool(x: f32[1, 2, 5, 5]) {kernel_shape = [3, 3], strides = [2, 2], "
                        "pads = [1, 1, 1, 1]}"});
  table.add({.name = "AveragePool",
             .since = 1,
             .doc = "Average over sliding windows.",
             .inputs = "x",
             .attributes = std::string(kPoolAttributes) + ", count_include_pad: int = 0",
             .define = define_average_pool,
             .example = "AveragePool(x: f32[1, 2, 5, 5]) {kernel_shape = [3, 3], "
                        "pads = [1, 1, 1, 1]}"});
  table.add({.name = "LpPool",
             .since = 2,
             .doc = "Lp norm over sliding windows.",
             .inputs = "x",
             .attributes = std::string(kPoolAttributes) + ", p: int = 2",
             .define = define_lp_pool,
             .example = "LpPool(x: f32[1, 2, 5, 5]) {kernel_shape = [2, 2], p = 3}"});
}

}  // namespace hone
