// Where the elements of a program's tensors lie. Several tensors may be views of one buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "expr/literal.h"
#include "partition/program.h"

namespace hone {

// Element (i0, i1, ...) of a tensor is element offset + sum i_d * strides[d] of buffer `root`.
struct View {
  int root = -1;  // the tensor whose buffer it is
  int64_t offset = 0;
  std::vector<int64_t> strides;
  // Around the tensor lie this many more elements per axis, filled with `around`.
  std::vector<int64_t> before, after;
  std::optional<Literal> around;
};

struct Storage {
  std::vector<View> views;        // per tensor
  std::vector<int64_t> elements;  // per tensor that is a root: of its whole buffer

  [[nodiscard]] const View& view(int tensor) const { return views[static_cast<size_t>(tensor)]; }
};

// Inputs, constants and outputs are row-major; for the others the order of axes, what lies around
// them, and which are views of others are chosen for the whole program. Ops that only copy within
// a buffer, and need not run, are removed.
[[nodiscard]] Storage choose_storage(TensorProgram& program);

[[nodiscard]] std::vector<int64_t> row_major(const std::vector<int64_t>& dims);

}  // namespace hone
