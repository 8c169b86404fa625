// The loops of a kernel: tasks, tiles, reductions.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>

#include "lower/combine.h"
#include "lower/tile.h"
#include "support/check.h"

namespace hone {
namespace {

using loop::Block;
using loop::BufferId;
using loop::Expr;
using loop::LoopKind;
using loop::Scope;
using loop::Type;

void append(Block& to, Block from) { std::ranges::move(from, std::back_inserter(to)); }

class KernelEmitter {
 public:
  KernelEmitter(loop::Function& function, const Kernel& kernel,
                const std::vector<BufferId>& tensors, const std::vector<BufferId>& tables)
      : function_(function),
        kernel_(kernel),
        tensors_(tensors),
        values_(function, tensors, tables) {}

  Block kernel(const std::vector<PreparedNest>& nests) {
    if (nests.size() == 1 && kernel_.shared == 0) return single(nests[0]);
    return group(nests);
  }

 private:
  // --- tasks

  Block single(const PreparedNest& p) {
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

  Block group(const std::vector<PreparedNest>& nests) {
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

  static Block parallel(loop::VarId t, const std::vector<int64_t>& counts, Block body) {
    const int64_t tasks =
        std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>());
    Block result;
    result.push_back(loop::make_for(LoopKind::kParallel, t, tasks, std::move(body)));
    return result;
  }

  // t = ((d0 * n1 + d1) * n2 + d2) ...
  std::vector<Expr> decode(loop::VarId t, const std::vector<int64_t>& counts, Block& block) {
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

  static Place start(const Nest& nest) {
    Place place;
    place.axes.assign(nest.extents.size(), Expr(0));
    for (size_t i = 0; i < nest.steps.size(); ++i)
      place.steps.push_back(Expr::extent(static_cast<int64_t>(i)));
    return place;
  }

  // Output axes that are neither rows nor lanes.
  static std::vector<int> outer_axes(const PreparedNest& p, size_t first) {
    std::vector<int> axes;
    for (int axis = static_cast<int>(first); axis < static_cast<int>(p.nest.outputs); ++axis)
      if (axis != p.tile_axis && axis != p.schedule.row_axis &&
          (p.tile_axis < 0 || axis != p.schedule.vector_axis))
        axes.push_back(axis);
    return axes;
  }

  Block loops(const std::vector<int>& axes, const Nest& nest, Place place,
              const std::function<Block(Place&)>& body, size_t depth = 0) {
    if (depth == axes.size()) return body(place);
    const auto axis = static_cast<size_t>(axes[depth]);
    const loop::VarId var = function_.add_var("i");
    place.axes[axis] = Expr::var(var);
    Block block;
    block.push_back(loop::make_for(LoopKind::kSerial, var, nest.extents[axis],
                                   loops(axes, nest, place, body, depth + 1)));
    return block;
  }

  // --- blocks of rows and of the vector axis

  static int64_t row_extent(const PreparedNest& p) {
    return p.schedule.row_axis < 0 ? 1 : p.nest.extents[static_cast<size_t>(p.schedule.row_axis)];
  }
  static int64_t rows_per_block(const PreparedNest& p) {
    const int64_t rows = row_extent(p);
    return p.schedule.m_block > 0 ? std::min(p.schedule.m_block, rows) : rows;
  }
  static int64_t row_blocks(const PreparedNest& p) {
    const int64_t rows = rows_per_block(p);
    return (row_extent(p) + rows - 1) / rows;
  }
  static int64_t tile_size(const PreparedNest& p) {
    return static_cast<int64_t>(p.schedule.lanes) * p.schedule.vectors;
  }
  static int64_t tiles_per_block(const PreparedNest& p) {
    if (p.tile_axis < 0) return 1;
    const int64_t all = (p.vector_extent + tile_size(p) - 1) / tile_size(p);
    return p.schedule.n_block > 0 ? std::clamp<int64_t>(p.schedule.n_block / tile_size(p), 1, all)
                                  : all;
  }
  static int64_t vector_blocks(const PreparedNest& p) {
    if (p.tile_axis < 0) return 1;
    const int64_t all = (p.vector_extent + tile_size(p) - 1) / tile_size(p);
    return (all + tiles_per_block(p) - 1) / tiles_per_block(p);
  }

  // One block of rows and of the vector axis, for fixed outer axes.
  Block task(const PreparedNest& p, Place& place, const Expr& row_block, const Expr& vector_block) {
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

  // Parts of a map's values that are the same for all lanes and tiles are computed once.
  void hoist_uniform(const PreparedNest& p, const Place& place, Block& block) {
    values_.forget();
    for (const Nest::Store& store : p.nest.stores)
      if (!store.condition.valid()) hoist_uniform(p, store.value, place, block);
    values_.forget();
  }

  void hoist_uniform(const PreparedNest& p, const Scalar& scalar, const Place& place,
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

  static bool moves(const PreparedNest& p, const Scalar& scalar) {
    if (scalar->kind == ScalarNode::Kind::kRead && scalar->tensor == kAccumulator) return true;
    const auto moving = [&](const Index& index) {
      return std::ranges::any_of(
          std::array{p.tile_axis, p.schedule.vector_axis, p.schedule.row_axis},
          [&](int axis) { return axis >= 0 && index.mentions(AxisId{axis}); });
    };
    return moving(scalar->index) || std::ranges::any_of(scalar->indices, moving) ||
           std::ranges::any_of(scalar->args, [&](const Scalar& arg) { return moves(p, arg); });
  }

  struct KBlock {
    Expr number, begin, extent;
    int64_t count = 0;
  };

  Block pack(const PreparedNest& p, const PackCopy& copy, const Place& place) {
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

  static std::vector<int> widths(int64_t elements, int lanes) {
    std::vector<int> result;
    for (int64_t i = 0; i < elements; i += lanes)
      result.push_back(static_cast<int>(std::min<int64_t>(lanes, elements - i)));
    return result;
  }

  Block vector_tiles(const PreparedNest& p, Place place, const Expr& row_block,
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
        block.push_back(loop::make_if(Expr::apply(Fn::kEq, {vector_block, Expr(blocks - 1)}),
                                      std::move(inner)));
    }
    return block;
  }

  Block row_tiles(const PreparedNest& p, Place place, const Expr& row_block,
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

  // --- one tile

  static Place at_row(const PreparedNest& p, const Place& place, int row) {
    Place result = place;
    if (p.schedule.row_axis >= 0) {
      Expr& m = result.axes[static_cast<size_t>(p.schedule.row_axis)];
      m = m + Expr(row);
    }
    return result;
  }

  static Place at_vector(const PreparedNest& p, const Place& place, int row, int64_t element,
                         int width) {
    Place result = at_row(p, place, row);
    if (p.tile_axis < 0) return result;
    result.axes[static_cast<size_t>(p.schedule.vector_axis)] = element;
    result.lane_axis = p.schedule.vector_axis;
    result.lanes = width;
    result.lanes_aligned = width == p.schedule.lanes && element % width == 0;
    return result;
  }

  Block tile(const PreparedNest& p, const Place& place, int rows,
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

  // Reads that are contiguous along the rows instead of the lanes: as many vectors as a vector has
  // lanes, transposed in registers.
  void square_stores(const PreparedNest& p, const Place& place,
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

  void collect_transposed(const PreparedNest& p, const Scalar& scalar, std::vector<Scalar>& reads) {
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

  std::vector<Expr> transposed(const PreparedNest& p, const Place& place, const Scalar& read,
                               int64_t element, Block& block) {
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

  void stores(const PreparedNest& p, const Place& place, int rows,
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

  void emit_stores(const Nest& nest, const Place& at, const Expr& accumulator, Block& block) {
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

  void emit_store(const Nest::Store& store, const Place& place, Block& block) {
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
    HONE_CHECK(lanes.kind == Values::Lanes::Kind::kStrided || place.lanes == 1,
               "stores are strided");
    Place scalar = place;
    scalar.lane_axis = -1;
    scalar.lanes = 1;
    block.push_back(loop::make_store(buffer, values_.index(store.at, scalar), value,
                                     place.lanes == 1 ? 1 : lanes.stride));
  }

  std::vector<int> reduction_axes(const PreparedNest& p) const {
    std::vector<int> axes;
    for (size_t i = p.nest.outputs; i < p.nest.extents.size(); ++i)
      axes.push_back(static_cast<int>(i));
    return axes;
  }

  // acc[index] (+)= body, all in registers.
  void accumulate(const PreparedNest& p, const Place& place, BufferId acc, int64_t index, int width,
                  Block& block) {
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
      next =
          combine(p.nest.combiner, old, Expr::broadcast(values_.value(body, place, block), width));
    }
    block.push_back(loop::make_store(acc, index, next));
  }

  Block sum_tile(const PreparedNest& p, const Place& place, int rows,
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

  // A line of the next tile for each line that is read of this one.
  void prefetch(const PreparedNest& p, const Place& place, Block& block) {
    for (const PreparedNest::Prefetch& next : p.prefetches)
      for (int64_t element = 0; element < tile_size(p); element += 16) {
        Place at = place;
        at.axes[static_cast<size_t>(p.schedule.vector_axis)] = element;
        block.push_back(loop::make_prefetch(tensors_[static_cast<size_t>(next.tensor)],
                                            values_.index(next.at, at) + Expr(next.ahead)));
      }
  }

  // Sums of earlier blocks of the reduction lie where the result will be.
  loop::Stmt resume(const PreparedNest& p, const Place& place, int rows,
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

  void partial_stores(const PreparedNest& p, const Place& place, int rows,
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

  Block reduction_loops(const PreparedNest& p, Place place, size_t depth, const KBlock* k,
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

  // Lanes along a reduction axis, which is the last one: folded in the end.
  Block fold_tile(const PreparedNest& p, const Place& place, int rows) {
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

  // The place of the greatest or least value: one element after the other.
  Block arg_tile(const PreparedNest& p, const Place& place) {
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

  loop::Function& function_;
  const Kernel& kernel_;
  const std::vector<BufferId>& tensors_;
  Values values_;
  bool fetching_ = false;
};

}  // namespace

Block emit_kernel(loop::Function& function, const Kernel& kernel,
                  const std::vector<PreparedNest>& nests, const std::vector<BufferId>& tensors,
                  const std::vector<BufferId>& tables) {
  return KernelEmitter(function, kernel, tensors, tables).kernel(nests);
}

}  // namespace hone
