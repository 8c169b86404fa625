// The tiles of a task, one after the other, and what kind each is.
#include <algorithm>

#include "lower/combine.h"
#include "lower/kernel_emitter.h"
#include "support/check.h"

namespace hone {

using loop::Block;
using loop::Expr;
using loop::LoopKind;

std::vector<int> KernelEmitter::widths(int64_t elements, int lanes) {
  std::vector<int> result;
  for (int64_t i = 0; i < elements; i += lanes)
    result.push_back(static_cast<int>(std::min<int64_t>(lanes, elements - i)));
  return result;
}

Block KernelEmitter::vector_tiles(const PreparedNest& p, Place place, const Expr& row_block,
                                  const Expr& vector_block, const KBlock* k) {
  if (p.tile_axis < 0) return row_tiles(p, place, row_block, {1}, k);
  const int64_t full = p.vector_extent / tile_size(p);
  const int64_t rest = p.vector_extent % tile_size(p);
  const int64_t per_block = tiles_per_block(p);
  const int64_t blocks = vector_blocks(p);
  const auto axis = static_cast<size_t>(p.tile_axis);
  Block block;
  if (full > 0) {
    const std::vector<int> all = widths(tile_size(p), p.schedule.lanes);
    const Expr begin = vector_block * Expr(per_block);
    const Expr count = blocks == 1 ? Expr(full) : min(Expr(per_block), Expr(full) - begin);
    if (count.is(1)) {
      place.axes[axis] = begin;
      append(block, row_tiles(p, place, row_block, all, k));
    } else {
      const loop::VarId var = function_.add_var("n");
      place.axes[axis] = Expr::var(var);
      block.push_back(loop::make_for(LoopKind::kSerial, var, count,
                                     row_tiles(p, place, row_block, all, k), begin));
    }
  }
  if (rest > 0) {
    place.axes[axis] = full;
    Block inner = row_tiles(p, place, row_block, widths(rest, p.schedule.lanes), k);
    if (blocks == 1)
      append(block, std::move(inner));
    else
      block.push_back(
          loop::make_if(Expr::apply(Fn::kEq, {vector_block, Expr(blocks - 1)}), std::move(inner)));
  }
  return block;
}

Block KernelEmitter::row_tiles(const PreparedNest& p, Place place, const Expr& row_block,
                               const std::vector<int>& vector_widths, const KBlock* k) {
  if (p.schedule.row_axis < 0) return tile(p, place, 1, vector_widths, k);
  const int64_t rows = p.schedule.rows;
  const int64_t extent = row_extent(p);
  const int64_t per_block = rows_per_block(p);
  const int64_t blocks = row_blocks(p);
  const auto axis = static_cast<size_t>(p.schedule.row_axis);
  HONE_CHECK(blocks == 1 || per_block % rows == 0, "blocks are whole tiles");
  Block block;
  const Expr first = row_block * Expr(per_block);
  const Expr count =
      blocks == 1 ? Expr(extent / rows) : min(Expr(per_block), Expr(extent) - first) / Expr(rows);
  if (extent >= rows) {
    if (count.is(1)) {
      place.axes[axis] = first;
      append(block, tile(p, place, static_cast<int>(rows), vector_widths, k));
    } else {
      // The first tile fetches for the next tile of the vector axis, the others compute.
      const int64_t last = extent - (blocks - 1) * per_block;
      const bool fetch = !p.prefetches.empty() && last >= rows;
      if (fetch) {
        place.axes[axis] = first;
        fetching_ = true;
        append(block, tile(p, place, static_cast<int>(rows), vector_widths, k));
        fetching_ = false;
      }
      const loop::VarId var = function_.add_var("m");
      place.axes[axis] = Expr::var(var) * Expr(rows) + first;
      block.push_back(loop::make_for(LoopKind::kSerial, var, fetch ? count - Expr(1) : count,
                                     tile(p, place, static_cast<int>(rows), vector_widths, k),
                                     fetch ? Expr(1) : Expr(0)));
    }
  }
  if (const int64_t rest = extent % rows; rest > 0) {
    place.axes[axis] = extent - rest;
    Block inner = tile(p, place, static_cast<int>(rest), vector_widths, k);
    if (blocks == 1)
      append(block, std::move(inner));
    else
      block.push_back(
          loop::make_if(Expr::apply(Fn::kEq, {row_block, Expr(blocks - 1)}), std::move(inner)));
  }
  return block;
}

Place KernelEmitter::at_row(const PreparedNest& p, const Place& place, int row) {
  Place result = place;
  if (p.schedule.row_axis >= 0) {
    Expr& m = result.axes[static_cast<size_t>(p.schedule.row_axis)];
    m = m + Expr(row);
  }
  return result;
}

Place KernelEmitter::at_vector(const PreparedNest& p, const Place& place, int row, int64_t element,
                               int width) {
  Place result = at_row(p, place, row);
  if (p.tile_axis < 0) return result;
  result.axes[static_cast<size_t>(p.schedule.vector_axis)] = element;
  result.lane_axis = p.schedule.vector_axis;
  result.lanes = width;
  result.lanes_aligned = width == p.schedule.lanes && element % width == 0;
  return result;
}

Block KernelEmitter::tile(const PreparedNest& p, const Place& place, int rows,
                          const std::vector<int>& vector_widths, const KBlock* k) {
  values_.forget();
  if (!p.nest.reduces()) {
    Block block;
    if (rows > 1 && rows == p.schedule.lanes && (rows & (rows - 1)) == 0 &&
        std::ranges::all_of(vector_widths, [&](int width) { return width == rows; }))
      square_stores(p, place, vector_widths, block);
    else
      stores(p, place, rows, vector_widths, block, [](int, size_t) { return Expr(); });
    prefetch(p, place, block);
    return block;
  }
  if (is_arg(p.nest.combiner)) return arg_tile(p, place);
  const bool folds = p.schedule.vector_axis >= static_cast<int>(p.nest.outputs);
  return folds ? fold_tile(p, place, rows) : sum_tile(p, place, rows, vector_widths, k);
}

}  // namespace hone
