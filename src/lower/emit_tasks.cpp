// A kernel's tasks: which part of the result each one computes, and the operands that it packs.
#include <algorithm>
#include <functional>
#include <numeric>

#include "lower/kernel_emitter.h"

namespace hone {

using loop::Block;
using loop::BufferId;
using loop::Expr;
using loop::LoopKind;

Block KernelEmitter::kernel(const std::vector<PreparedNest>& nests) {
  if (nests.size() == 1 && kernel_.shared == 0) return single(nests[0]);
  return group(nests);
}

Block KernelEmitter::single(const PreparedNest& p) {
  Place place = start(p.nest);
  const std::vector<int> outer = outer_axes(p, 0);
  if (p.nest.serial) {
    return loops(outer, p.nest, place, [&](Place& at) { return task(p, at, 0, 0); });
  }
  std::vector<int64_t> counts;
  for (const int axis : outer) counts.push_back(p.nest.extents[static_cast<size_t>(axis)]);
  counts.push_back(row_blocks(p));
  counts.push_back(vector_blocks(p));
  Block body;
  const loop::VarId t = function_.add_var("t");
  const std::vector<Expr> digits = decode(t, counts, body);
  for (size_t i = 0; i < outer.size(); ++i) place.axes[static_cast<size_t>(outer[i])] = digits[i];
  append(body, task(p, place, digits[outer.size()], digits[outer.size() + 1]));
  return parallel(t, counts, std::move(body));
}

Block KernelEmitter::group(const std::vector<PreparedNest>& nests) {
  std::vector<int64_t> counts(
      nests[0].nest.extents.begin(),
      nests[0].nest.extents.begin() + static_cast<std::ptrdiff_t>(kernel_.shared));
  Block body;
  const loop::VarId t = function_.add_var("t");
  const std::vector<Expr> digits = decode(t, counts, body);
  for (const PreparedNest& p : nests) {
    Place place = start(p.nest);
    for (size_t i = 0; i < digits.size(); ++i) place.axes[i] = digits[i];
    append(body, loops(outer_axes(p, kernel_.shared), p.nest, place,
                       [&](Place& at) { return task(p, at, 0, 0); }));
  }
  return parallel(t, counts, std::move(body));
}

Block KernelEmitter::parallel(loop::VarId t, const std::vector<int64_t>& counts, Block body) {
  const int64_t tasks =
      std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>());
  Block result;
  result.push_back(loop::make_for(LoopKind::kParallel, t, tasks, std::move(body)));
  return result;
}

std::vector<Expr> KernelEmitter::decode(loop::VarId t, const std::vector<int64_t>& counts,
                                        Block& block) {
  std::vector<Expr> digits(counts.size());
  Expr rest = Expr::var(t);
  size_t first = 0;
  while (first < counts.size() && counts[first] == 1) digits[first++] = 0;
  for (size_t i = counts.size(); i-- > first;) {
    if (counts[i] == 1) {
      digits[i] = 0;
      continue;
    }
    const loop::VarId digit = function_.add_var("d");
    block.push_back(loop::make_let(digit, i == first ? rest : rest % Expr(counts[i])));
    digits[i] = Expr::var(digit);
    if (i == first) break;
    const loop::VarId quotient = function_.add_var("q");
    block.push_back(loop::make_let(quotient, rest / Expr(counts[i])));
    rest = Expr::var(quotient);
  }
  return digits;
}

Place KernelEmitter::start(const Nest& nest) {
  Place place;
  place.axes.assign(nest.extents.size(), Expr(0));
  for (size_t i = 0; i < nest.steps.size(); ++i)
    place.steps.push_back(Expr::extent(static_cast<int64_t>(i)));
  return place;
}

std::vector<int> KernelEmitter::outer_axes(const PreparedNest& p, size_t first) {
  std::vector<int> axes;
  for (int axis = static_cast<int>(first); axis < static_cast<int>(p.nest.outputs); ++axis)
    if (axis != p.tile_axis && axis != p.schedule.row_axis &&
        (p.tile_axis < 0 || axis != p.schedule.vector_axis))
      axes.push_back(axis);
  return axes;
}

Block KernelEmitter::loops(const std::vector<int>& axes, const Nest& nest, Place place,
                           const std::function<Block(Place&)>& body, size_t depth) {
  if (depth == axes.size()) return body(place);
  const auto axis = static_cast<size_t>(axes[depth]);
  const loop::VarId var = function_.add_var("i");
  place.axes[axis] = Expr::var(var);
  Block block;
  block.push_back(loop::make_for(LoopKind::kSerial, var, nest.extents[axis],
                                 loops(axes, nest, place, body, depth + 1)));
  return block;
}

int64_t KernelEmitter::row_extent(const PreparedNest& p) {
  return p.schedule.row_axis < 0 ? 1 : p.nest.extents[static_cast<size_t>(p.schedule.row_axis)];
}

int64_t KernelEmitter::rows_per_block(const PreparedNest& p) {
  const int64_t rows = row_extent(p);
  return p.schedule.m_block > 0 ? std::min(p.schedule.m_block, rows) : rows;
}

int64_t KernelEmitter::row_blocks(const PreparedNest& p) {
  const int64_t rows = rows_per_block(p);
  return (row_extent(p) + rows - 1) / rows;
}

int64_t KernelEmitter::tile_size(const PreparedNest& p) {
  return static_cast<int64_t>(p.schedule.lanes) * p.schedule.vectors;
}

int64_t KernelEmitter::tiles_per_block(const PreparedNest& p) {
  if (p.tile_axis < 0) return 1;
  const int64_t all = (p.vector_extent + tile_size(p) - 1) / tile_size(p);
  return p.schedule.n_block > 0 ? std::clamp<int64_t>(p.schedule.n_block / tile_size(p), 1, all)
                                : all;
}

int64_t KernelEmitter::vector_blocks(const PreparedNest& p) {
  if (p.tile_axis < 0) return 1;
  const int64_t all = (p.vector_extent + tile_size(p) - 1) / tile_size(p);
  return (all + tiles_per_block(p) - 1) / tiles_per_block(p);
}

Block KernelEmitter::task(const PreparedNest& p, Place& place, const Expr& row_block,
                          const Expr& vector_block) {
  values_.enter(p.nest);
  Block block;
  for (const PackCopy& copy : p.copies) append(block, pack(p, copy, place));
  values_.release();
  if (!p.nest.reduces() && p.tile_axis >= 0) hoist_uniform(p, place, block);
  const int64_t k_block = p.schedule.k_block;
  if (k_block <= 0) {
    append(block, vector_tiles(p, place, row_block, vector_block, nullptr));
    return block;
  }
  const int64_t extent = p.nest.extents[p.nest.outputs];
  KBlock k;
  const loop::VarId var = function_.add_var("kb");
  k.number = Expr::var(var);
  k.count = (extent + k_block - 1) / k_block;
  k.begin = k.number * Expr(k_block);
  k.extent = extent % k_block == 0 ? Expr(k_block) : min(Expr(k_block), Expr(extent) - k.begin);
  block.push_back(loop::make_for(LoopKind::kSerial, var, k.count,
                                 vector_tiles(p, place, row_block, vector_block, &k)));
  return block;
}

Block KernelEmitter::pack(const PreparedNest& p, const PackCopy& copy, const Place& place) {
  std::vector<int> outer(copy.axes.begin(), copy.axes.end() - 1);
  const int vector = copy.axes.back();
  const int lanes = p.schedule.lanes;
  return loops(outer, p.nest, place, [&](Place& at) {
    Block block;
    const int64_t extent = p.nest.extents[static_cast<size_t>(vector)];
    const auto part = [&](int64_t first, int width) {
      Place here = at;
      here.axes[static_cast<size_t>(vector)] = first;
      here.lane_axis = width > 1 ? vector : -1;
      here.lanes = width;
      values_.forget();
      Block inner;
      const Expr value = values_.value(copy.read, here, inner);
      Place scalar = here;
      scalar.lane_axis = -1;
      const Expr to = values_.index(copy.to, scalar);
      inner.push_back(loop::make_store(tensors_[static_cast<size_t>(copy.local)], to,
                                       Expr::broadcast(value, width)));
      append(block, std::move(inner));
    };
    const int64_t last_tile = p.vector_extent % tile_size(p);
    if (p.tile_axis < 0 || last_tile == 0 || p.vector_extent < tile_size(p)) {
      for (int64_t i = 0; i < extent; i += lanes)
        part(i, static_cast<int>(std::min<int64_t>(lanes, extent - i)));
      return block;
    }
    // The last tile is shorter.
    Block full;
    std::swap(full, block);
    for (int64_t i = 0; i < extent; i += lanes) part(i, lanes);
    std::swap(full, block);
    Block rest;
    std::swap(rest, block);
    for (int64_t i = 0; i < last_tile; i += lanes)
      part(i, static_cast<int>(std::min<int64_t>(lanes, last_tile - i)));
    std::swap(rest, block);
    const Expr tile = at.axes[static_cast<size_t>(p.tile_axis)];
    const Expr last = p.vector_extent / tile_size(p);
    block.push_back(loop::make_if(Expr::apply(Fn::kLt, {tile, last}), std::move(full)));
    block.push_back(loop::make_if(Expr::apply(Fn::kEq, {tile, last}), std::move(rest)));
    return block;
  });
}

Block emit_kernel(loop::Function& function, const Kernel& kernel,
                  const std::vector<PreparedNest>& nests, const std::vector<BufferId>& tensors,
                  const std::vector<BufferId>& tables) {
  return KernelEmitter(function, kernel, tensors, tables).kernel(nests);
}

}  // namespace hone
