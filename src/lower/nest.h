// Loop nests over flat memory: what is left of tensor expressions once every tensor has a place.
//
// A nest runs over its output axes; for each point it combines `body` over its reduction axes and
// then makes its stores. Reads and stores have one index: elements from the buffer's start. A store
// reads the reduction's result as tensor kAccumulator. A kernel is one nest, or several that share
// their first axes and pass values to each other through local buffers (softmax, normalisations).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/tensor_expr.h"

namespace hone {

inline constexpr int kAccumulator = -1;

struct Nest {
  struct Store {
    int tensor;
    Index at;
    Scalar value;
    Scalar condition{};  // valid: only where it holds
    Scalar inner{};      // valid: computed in any case, and read by `value` as the accumulator
  };
  std::vector<int64_t> extents;  // of the axes: output axes first, then reduction axes
  size_t outputs = 0;            // number of output axes
  std::vector<int64_t> steps;    // extents of the scans around it; axis -1 is the innermost
  Combiner combiner = Combiner::kNone;
  Scalar body;  // where combiner is not kNone
  std::vector<Store> stores;
  bool serial = false;  // in order, by one thread: later points may overwrite earlier ones

  [[nodiscard]] bool reduces() const { return combiner != Combiner::kNone; }
  [[nodiscard]] int64_t points() const;  // of all axes
  [[nodiscard]] std::vector<Dim> dims() const;
};

struct KernelTensor {
  enum class Role : uint8_t { kIn, kOut, kConstant, kLocal } role = Role::kIn;
  ElementType type = ElementType::kF32;
  int64_t elements = 0;  // of the whole buffer
  std::string name;
};

struct Kernel {
  std::vector<KernelTensor> tensors;
  std::vector<Table> tables;
  std::vector<Nest> nests;
  size_t shared = 0;  // first axes that all nests have in common; local buffers live inside them
};

// Everything a pass can see of a nest, for people.
[[nodiscard]] std::string to_text(const Kernel& kernel);

// The nest with each axis replaced by an index over new axes, and simplified.
struct AxisChange {
  std::vector<int64_t> extents;
  size_t outputs = 0;
  std::vector<Index> old_axes;  // in terms of the new ones
};
[[nodiscard]] Nest change_axes(const Nest& nest, const AxisChange& change);
[[nodiscard]] Nest simplify(const Nest& nest);

// Axes of extent 1 go; from `keep_first` on.
[[nodiscard]] Nest drop_unit_axes(const Nest& nest, size_t keep_first = 0);
// Splits axes until div and mod of an axis by a number that divides its extent are gone.
[[nodiscard]] Nest split_axes(const Nest& nest, size_t keep_first = 0);
// Axis -> (outer, inner) with the given inner extent, which must divide it.
[[nodiscard]] Nest split_axis(const Nest& nest, size_t axis, int64_t inner);
// Joins neighbouring axes that every access walks through as one.
[[nodiscard]] Nest join_axes(const Nest& nest, size_t keep_first = 0);
// Two output axes a, b (any places) as one axis a * extent(b) + b at the place of a, by div and
// mod where accesses do not walk through them as one.
[[nodiscard]] Nest flatten_axes(const Nest& nest, size_t a, size_t b);
// Output axes in a new order, and reduction axes in a new order: order[i] is the old axis at i.
[[nodiscard]] Nest reorder(const Nest& nest, const std::vector<size_t>& order);

// Every read with its flat index, in order, repeated ones once; body first, then stores.
struct FlatRead {
  int tensor;
  Index at;
  bool in_body;
  bool guarded = false;  // stands in a branch of a select: may be out of bounds elsewhere
};
[[nodiscard]] std::vector<FlatRead> reads_of(const Nest& nest);

// offset + sum of strides[axis] * axis, if the index has that form.
[[nodiscard]] bool is_linear(const Index& index);
[[nodiscard]] int64_t stride_of(const Index& index, size_t axis);

}  // namespace hone
