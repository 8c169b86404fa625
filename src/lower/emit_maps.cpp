// Stores of a tile's values, and maps: what is computed once, squares transposed in registers.
#include <algorithm>
#include <array>

#include "lower/kernel_emitter.h"
#include "support/check.h"

namespace hone {

using loop::Block;
using loop::BufferId;
using loop::Expr;

void KernelEmitter::hoist_uniform(const PreparedNest& p, const Place& place, Block& block) {
  values_.forget();
  for (const Nest::Store& store : p.nest.stores)
    if (!store.condition.valid()) hoist_uniform(p, store.value, place, block);
  values_.forget();
}

void KernelEmitter::hoist_uniform(const PreparedNest& p, const Scalar& scalar, const Place& place,
                                  Block& block) {
  const bool leaf = scalar->kind != ScalarNode::Kind::kApply;
  if (leaf && scalar->kind != ScalarNode::Kind::kRead) return;
  if (!moves(p, scalar)) {
    const Expr value = values_.value(scalar, place, block);
    if (value->kind == loop::ExprNode::Kind::kNumber) return;
    const loop::VarId id = function_.add_var("u", value.type());
    block.push_back(loop::make_let(id, value));
    values_.fix(scalar, Expr::var(id, value.type()));
    return;
  }
  // Branches of a select may not be evaluated at all.
  const size_t count = scalar->fn == Fn::kSelect && !leaf ? 1 : scalar->args.size();
  for (size_t i = 0; i < count; ++i) hoist_uniform(p, scalar->args[i], place, block);
}

bool KernelEmitter::moves(const PreparedNest& p, const Scalar& scalar) {
  if (scalar->kind == ScalarNode::Kind::kRead && scalar->tensor == kAccumulator) return true;
  const auto moving = [&](const Index& index) {
    return std::ranges::any_of(std::array{p.tile_axis, p.schedule.vector_axis, p.schedule.row_axis},
                               [&](int axis) { return axis >= 0 && index.mentions(AxisId{axis}); });
  };
  return moving(scalar->index) || std::ranges::any_of(scalar->indices, moving) ||
         std::ranges::any_of(scalar->args, [&](const Scalar& arg) { return moves(p, arg); });
}

void KernelEmitter::square_stores(const PreparedNest& p, const Place& place,
                                  const std::vector<int>& vector_widths, Block& block) {
  const int lanes = p.schedule.lanes;
  std::vector<Scalar> reads;
  for (const Nest::Store& store : p.nest.stores) collect_transposed(p, store.value, reads);
  // rows[v][k][r]: read k of vector v in row r
  int64_t element = 0;
  std::vector<std::vector<std::vector<Expr>>> squares;
  for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++]) {
    auto& square = squares.emplace_back();
    for (const Scalar& read : reads) square.push_back(transposed(p, place, read, element, block));
  }
  for (int r = 0; r < lanes; ++r) {
    element = 0;
    for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++]) {
      for (size_t k = 0; k < reads.size(); ++k)
        values_.fix(reads[k], squares[v][k][static_cast<size_t>(r)]);
      values_.forget();
      emit_stores(p.nest, at_vector(p, place, r, element, lanes), {}, block);
    }
  }
  for (const Scalar& read : reads) values_.unfix(read);
}

void KernelEmitter::collect_transposed(const PreparedNest& p, const Scalar& scalar,
                                       std::vector<Scalar>& reads) {
  if (scalar->kind == ScalarNode::Kind::kRead && scalar->tensor != kAccumulator) {
    const Index& at = scalar->indices[0];
    if (is_linear(at) && stride_of(at, static_cast<size_t>(p.schedule.row_axis)) == 1 &&
        stride_of(at, static_cast<size_t>(p.schedule.vector_axis)) > 1)
      reads.push_back(scalar);
    return;
  }
  if (scalar->kind != ScalarNode::Kind::kApply || scalar->fn == Fn::kSelect) return;
  for (const Scalar& arg : scalar->args) collect_transposed(p, arg, reads);
}

std::vector<Expr> KernelEmitter::transposed(const PreparedNest& p, const Place& place,
                                            const Scalar& read, int64_t element, Block& block) {
  const int lanes = p.schedule.lanes;
  const auto let = [&](const Expr& value) {
    const loop::VarId id = function_.add_var("s", value.type());
    block.push_back(loop::make_let(id, value));
    return Expr::var(id, value.type());
  };
  std::vector<Expr> rows;
  for (int i = 0; i < lanes; ++i) {
    Place at = place;
    at.axes[static_cast<size_t>(p.schedule.vector_axis)] = element + i;
    at.lane_axis = p.schedule.row_axis;
    at.lanes = lanes;
    values_.forget();
    rows.push_back(let(values_.value(read, at, block)));
  }
  values_.forget();
  // Swap ever smaller blocks off the diagonal.
  for (int d = lanes / 2; d > 0; d /= 2) {
    std::vector<int> low;
    std::vector<int> high;
    for (int j = 0; j < lanes; ++j) {
      low.push_back((j & d) == 0 ? j : lanes + j - d);
      high.push_back((j & d) == 0 ? j + d : lanes + j);
    }
    for (int i = 0; i < lanes; ++i) {
      if ((i & d) != 0) continue;
      Expr& a = rows[static_cast<size_t>(i)];
      Expr& b = rows[static_cast<size_t>(i + d)];
      const Expr first = let(Expr::shuffle(a, b, low));
      b = let(Expr::shuffle(a, b, high));
      a = first;
    }
  }
  return rows;
}

void KernelEmitter::stores(const PreparedNest& p, const Place& place, int rows,
                           const std::vector<int>& vector_widths, Block& block,
                           const std::function<Expr(int, size_t)>& accumulator) {
  for (int r = 0; r < rows; ++r) {
    int64_t element = 0;
    for (size_t v = 0; v < vector_widths.size(); element += vector_widths[v++]) {
      const Place at = at_vector(p, place, r, element, vector_widths[v]);
      emit_stores(p.nest, at, accumulator(r, v), block);
    }
  }
}

void KernelEmitter::emit_stores(const Nest& nest, const Place& at, const Expr& accumulator,
                                Block& block) {
  values_.share_values(nest.stores.size() > 1);
  // What conditions do not concern comes first, so that stores can share it.
  std::vector<Expr> inner;
  for (const Nest::Store& store : nest.stores) {
    if (!store.inner.valid()) {
      inner.push_back(accumulator);
      continue;
    }
    const Expr value = values_.value(store.inner, at, block);
    const loop::VarId id = function_.add_var("y", value.type());
    block.push_back(loop::make_let(id, value));
    inner.push_back(Expr::var(id, value.type()));
  }
  for (size_t i = 0; i < nest.stores.size(); ++i) {
    values_.set_accumulator(inner[i]);
    // The accumulator's reads differ from store to store.
    if (nest.stores[i].inner.valid()) values_.share_values(false);
    emit_store(nest.stores[i], at, block);
  }
  values_.share_values(false);
}

void KernelEmitter::emit_store(const Nest::Store& store, const Place& place, Block& block) {
  const BufferId buffer = tensors_[static_cast<size_t>(store.tensor)];
  const ElementType element = function_.buffer(buffer).element;
  if (store.condition.valid()) {
    Nest::Store plain = store;
    plain.condition = {};
    values_.forget();
    const Expr condition = values_.value(store.condition, place, block);
    HONE_CHECK(condition.type().lanes == 1, "conditions of stores hold for all lanes");
    values_.forget();
    Block inner;
    emit_store(plain, place, inner);
    values_.forget();
    block.push_back(loop::make_if(condition, std::move(inner)));
    return;
  }
  // What a cast has already rounded to the element type is stored as it is, infinities too.
  const bool rounded =
      store.value->kind == ScalarNode::Kind::kApply && store.value->fn == Fn::kCastWrap;
  Expr value = Expr::cast(element, values_.value(store.value, place, block), !rounded);
  value = Expr::broadcast(value, place.lanes);
  const Values::Lanes lanes = Values::lanes_of(store.at, place);
  HONE_CHECK(lanes.kind == Values::Lanes::Kind::kStrided || place.lanes == 1, "stores are strided");
  Place scalar = place;
  scalar.lane_axis = -1;
  scalar.lanes = 1;
  block.push_back(loop::make_store(buffer, values_.index(store.at, scalar), value,
                                   place.lanes == 1 ? 1 : lanes.stride));
}

}  // namespace hone
