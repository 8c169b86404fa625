// Tiles of reductions whose lanes are results: sums in registers, block by block.
#include "lower/combine.h"
#include "lower/kernel_emitter.h"
#include "support/check.h"

namespace hone {

using loop::Block;
using loop::BufferId;
using loop::Expr;
using loop::LoopKind;
using loop::Scope;

std::vector<int> KernelEmitter::reduction_axes(const PreparedNest& p) const {
  std::vector<int> axes;
  for (size_t i = p.nest.outputs; i < p.nest.extents.size(); ++i)
    axes.push_back(static_cast<int>(i));
  return axes;
}

void KernelEmitter::accumulate(const PreparedNest& p, const Place& place, BufferId acc,
                               int64_t index, int width, Block& block) {
  const ElementType type = function_.buffer(acc).element;
  const Expr old = Expr::load(type, acc, index, width);
  const Scalar& body = p.nest.body;
  Expr next;
  if (p.nest.combiner == Combiner::kSum && is_float(type) &&
      body->kind == ScalarNode::Kind::kApply && body->fn == Fn::kMul) {
    Expr a = values_.value(body->args[0], place, block);
    Expr b = values_.value(body->args[1], place, block);
    next = Expr::fma(std::move(a), std::move(b), old);
  } else {
    next = combine(p.nest.combiner, old, Expr::broadcast(values_.value(body, place, block), width));
  }
  block.push_back(loop::make_store(acc, index, next));
}

Block KernelEmitter::sum_tile(const PreparedNest& p, const Place& place, int rows,
                              const std::vector<int>& vector_widths, const KBlock* k) {
  const ElementType type = register_type(p.nest.body.type());
  const int lanes = p.schedule.lanes;
  const auto vectors = static_cast<int64_t>(vector_widths.size());
  const BufferId acc =
      function_.add_buffer({"acc", type, rows * vectors * lanes, Scope::kRegister, 64});
  const auto slot = [&](int r, size_t v) {
    return (r * vectors + static_cast<int64_t>(v)) * lanes;
  };
  Block block;
  for (int r = 0; r < rows; ++r)
    for (size_t v = 0; v < vector_widths.size(); ++v)
      block.push_back(loop::make_store(
          acc, slot(r, v),
          Expr::number({type, vector_widths[v]}, identity_of(p.nest.combiner, type))));
  if (k != nullptr) block.push_back(resume(p, place, rows, vector_widths, acc, slot, *k));

  Block fixed;
  values_.hoist(&fixed, reduction_axes(p));
  Block body = reduction_loops(p, place, 0, k, [&](const Place& at) {
    Block inner;
    values_.forget();
    for (int r = 0; r < rows; ++r) {
      int64_t element = 0;
      for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++])
        accumulate(p, at_vector(p, at, r, element, vector_widths[v]), acc, slot(r, v),
                   vector_widths[v], inner);
    }
    if (fetching_) prefetch(p, at, inner);
    return inner;
  });
  values_.hoist(nullptr, {});
  values_.forget();
  append(block, std::move(fixed));
  append(block, std::move(body));

  const auto load = [&](int r, size_t v) {
    return Expr::load(type, acc, slot(r, v), vector_widths[v]);
  };
  Block end;
  stores(p, place, rows, vector_widths, end, load);
  if (k == nullptr) {
    append(block, std::move(end));
  } else {
    const Expr last = Expr::apply(Fn::kEq, {k->number, Expr(k->count - 1)});
    block.push_back(loop::make_if(last, std::move(end)));
    Block partial;
    partial_stores(p, place, rows, vector_widths, partial, load);
    block.push_back(
        loop::make_if(Expr::apply(Fn::kLt, {k->number, Expr(k->count - 1)}), std::move(partial)));
  }
  Block result;
  result.push_back(loop::make_alloc(acc, std::move(block)));
  return result;
}

void KernelEmitter::prefetch(const PreparedNest& p, const Place& place, Block& block) {
  for (const PreparedNest::Prefetch& next : p.prefetches)
    for (int64_t element = 0; element < tile_size(p); element += 16) {
      Place at = place;
      at.axes[static_cast<size_t>(p.schedule.vector_axis)] = element;
      block.push_back(loop::make_prefetch(tensors_[static_cast<size_t>(next.tensor)],
                                          values_.index(next.at, at) + Expr(next.ahead)));
    }
}

loop::Stmt KernelEmitter::resume(const PreparedNest& p, const Place& place, int rows,
                                 const std::vector<int>& vector_widths, BufferId acc,
                                 const std::function<int64_t(int, size_t)>& slot, const KBlock& k) {
  Block block;
  const Nest::Store& store = p.nest.stores[0];
  const BufferId buffer = tensors_[static_cast<size_t>(store.tensor)];
  for (int r = 0; r < rows; ++r) {
    int64_t element = 0;
    for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++]) {
      Place at = at_vector(p, place, r, element, vector_widths[v]);
      const int64_t stride = Values::lanes_of(store.at, at).stride;
      at.lane_axis = -1;
      block.push_back(loop::make_store(
          acc, slot(r, v),
          Expr::load(function_.buffer(buffer).element, buffer, values_.index(store.at, at),
                     vector_widths[v], vector_widths[v] > 1 ? stride : 1)));
    }
  }
  return loop::make_if(Expr::apply(Fn::kLt, {Expr(0), k.number}), std::move(block));
}

void KernelEmitter::partial_stores(const PreparedNest& p, const Place& place, int rows,
                                   const std::vector<int>& vector_widths, Block& block,
                                   const std::function<Expr(int, size_t)>& load) {
  const Nest::Store& store = p.nest.stores[0];
  for (int r = 0; r < rows; ++r) {
    int64_t element = 0;
    for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++]) {
      Place at = at_vector(p, place, r, element, vector_widths[v]);
      const int64_t stride = Values::lanes_of(store.at, at).stride;
      at.lane_axis = -1;
      block.push_back(loop::make_store(tensors_[static_cast<size_t>(store.tensor)],
                                       values_.index(store.at, at), load(r, v),
                                       vector_widths[v] > 1 ? stride : 1));
    }
  }
}

Block KernelEmitter::reduction_loops(const PreparedNest& p, Place place, size_t depth,
                                     const KBlock* k,
                                     const std::function<Block(const Place&)>& body) {
  const size_t axis = p.nest.outputs + depth;
  if (axis == p.nest.extents.size()) return body(place);
  const int64_t extent = p.nest.extents[axis];
  const bool blocked = depth == 0 && k != nullptr;
  const bool innermost = axis + 1 == p.nest.extents.size();
  const loop::VarId var = function_.add_var("k");
  Block block;
  if (!innermost || p.schedule.unroll <= 1) {
    place.axes[axis] = Expr::var(var);
    block.push_back(loop::make_for(LoopKind::kSerial, var, blocked ? k->extent : Expr(extent),
                                   reduction_loops(p, place, depth + 1, k, body),
                                   blocked ? k->begin : Expr(0)));
    return block;
  }
  const int64_t unroll = p.schedule.unroll;
  HONE_CHECK(extent % unroll == 0, "unrolling divides the loop");
  HONE_CHECK(!blocked || p.schedule.k_block % unroll == 0, "unrolling divides the block");
  // The copies are written out here: indices of registers and offsets are constants.
  Block inner;
  for (int64_t u = 0; u < unroll; ++u) {
    place.axes[axis] = extent == unroll ? Expr(u) : Expr::var(var) * Expr(unroll) + Expr(u);
    append(inner, body(place));
  }
  if (extent == unroll && !blocked) return inner;
  const Expr begin = blocked ? k->begin / Expr(unroll) : Expr(0);
  const Expr count = blocked ? k->extent / Expr(unroll) : Expr(extent / unroll);
  block.push_back(loop::make_for(LoopKind::kSerial, var, count, std::move(inner), begin));
  return block;
}

}  // namespace hone
