#include "helpers/nests.h"

namespace hone::testing {
namespace {

constexpr ElementType kF32 = ElementType::kF32;
using Role = KernelTensor::Role;

Index ax(int axis) { return AxisId{axis}; }

// Tensors are added in order; a nest reads and writes them by number.
struct Builder {
  Kernel kernel;
  int add(Role role, int64_t elements) {
    kernel.tensors.push_back({role, kF32, elements, "t" + std::to_string(kernel.tensors.size())});
    return static_cast<int>(kernel.tensors.size()) - 1;
  }
  int in(int64_t elements) { return add(Role::kIn, elements); }
  int weights(int64_t elements) { return add(Role::kConstant, elements); }
  int out(int64_t elements) { return add(Role::kOut, elements); }
  Nest& nest(std::vector<int64_t> extents, size_t outputs, Combiner combiner = Combiner::kNone) {
    Nest nest;
    nest.extents = std::move(extents);
    nest.outputs = outputs;
    nest.combiner = combiner;
    kernel.nests.push_back(std::move(nest));
    return kernel.nests.back();
  }
};

Scalar read(int tensor, const Index& at) { return Scalar::read(kF32, tensor, {at}); }
Scalar accumulator() { return Scalar::read(kF32, kAccumulator, {}); }

// 2-d convolution on channel-last data that already has its surroundings; window 3x3.
Kernel conv_kernel(int64_t rows, int64_t columns, int64_t in_channels, int64_t out_channels,
                   int64_t stride) {
  const int64_t width = (columns - 1) * stride + 3;
  Builder b;
  const int x = b.in(((rows - 1) * stride + 3) * width * in_channels);
  const int w = b.weights(out_channels * in_channels * 9);
  const int bias = b.weights(out_channels);
  const int y = b.out(rows * columns * out_channels);
  Nest& nest = b.nest({rows, columns, out_channels, in_channels, 3, 3}, 3, Combiner::kSum);
  const Index at_row = ax(0) * Dim(stride) + ax(4);
  const Index at_column = ax(1) * Dim(stride) + ax(5);
  nest.body = read(x, (at_row * Dim(width) + at_column) * Dim(in_channels) + ax(3)) *
              read(w, ((ax(2) * Dim(in_channels) + ax(3)) * Dim(3) + ax(4)) * Dim(3) + ax(5));
  nest.stores.push_back({y, (ax(0) * Dim(columns) + ax(1)) * Dim(out_channels) + ax(2),
                         max(accumulator() + read(bias, ax(2)), 0)});
  return b.kernel;
}

Kernel depthwise_kernel(int64_t rows, int64_t columns, int64_t channels) {
  Builder b;
  const int x = b.in((rows + 2) * (columns + 2) * channels);
  const int w = b.weights(channels * 9);
  const int y = b.out(rows * columns * channels);
  Nest& nest = b.nest({rows, columns, channels, 3, 3}, 3, Combiner::kSum);
  const Index pixel = (ax(0) + ax(3)) * Dim(columns + 2) + ax(1) + ax(4);
  nest.body =
      read(x, pixel * Dim(channels) + ax(2)) * read(w, (ax(2) * Dim(3) + ax(3)) * Dim(3) + ax(4));
  nest.stores.push_back({y, (ax(0) * Dim(columns) + ax(1)) * Dim(channels) + ax(2), accumulator()});
  return b.kernel;
}

// Lanes run across groups: the input of output channel o begins at (o / per_group) * inner.
Kernel grouped_kernel(int64_t pixels, int64_t groups, int64_t per_group, int64_t inner) {
  Builder b;
  const int64_t outputs = groups * per_group;
  const int x = b.in(pixels * groups * inner);
  const int w = b.weights(outputs * inner);
  const int y = b.out(pixels * outputs);
  Nest& nest = b.nest({pixels, outputs, inner}, 2, Combiner::kSum);
  nest.body =
      read(x, ax(0) * Dim(groups * inner) + floor_div(ax(1), per_group) * Dim(inner) + ax(2)) *
      read(w, ax(1) * Dim(inner) + ax(2));
  nest.stores.push_back({y, ax(0) * Dim(outputs) + ax(1), accumulator()});
  return b.kernel;
}

// Windows of 2x2 with stride 2; where the window leaves the row, it counts as -100.
Kernel pooling_kernel(int64_t rows, int64_t columns, int64_t channels) {
  Builder b;
  const int64_t width = columns * 2 - 1;
  const int x = b.in(rows * 2 * width * channels);
  const int y = b.out(rows * columns * channels);
  Nest& nest = b.nest({rows, columns, channels, 2, 2}, 3, Combiner::kMax);
  const Index column = ax(1) * Dim(2) + ax(4);
  nest.body =
      select(less(column, Index(width)),
             read(x, ((ax(0) * Dim(2) + ax(3)) * Dim(width) + column) * Dim(channels) + ax(2)),
             Literal(-100));
  nest.stores.push_back({y, (ax(0) * Dim(columns) + ax(1)) * Dim(channels) + ax(2), accumulator()});
  return b.kernel;
}

Kernel reduction_kernel(int64_t rows, int64_t columns, Combiner combiner) {
  Builder b;
  const int x = b.in(rows * columns);
  const int y = b.out(rows);
  Nest& nest = b.nest({rows, columns}, 1, combiner);
  nest.body = read(x, ax(0) * Dim(columns) + ax(1));
  nest.stores.push_back({y, ax(0), accumulator() + Literal(1)});
  return b.kernel;
}

// Sums along the rows of a matrix, weighted; folded lanes share the weights.
Kernel dot_kernel(int64_t rows, int64_t columns) {
  Builder b;
  const int x = b.in(rows * columns);
  const int w = b.in(columns);
  const int y = b.out(rows);
  Nest& nest = b.nest({rows, columns}, 1, Combiner::kSum);
  nest.body = read(x, ax(0) * Dim(columns) + ax(1)) * read(w, ax(1));
  nest.stores.push_back({y, ax(0), accumulator()});
  return b.kernel;
}

// Two results of one map, one of them transposed, in buffers that are larger.
Kernel map_kernel(int64_t rows, int64_t columns) {
  Builder b;
  const int x = b.in(rows * columns);
  const int s = b.in(columns);
  const int y = b.out((rows + 1) * (columns + 3));
  const int z = b.out(columns * rows);
  Nest& nest = b.nest({rows, columns}, 2);
  const Scalar sum = read(x, ax(0) * Dim(columns) + ax(1)) + read(s, ax(1));
  nest.stores.push_back({y, ax(0) * Dim(columns + 3) + ax(1) + 2, max(sum, 0)});
  nest.stores.push_back({z, ax(1) * Dim(rows) + ax(0), sum * sum});
  return b.kernel;
}

// Rows that are read and written backwards.
Kernel reversed_kernel(int64_t rows, int64_t columns) {
  Builder b;
  const int x = b.in(rows * columns);
  const int y = b.out(rows * columns);
  const int z = b.out(rows * columns);
  Nest& nest = b.nest({rows, columns}, 2);
  const Index forward = ax(0) * Dim(columns) + ax(1);
  const Index backward = ax(0) * Dim(columns) - ax(1) + (columns - 1);
  const Index last_row_first = (Index(rows - 1) - ax(0)) * Dim(columns) + ax(1);
  nest.stores.push_back({y, forward, read(x, backward) + read(x, last_row_first)});
  nest.stores.push_back({z, backward, read(x, forward)});
  return b.kernel;
}

// Reads with a guard, a shuffle (floor_div by 2) and a table.
Kernel upsample_kernel(int64_t rows, int64_t columns) {
  Builder b;
  const int x = b.in(rows * (columns / 2));
  const int t = b.in(columns + 5);
  const int y = b.out(rows * columns);
  Table table{"places", {}, {}};
  for (int64_t i = 0; i < columns; ++i) table.indices.push_back((i * 7 + 3) % (columns + 5));
  b.kernel.tables.push_back(std::move(table));
  Nest& nest = b.nest({rows, columns}, 2);
  const Scalar half = read(x, ax(0) * Dim(columns / 2) + floor_div(ax(1), 2));
  const Scalar placed = read(t, Index::table(TableId{0}, ax(1)));
  const Scalar guarded =
      select(less(ax(1), Index(columns / 2)), read(x, ax(0) * Dim(columns / 2) + ax(1)), 7);
  nest.stores.push_back({y, ax(0) * Dim(columns) + ax(1), half + placed + guarded});
  return b.kernel;
}

}  // namespace

Kernel matmul_kernel(int64_t m, int64_t k, int64_t n, bool constant_right) {
  Builder b;
  const int left = b.in(m * k);
  const int right = b.add(constant_right ? Role::kConstant : Role::kIn, k * n);
  const int out = b.out(m * n);
  Nest& nest = b.nest({m, n, k}, 2, Combiner::kSum);
  nest.body = read(left, ax(0) * Dim(k) + ax(2)) * read(right, ax(2) * Dim(n) + ax(1));
  nest.stores.push_back({out, ax(0) * Dim(n) + ax(1), max(accumulator(), 0)});
  return b.kernel;
}

Kernel centered_rows_kernel(int64_t rows, int64_t columns) {
  Builder b;
  const int x = b.in(rows * columns);
  const int y = b.out(rows * columns);
  const int top = b.add(Role::kLocal, 1);
  b.kernel.shared = 1;
  Nest& first = b.nest({rows, columns}, 1, Combiner::kMax);
  first.body = read(x, ax(0) * Dim(columns) + ax(1));
  first.stores.push_back({top, 0, accumulator()});
  Nest& second = b.nest({rows, columns}, 2);
  second.stores.push_back(
      {y, ax(0) * Dim(columns) + ax(1), read(x, ax(0) * Dim(columns) + ax(1)) - read(top, 0)});
  return b.kernel;
}

std::vector<NamedKernel> small_kernels() {
  return {{"matmul", matmul_kernel(13, 12, 21)},
          {"matmul of two inputs", matmul_kernel(14, 8, 19, false)},
          {"convolution", conv_kernel(3, 5, 4, 9, 1)},
          {"strided convolution", conv_kernel(2, 4, 3, 17, 2)},
          {"depthwise convolution", depthwise_kernel(3, 4, 11)},
          {"groups of 2", grouped_kernel(5, 12, 2, 3)},
          {"groups of 4", grouped_kernel(3, 5, 4, 2)},
          {"groups of 3", grouped_kernel(3, 5, 3, 4)},
          {"pooling", pooling_kernel(3, 4, 10)},
          {"row sums", reduction_kernel(7, 37, Combiner::kSum)},
          {"row maxima", reduction_kernel(6, 50, Combiner::kMax)},
          {"short row minima", reduction_kernel(6, 5, Combiner::kMin)},
          {"dot products", dot_kernel(9, 41)},
          {"reversed rows", reversed_kernel(4, 21)},
          {"maps", map_kernel(5, 23)},
          {"upsampling", upsample_kernel(3, 32)}};
}

}  // namespace hone::testing
