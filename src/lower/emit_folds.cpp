// Tiles of reductions whose lanes are folded in the end, and places of extremes.
#include "lower/combine.h"
#include "lower/kernel_emitter.h"
#include "support/check.h"

namespace hone {

using loop::Block;
using loop::BufferId;
using loop::Expr;
using loop::LoopKind;
using loop::Scope;

Block KernelEmitter::fold_tile(const PreparedNest& p, const Place& place, int rows) {
  const ElementType type = register_type(p.nest.body.type());
  const int lanes = p.schedule.lanes;
  const int vectors = p.schedule.vectors;
  const size_t axis = p.nest.extents.size() - 1;
  HONE_CHECK(static_cast<int>(axis) == p.schedule.vector_axis, "folded lanes are innermost");
  const int64_t extent = p.nest.extents[axis];
  const int64_t step = static_cast<int64_t>(lanes) * vectors;
  const auto rest = static_cast<int>(extent % lanes);
  const int per_row = vectors + (rest > 0 ? 1 : 0);
  const BufferId acc = function_.add_buffer(
      {"acc", type, static_cast<int64_t>(rows) * per_row * lanes, Scope::kRegister, 64});
  const auto slot = [&](int r, int v) -> int64_t {
    return (static_cast<int64_t>(r) * per_row + v) * lanes;
  };
  Block block;
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < per_row; ++v)
      block.push_back(loop::make_store(
          acc, slot(r, v),
          Expr::number({type, v < vectors ? lanes : rest}, identity_of(p.nest.combiner, type))));
  const auto step_at = [&](const Place& outer, const Expr& at, int r, int v, int width,
                           Block& into) {
    Place here = at_row(p, outer, r);
    here.axes[axis] = at;
    here.lane_axis = width > 1 ? static_cast<int>(axis) : -1;
    here.lanes = width;
    accumulate(p, here, acc, slot(r, v), width, into);
  };
  std::vector<int> outer_axes_of_reduction;
  for (size_t i = p.nest.outputs; i < axis; ++i)
    outer_axes_of_reduction.push_back(static_cast<int>(i));
  append(
      block, loops(outer_axes_of_reduction, p.nest, place, [&](Place& outer) {
        Block inner;
        if (extent >= step) {
          const loop::VarId var = function_.add_var("k");
          Block body;
          values_.forget();
          for (int v = 0; v < vectors; ++v)
            for (int r = 0; r < rows; ++r)
              step_at(outer, Expr::var(var) * Expr(step) + Expr(v * lanes), r, v, lanes, body);
          inner.push_back(loop::make_for(LoopKind::kSerial, var, extent / step, std::move(body)));
        }
        values_.forget();
        int64_t at = extent / step * step;
        for (; at + lanes <= extent; at += lanes)
          for (int r = 0; r < rows; ++r)
            step_at(outer, at, r, static_cast<int>((at / lanes) % vectors), lanes, inner);
        if (rest > 0)
          for (int r = 0; r < rows; ++r) step_at(outer, at, r, vectors, rest, inner);
        values_.forget();
        return inner;
      }));
  stores(p, place, rows, {1}, block, [&](int r, size_t) {
    Expr total = Expr::load(type, acc, slot(r, 0), lanes);
    for (int v = 1; v < vectors; ++v)
      total = combine(p.nest.combiner, total, Expr::load(type, acc, slot(r, v), lanes));
    total = Expr::fold(fold_function(p.nest.combiner), total);
    if (rest == 0) return total;
    const Expr tail =
        Expr::fold(fold_function(p.nest.combiner), Expr::load(type, acc, slot(r, vectors), rest));
    return combine(p.nest.combiner, total, tail);
  });
  Block result;
  result.push_back(loop::make_alloc(acc, std::move(block)));
  return result;
}

Block KernelEmitter::arg_tile(const PreparedNest& p, const Place& place) {
  const ElementType type = register_type(p.nest.body.type());
  const size_t axis = p.nest.outputs;
  const BufferId best = function_.add_buffer({"best", type, 1, Scope::kRegister, 64});
  const BufferId where =
      function_.add_buffer({"where", ElementType::kI64, 1, Scope::kRegister, 64});
  Block block;
  block.push_back(loop::make_store(where, 0, Expr(0)));
  const auto value_at = [&](const Expr& at, Block& into) {
    Place here = place;
    here.axes[axis] = at;
    values_.forget();
    return values_.value(p.nest.body, here, into);
  };
  const Expr first = value_at(0, block);
  block.push_back(loop::make_store(best, 0, first));
  const loop::VarId var = function_.add_var("k");
  Block body;
  const Expr value = value_at(Expr::var(var), body);
  Block update;
  update.push_back(loop::make_store(best, 0, value));
  update.push_back(loop::make_store(where, 0, Expr::var(var)));
  body.push_back(loop::make_if(is_better(p.nest.combiner, value, Expr::load(type, best, 0)),
                               std::move(update)));
  block.push_back(
      loop::make_for(LoopKind::kSerial, var, p.nest.extents[axis] - 1, std::move(body), 1));
  values_.forget();
  stores(p, place, 1, {1}, block,
         [&](int, size_t) { return Expr::load(ElementType::kI64, where, 0); });
  Block inner;
  inner.push_back(loop::make_alloc(where, std::move(block)));
  Block result;
  result.push_back(loop::make_alloc(best, std::move(inner)));
  return result;
}

}  // namespace hone
