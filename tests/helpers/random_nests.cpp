// Random nests and random schedules.
#include <algorithm>
#include <numeric>

#include "helpers/nests.h"
#include "lower/values.h"

namespace hone::testing {
namespace {

constexpr ElementType kF32 = ElementType::kF32;

int64_t draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

template <typename T>
T pick(std::mt19937_64& random, const std::vector<T>& from) {
  return from[random() % from.size()];
}

// An index that is never negative, and the greatest value it takes.
struct BoundedIndex {
  Index index;
  int64_t most = 0;
};

// Row-major over the axes in this order.
BoundedIndex dense(const std::vector<int64_t>& extents, const std::vector<size_t>& order) {
  BoundedIndex result;
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t axis = order[i];
    result.index = result.index + Index(AxisId{static_cast<int>(axis)}) * Dim(stride);
    stride *= extents[axis];
  }
  result.most = stride - 1;
  return result;
}

std::vector<size_t> shuffled(size_t begin, size_t end, std::mt19937_64& random) {
  std::vector<size_t> order(end - begin);
  std::iota(order.begin(), order.end(), begin);
  std::ranges::shuffle(order, random);
  return order;
}

// Part of an index along one axis: the axis, its quotient or its remainder.
BoundedIndex along(size_t axis, int64_t extent, std::mt19937_64& random) {
  const Index plain = AxisId{static_cast<int>(axis)};
  const int64_t divisor = pick<int64_t>(random, {2, 3, 4});
  switch (draw(random, 0, 4)) {
    case 0:
      return {floor_div(plain, divisor), (extent - 1) / divisor};
    case 1:
      return {mod(plain, divisor), std::min(divisor, extent) - 1};
    default:
      return {plain, extent - 1};
  }
}

BoundedIndex random_index(const std::vector<int64_t>& extents, std::mt19937_64& random) {
  if (draw(random, 0, 2) == 0) return dense(extents, shuffled(0, extents.size(), random));
  BoundedIndex result{draw(random, 0, 3), 0};
  result.most = result.index.offset().value();
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (draw(random, 0, 3) == 0) continue;
    const BoundedIndex part = along(axis, extents[axis], random);
    const int64_t stride = draw(random, 1, 9);
    result.index = result.index + part.index * Dim(stride);
    result.most += part.most * stride;
  }
  return result;
}

// Whether `condition` can be met: the read of packed tensors is the only one, and linear.
bool read_once(const Kernel& kernel, int tensor) {
  const std::vector<FlatRead> reads = reads_of(kernel.nests[0]);
  return std::ranges::count(reads, tensor, &FlatRead::tensor) == 1;
}

std::vector<int> packable(const Kernel& kernel, const NestSchedule& schedule) {
  std::vector<int> result;
  for (const FlatRead& read : reads_of(kernel.nests[0])) {
    if (!read.in_body || read.guarded || !is_linear(read.at) || !read_once(kernel, read.tensor) ||
        !read.at.mentions(AxisId{schedule.vector_axis}))
      continue;
    const KernelTensor& tensor = kernel.tensors[static_cast<size_t>(read.tensor)];
    const bool by_rows = schedule.row_axis >= 0 && read.at.mentions(AxisId{schedule.row_axis});
    if (tensor.role == KernelTensor::Role::kConstant ||
        (tensor.role == KernelTensor::Role::kIn && !by_rows))
      result.push_back(read.tensor);
  }
  return result;
}

// Lanes can run along an output axis where all stores are strided.
std::vector<int> vector_axes(const Nest& nest) {
  std::vector<int> axes;
  for (size_t axis = 0; axis < nest.outputs; ++axis) {
    const bool strided = std::ranges::all_of(nest.stores, [&](const Nest::Store& store) {
      return is_linear(store.at) && stride_of(store.at, axis) != 0;
    });
    if (strided && nest.extents[axis] > 1) axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

void pick_blocks(const Nest& nest, NestSchedule& schedule, std::mt19937_64& random) {
  if (draw(random, 0, 1) == 0) schedule.m_block = schedule.rows * draw(random, 1, 4);
  if (draw(random, 0, 1) == 0)
    schedule.n_block = int64_t{schedule.lanes} * schedule.vectors * draw(random, 1, 3);
  if (!nest.reduces()) return;
  std::vector<int> divisors;
  for (const int unroll : {1, 2, 3, 4, 8})
    if (nest.extents.back() % unroll == 0) divisors.push_back(unroll);
  schedule.unroll = pick(random, divisors);
  if (nest.combiner != Combiner::kSum || nest.stores.size() != 1 || draw(random, 0, 1) == 0) return;
  const bool single = nest.outputs + 1 == nest.extents.size();
  schedule.k_block = draw(random, 1, 5) * (single ? schedule.unroll : 1);
}

}  // namespace

Kernel random_nest(std::mt19937_64& random) {
  Kernel kernel;
  Nest nest;
  nest.outputs = static_cast<size_t>(draw(random, 1, 4));
  const auto reduced = static_cast<size_t>(draw(random, 0, 2));
  for (size_t i = 0; i < nest.outputs + reduced; ++i)
    nest.extents.push_back(pick<int64_t>(random, {1, 2, 3, 4, 6, 8}));
  const auto read = [&] {
    const BoundedIndex at = random_index(nest.extents, random);
    const auto number = static_cast<int>(kernel.tensors.size());
    kernel.tensors.push_back(
        {KernelTensor::Role::kIn, kF32, at.most + 1, "x" + std::to_string(number)});
    const Scalar value = Scalar::read(kF32, number, {at.index});
    if (draw(random, 0, 2) != 0) return value;
    const auto axis = static_cast<size_t>(draw(random, 0, int64_t(nest.extents.size()) - 1));
    const Index bound = draw(random, 0, nest.extents[axis]);
    return select(less(Index(AxisId{static_cast<int>(axis)}), bound), value, Literal(5));
  };
  const Scalar value = read() * read();
  if (reduced > 0) {
    nest.combiner = pick<Combiner>(random, {Combiner::kSum, Combiner::kMax, Combiner::kMin});
    nest.body = value;
  }
  const BoundedIndex to = dense(nest.extents, shuffled(0, nest.outputs, random));
  const auto out = static_cast<int>(kernel.tensors.size());
  kernel.tensors.push_back({KernelTensor::Role::kOut, kF32, to.most + 4, "y"});
  nest.stores.push_back({out, to.index + draw(random, 0, 3),
                         reduced > 0 ? Scalar::read(kF32, kAccumulator, {}) : value});
  kernel.nests.push_back(std::move(nest));
  return kernel;
}

Schedule plain_schedule(const Kernel& kernel) {
  return {std::vector<NestSchedule>(kernel.nests.size())};
}

Schedule random_schedule(const Kernel& kernel, std::mt19937_64& random) {
  const Nest& nest = kernel.nests[0];
  NestSchedule schedule;
  schedule.lanes = pick<int>(random, {1, 2, 3, 4, 5, 8, 16});
  schedule.vectors = static_cast<int>(draw(random, 1, 4));
  const std::vector<int> axes = vector_axes(nest);
  const bool folds = nest.reduces() && (axes.empty() || draw(random, 0, 3) == 0);
  if (folds)
    schedule.vector_axis = static_cast<int>(nest.extents.size()) - 1;
  else if (!axes.empty())
    schedule.vector_axis = pick(random, axes);
  std::vector<int> others;
  for (int axis = 0; axis < static_cast<int>(nest.outputs); ++axis)
    if (axis != schedule.vector_axis) others.push_back(axis);
  if (!others.empty() && draw(random, 0, 3) != 0) {
    schedule.row_axis = pick(random, others);
    schedule.rows = static_cast<int>(draw(random, 1, 7));
  }
  if (folds) return {{schedule}};
  pick_blocks(nest, schedule, random);
  if (nest.reduces() && schedule.vector_axis >= 0)
    for (const int tensor : packable(kernel, schedule))
      if (draw(random, 0, 2) != 0) schedule.pack.push_back(tensor);
  schedule.prefetch = draw(random, 0, 1) == 1;
  return {{schedule}};
}

}  // namespace hone::testing
