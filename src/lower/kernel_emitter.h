// Inside of lowering: writes the loops of a kernel.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "lower/tile.h"

namespace hone {

class KernelEmitter {
 public:
  KernelEmitter(loop::Function& function, const Kernel& kernel,
                const std::vector<loop::BufferId>& tensors,
                const std::vector<loop::BufferId>& tables)
      : function_(function),
        kernel_(kernel),
        tensors_(tensors),
        values_(function, tensors, tables) {}
  loop::Block kernel(const std::vector<PreparedNest>& nests);

 private:
  struct KBlock {
    loop::Expr number, begin, extent;
    int64_t count = 0;
  };

  // --- emit_tasks.cpp

  loop::Block single(const PreparedNest& p);
  loop::Block group(const std::vector<PreparedNest>& nests);
  static loop::Block parallel(loop::VarId t, const std::vector<int64_t>& counts, loop::Block body);
  // t = ((d0 * n1 + d1) * n2 + d2) ...
  std::vector<loop::Expr> decode(loop::VarId t, const std::vector<int64_t>& counts,
                                 loop::Block& block);
  static Place start(const Nest& nest);
  // Output axes that are neither rows nor lanes.
  static std::vector<int> outer_axes(const PreparedNest& p, size_t first);
  loop::Block loops(const std::vector<int>& axes, const Nest& nest, Place place,
                    const std::function<loop::Block(Place&)>& body, size_t depth = 0);
  static int64_t row_extent(const PreparedNest& p);
  static int64_t rows_per_block(const PreparedNest& p);
  static int64_t row_blocks(const PreparedNest& p);
  static int64_t tile_size(const PreparedNest& p);
  static int64_t tiles_per_block(const PreparedNest& p);
  static int64_t vector_blocks(const PreparedNest& p);
  // One block of rows and of the vector axis, for fixed outer axes.
  loop::Block task(const PreparedNest& p, Place& place, const loop::Expr& row_block,
                   const loop::Expr& vector_block);
  loop::Block pack(const PreparedNest& p, const PackCopy& copy, const Place& place);

  // --- emit_tiles.cpp

  static std::vector<int> widths(int64_t elements, int lanes);
  loop::Block vector_tiles(const PreparedNest& p, Place place, const loop::Expr& row_block,
                           const loop::Expr& vector_block, const KBlock* k);
  loop::Block row_tiles(const PreparedNest& p, Place place, const loop::Expr& row_block,
                        const std::vector<int>& vector_widths, const KBlock* k);
  static Place at_row(const PreparedNest& p, const Place& place, int row);
  static Place at_vector(const PreparedNest& p, const Place& place, int row, int64_t element,
                         int width);
  loop::Block tile(const PreparedNest& p, const Place& place, int rows,
                   const std::vector<int>& vector_widths, const KBlock* k);

  // --- emit_sums.cpp

  std::vector<int> reduction_axes(const PreparedNest& p) const;
  // acc[index] (+)= body, all in registers.
  void accumulate(const PreparedNest& p, const Place& place, loop::BufferId acc, int64_t index,
                  int width, loop::Block& block);
  loop::Block sum_tile(const PreparedNest& p, const Place& place, int rows,
                       const std::vector<int>& vector_widths, const KBlock* k);
  // A line of the next tile for each line that is read of this one.
  void prefetch(const PreparedNest& p, const Place& place, loop::Block& block);
  // Sums of earlier blocks of the reduction lie where the result will be.
  loop::Stmt resume(const PreparedNest& p, const Place& place, int rows,
                    const std::vector<int>& vector_widths, loop::BufferId acc,
                    const std::function<int64_t(int, size_t)>& slot, const KBlock& k);
  void partial_stores(const PreparedNest& p, const Place& place, int rows,
                      const std::vector<int>& vector_widths, loop::Block& block,
                      const std::function<loop::Expr(int, size_t)>& load);
  loop::Block reduction_loops(const PreparedNest& p, Place place, size_t depth, const KBlock* k,
                              const std::function<loop::Block(const Place&)>& body);

  // --- emit_folds.cpp

  // Lanes along a reduction axis, which is the last one: folded in the end.
  loop::Block fold_tile(const PreparedNest& p, const Place& place, int rows);
  // The place of the greatest or least value: one element after the other.
  loop::Block arg_tile(const PreparedNest& p, const Place& place);

  // --- emit_maps.cpp

  // Parts of a map's values that are the same for all lanes and tiles are computed once.
  void hoist_uniform(const PreparedNest& p, const Place& place, loop::Block& block);
  void hoist_uniform(const PreparedNest& p, const Scalar& scalar, const Place& place,
                     loop::Block& block);
  static bool moves(const PreparedNest& p, const Scalar& scalar);
  // Reads that are contiguous along the rows instead of the lanes: as many vectors as a vector has
  // lanes, transposed in registers.
  void square_stores(const PreparedNest& p, const Place& place,
                     const std::vector<int>& vector_widths, loop::Block& block);
  void collect_transposed(const PreparedNest& p, const Scalar& scalar, std::vector<Scalar>& reads);
  std::vector<loop::Expr> transposed(const PreparedNest& p, const Place& place, const Scalar& read,
                                     int64_t element, loop::Block& block);
  void stores(const PreparedNest& p, const Place& place, int rows,
              const std::vector<int>& vector_widths, loop::Block& block,
              const std::function<loop::Expr(int, size_t)>& accumulator);
  void emit_stores(const Nest& nest, const Place& at, const loop::Expr& accumulator,
                   loop::Block& block);
  void emit_store(const Nest::Store& store, const Place& place, loop::Block& block);

  static void append(loop::Block& to, loop::Block from) {
    std::ranges::move(from, std::back_inserter(to));
  }

  loop::Function& function_;
  const Kernel& kernel_;
  const std::vector<loop::BufferId>& tensors_;
  Values values_;
  bool fetching_ = false;
};

}  // namespace hone
