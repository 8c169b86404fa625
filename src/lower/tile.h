// Inside of lowering: nests brought into tiled form, and the statements of a tile.
#pragma once

#include <vector>

#include "lower/lower.h"
#include "lower/values.h"

namespace hone {

// A copy of an operand into a local buffer, made by a task before its tiles.
struct PackCopy {
  int local = -1;
  Scalar read;
  Index to;
  std::vector<int> axes;  // loops, outermost first; the last one has the lanes
};

// A nest whose vector axis is split into tiles: (tile, element in the tile). The last tile may
// stick out of the axis; only `vector_extent` elements count.
struct PreparedNest {
  Nest nest;
  NestSchedule schedule;      // in terms of the new axes
  int tile_axis = -1;         // counts tiles of the vector axis; -1: lanes are not outputs
  int64_t vector_extent = 0;  // of the vector axis before it was split
  std::vector<PackCopy> copies;
  struct Prefetch {
    int tensor;
    Index at;
    int64_t ahead;  // elements from one tile to the next
  };
  std::vector<Prefetch> prefetches;
};

// Splits axes and packs operands. Adds local tensors to the kernel and constants to `packed`.
[[nodiscard]] PreparedNest prepare(Kernel& kernel, size_t nest, const NestSchedule& schedule,
                                   std::vector<PackedConstant>& packed);

[[nodiscard]] loop::Block emit_kernel(loop::Function& function, const Kernel& kernel,
                                      const std::vector<PreparedNest>& nests,
                                      const std::vector<loop::BufferId>& tensors,
                                      const std::vector<loop::BufferId>& tables);

}  // namespace hone
