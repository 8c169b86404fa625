// From the scalars and indices of a stage to straight-line code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "expr/tensor_expr.h"
#include "expr/vm/code.h"

namespace hone::vm {

// A table as elements of a compute type.
struct TableImage {
  TableId table;
  ElementType type;
  std::vector<uint64_t> storage;
  [[nodiscard]] const std::byte* data() const {
    return reinterpret_cast<const std::byte*>(storage.data());
  }
};

// What all stages of a program share. Every dimension of the expression is a number.
struct Environment {
  const TensorExpr& expr;
  Numbers numbers = Numbers::kNative;
  uint64_t seed = 0;
  const std::map<std::string, Literal>& parameters;
  std::vector<TableImage>& table_images;
  std::vector<int64_t> step_extents;  // of enclosing scans, innermost first

  // Tables are memory after the tensors, once per type that they are read as.
  [[nodiscard]] int memory_of(TableId table, ElementType type) const;
  [[nodiscard]] std::vector<Interval> step_ranges() const;
};

// A stage's iteration space and what is computed at each point of it.
struct Nest {
  std::vector<int64_t> outputs, reductions;  // extents
  std::vector<int64_t> begins;               // of the output axes, where not all 0
  int first_axis = 0;                        // AxisId of the first
  std::vector<Scalar> bodies;                // roots of the code, in order
  std::vector<Index> targets;                // further roots, as i64
  Combiner combiner = Combiner::kNone;
  bool may_split = true;                // axes may be split in two
  std::vector<int64_t> result_strides;  // per output axis

  [[nodiscard]] std::vector<Interval> axis_ranges() const;
};

struct LoweredNest {
  Code code;
  Linear address;  // of the result, in elements
};

// A Failure for what cannot be evaluated.
[[nodiscard]] LoweredNest lower_nest(const Environment& environment, const Nest& nest);

[[nodiscard]] std::vector<int64_t> row_major_strides(const std::vector<int64_t>& dims);
// A literal as an element of a compute type.
[[nodiscard]] std::array<std::byte, 8> constant_of(const Literal& literal, ElementType type,
                                                   uint64_t seed);

}  // namespace hone::vm
