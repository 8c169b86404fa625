#include "tune/choose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lower/combine.h"
#include "lower/values.h"

namespace hone {
namespace {

int64_t magnitude(int64_t value) { return value < 0 ? -value : value; }

// Axes with large strides first, so that the innermost loop walks through memory.
Nest ordered(const Nest& nest, size_t keep, const Kernel& kernel) {
  std::vector<size_t> order(nest.extents.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const Index& store = nest.stores[0].at;
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(keep),
                   order.begin() + static_cast<std::ptrdiff_t>(nest.outputs),
                   [&](size_t a, size_t b) {
                     return magnitude(stride_of(store, a)) > magnitude(stride_of(store, b));
                   });
  const std::vector<FlatRead> reads = reads_of(nest);
  const auto reach = [&](size_t axis) {
    int64_t best = 0;
    for (const FlatRead& read : reads) {
      const bool constant =
          kernel.tensors[static_cast<size_t>(read.tensor)].role == KernelTensor::Role::kConstant;
      if (read.in_body && !constant) best = std::max(best, magnitude(stride_of(read.at, axis)));
    }
    return best;
  };
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(nest.outputs), order.end(),
                   [&](size_t a, size_t b) { return reach(a) > reach(b); });
  return reorder(nest, order);
}

Nest normalised(const Nest& nest, size_t keep, const Kernel& kernel) {
  if (is_arg(nest.combiner)) return nest;  // positions count along its one reduction axis
  Nest result = drop_unit_axes(nest, keep);
  result = split_axes(result, keep);
  if (result.serial) return result;
  result = ordered(result, keep, kernel);
  return join_axes(result, keep);
}

class NestChooser {
 public:
  NestChooser(const Kernel& kernel, Nest& nest, size_t shared, const Cpu& cpu,
              const ChooseOptions& options)
      : kernel_(kernel),
        nest_(nest),
        shared_(shared),
        alone_(kernel.nests.size() == 1 && shared == 0),
        cpu_(cpu),
        options_(options) {}

  NestSchedule run() {
    NestSchedule schedule;
    if (nest_.serial || is_arg(nest_.combiner) || nest_.points() == 0) return schedule;
    lanes_ = widest();
    if (lanes_ <= 1) return schedule;
    pick_vector_axis(schedule);
    if (nest_.reduces() && schedule.vector_axis >= 0 &&
        schedule.vector_axis < static_cast<int>(nest_.outputs)) {
      pick_rows(schedule);
      pick_packing(schedule);
      pick_tile(schedule);
      pick_blocks(schedule);
    } else if (nest_.reduces() && schedule.vector_axis >= 0) {
      pick_fold(schedule);
    } else if (!nest_.reduces() && schedule.vector_axis >= 0) {
      pick_map(schedule);
    }
    if (nest_.reduces()) pick_unroll(schedule);
    return schedule;
  }

 private:
  // Lanes of the widest type that the nest computes with.
  int widest() const {
    int bytes = 4;
    for (const KernelTensor& tensor : kernel_.tensors)
      bytes = std::max(bytes, static_cast<int>(size_of(register_type(tensor.type))));
    if (nest_.reduces())
      bytes = std::max(bytes, static_cast<int>(size_of(register_type(nest_.body.type()))));
    return std::max(1, cpu_.vector_bytes / bytes);
  }

  Values::Lanes lanes_of(const Index& index, size_t axis, int lanes) const {
    Place place;
    place.lane_axis = static_cast<int>(axis);
    place.lanes = lanes;
    place.lanes_aligned = nest_.extents[axis] % lanes == 0 || nest_.extents[axis] > lanes;
    return Values::lanes_of(index, place);
  }

  bool is_constant(int tensor) const {
    return kernel_.tensors[static_cast<size_t>(tensor)].role == KernelTensor::Role::kConstant;
  }

  // Loads of a vector of this read, along an axis.
  double read_cost(const FlatRead& read, size_t axis, int lanes) const {
    const Values::Lanes kind = lanes_of(read.at, axis, lanes);
    switch (kind.kind) {
      case Values::Lanes::Kind::kUniform:
        return 0.5;
      case Values::Lanes::Kind::kStrided:
        if (kind.stride == 1) return 1;
        if (packable(read)) return 1;
        return transposed_axis(read, axis) >= 0 ? 3 : lanes;
      case Values::Lanes::Kind::kShuffled:
        return 1.5;
      case Values::Lanes::Kind::kGathered:
        return 2.0 * lanes;
    }
    return lanes;
  }

  // The output axis along which a map's read is contiguous, where it is not along the lanes: both
  // together are read as a square of vectors and transposed in registers.
  int transposed_axis(const FlatRead& read, size_t lanes_axis) const {
    if (nest_.reduces() || read.guarded || !is_linear(read.at) || !alone_) return -1;
    if (stride_of(read.at, lanes_axis) <= 1 || nest_.extents[lanes_axis] < lanes_) return -1;
    for (size_t axis = shared_; axis < nest_.outputs; ++axis)
      if (axis != lanes_axis && stride_of(read.at, axis) == 1 && nest_.extents[axis] >= lanes_)
        return static_cast<int>(axis);
    return -1;
  }

  bool packable(const FlatRead& read) const {
    return nest_.reduces() && read.in_body && is_linear(read.at) && !read.guarded &&
           is_constant(read.tensor) && single_read(read.tensor);
  }

  bool single_read(int tensor) const {
    int count = 0;
    for (const Nest& nest : kernel_.nests)
      for (const FlatRead& read : reads_of(nest)) count += read.tensor == tensor ? 1 : 0;
    return count == 1;
  }

  void pick_vector_axis(NestSchedule& schedule) {
    const std::vector<FlatRead> reads = reads_of(nest_);
    const double points = static_cast<double>(nest_.points());
    double results = 1;
    for (size_t i = 0; i < nest_.outputs; ++i) results *= static_cast<double>(nest_.extents[i]);
    double best = 0;
    for (const FlatRead& read : reads) best += read.in_body ? points : results;
    best += results * static_cast<double>(nest_.stores.size()) + points * 0.5;
    for (size_t axis = shared_; axis < nest_.extents.size(); ++axis) {
      const int64_t extent = nest_.extents[axis];
      const bool folds = axis >= nest_.outputs;
      if (folds && axis + 1 != nest_.extents.size()) continue;
      const int lanes = static_cast<int>(std::min<int64_t>(lanes_, extent));
      if (lanes < 2) continue;
      const double vectors = static_cast<double>((extent + lanes - 1) / lanes);
      const double used = static_cast<double>(extent) / vectors;  // lanes per vector
      double cost = points / used * 0.5;
      bool possible = true;
      for (const FlatRead& read : reads)
        if (read.in_body || !folds)
          cost += read_cost(read, axis, lanes) * (read.in_body ? points : results) / used;
        else
          cost += results;
      for (const Nest::Store& store : nest_.stores) {
        if (folds) {
          cost += results * 8;
          continue;
        }
        const Values::Lanes kind = lanes_of(store.at, axis, lanes);
        if (kind.kind != Values::Lanes::Kind::kStrided) possible = false;
        cost += (kind.stride == 1 ? 1.0 : lanes * 1.5) * results / used;
      }
      if (!possible || cost >= best) continue;
      best = cost;
      schedule.vector_axis = static_cast<int>(axis);
      schedule.lanes = lanes;
    }
  }

  // Reads that move along the vector axis, in the body.
  bool moves(const FlatRead& read, int axis) const {
    return axis >= 0 && read.at.mentions(AxisId{axis});
  }

  int64_t reduction_points() const {
    int64_t points = 1;
    for (size_t i = nest_.outputs; i < nest_.extents.size(); ++i) points *= nest_.extents[i];
    return points;
  }

  // Output axes along which what moves with the lanes stays the same: its loads are shared.
  void pick_rows(NestSchedule& schedule) {
    const int vector = schedule.vector_axis;
    const std::vector<FlatRead> reads = reads_of(nest_);
    const auto reuses = [&](size_t axis) {
      return std::ranges::any_of(reads, [&](const FlatRead& read) {
        return read.in_body && moves(read, vector) && !moves(read, static_cast<int>(axis));
      });
    };
    std::vector<size_t> rows;
    for (size_t axis = shared_; axis < nest_.outputs; ++axis)
      if (static_cast<int>(axis) != vector && nest_.extents[axis] > 1 && reuses(axis))
        rows.push_back(axis);
    if (rows.empty()) {
      // Nothing is shared, but several chains of additions at once hide their latency.
      size_t best = nest_.outputs;
      for (size_t axis = shared_; axis < nest_.outputs; ++axis)
        if (static_cast<int>(axis) != vector && nest_.extents[axis] > 1) best = axis;
      if (best < nest_.outputs) schedule.row_axis = static_cast<int>(best);
      return;
    }
    // Long reductions can afford div and mod per row: all rows become one axis, without tails.
    const bool flatten = reduction_points() >= 48 && alone_;
    while (flatten && rows.size() > 1) {
      const size_t a = rows[rows.size() - 2];
      const size_t b = rows.back();
      Nest flat = flatten_axes(nest_, a, b);
      rows.pop_back();
      if (schedule.vector_axis > static_cast<int>(b)) --schedule.vector_axis;
      nest_ = std::move(flat);
    }
    size_t longest = rows.back();
    for (const size_t axis : rows)
      if (nest_.extents[axis] > nest_.extents[longest]) longest = axis;
    schedule.row_axis = static_cast<int>(flatten ? rows[0] : longest);
  }

  void pick_packing(NestSchedule& schedule) const {
    const int vector = schedule.vector_axis;
    for (const FlatRead& read : reads_of(nest_)) {
      if (!read.in_body || !moves(read, vector) || !is_linear(read.at) || read.guarded ||
          !single_read(read.tensor))
        continue;
      const bool constant = is_constant(read.tensor);
      const bool by_rows = schedule.row_axis >= 0 && moves(read, schedule.row_axis);
      if (constant) schedule.pack.push_back(read.tensor);
      if (constant || by_rows || schedule.row_axis < 0 || !alone_) continue;
      const int64_t rows = nest_.extents[static_cast<size_t>(schedule.row_axis)];
      const int64_t bytes = reduction_points() * nest_.extents[static_cast<size_t>(vector)] * 4;
      if (rows >= 12 && reduction_points() >= 8 && bytes <= (4 << 20))
        schedule.pack.push_back(read.tensor);
    }
  }

  // Cycles of a step of the reduction in a tile.
  double step_cycles(int rows, int vectors, double row_loads) const {
    const double fmas = rows * vectors / cpu_.fma_per_cycle;
    const double loads = (row_loads * rows + vectors) / 2.0;
    return std::max({fmas, loads, static_cast<double>(cpu_.fma_latency)});
  }

  void pick_tile(NestSchedule& schedule) const {
    const int vector = schedule.vector_axis;
    const int64_t columns = nest_.extents[static_cast<size_t>(vector)];
    const int64_t rows =
        schedule.row_axis < 0 ? 1 : nest_.extents[static_cast<size_t>(schedule.row_axis)];
    const int64_t steps = reduction_points();
    double uniform = 0;
    double moving = 0;
    for (const FlatRead& read : reads_of(nest_)) {
      const bool by_row = schedule.row_axis >= 0 && moves(read, schedule.row_axis);
      if (!read.in_body || !by_row) continue;
      (moves(read, vector) ? moving : uniform) += 1;
    }
    double best = std::numeric_limits<double>::max();
    const int registers = cpu_.vector_registers;
    for (int v = 1; v <= 4; ++v) {
      for (int r = 1; r <= 14; ++r) {
        if (r * v + v + 1 > registers || r > rows) continue;
        const auto tile_columns = static_cast<int64_t>(v) * schedule.lanes;
        if (v > 1 &&
            tile_columns > (columns + schedule.lanes - 1) / schedule.lanes * schedule.lanes)
          continue;
        const auto cost_rows = [&](int tile_vectors) {
          const auto cost = [&](int64_t count) {
            const double step =
                step_cycles(static_cast<int>(count), tile_vectors, uniform + moving * tile_vectors);
            return step * static_cast<double>(steps) + 12.0 +
                   2.0 * static_cast<double>(count) * tile_vectors;
          };
          double total = static_cast<double>(rows / r) * cost(r);
          if (rows % r != 0) total += cost(rows % r);
          return total;
        };
        double total = static_cast<double>(columns / tile_columns) * cost_rows(v);
        if (const int64_t rest = columns % tile_columns; rest > 0)
          total += cost_rows(static_cast<int>((rest + schedule.lanes - 1) / schedule.lanes));
        // Fewer, larger tiles on a tie.
        total *= 1.0 - 0.0001 * r * v;
        if (total >= best) continue;
        best = total;
        schedule.vectors = v;
        schedule.rows = r;
      }
    }
    if (schedule.row_axis < 0) schedule.rows = 1;
  }

  void pick_blocks(NestSchedule& schedule) const {
    if (!alone_) return;
    const int64_t rows =
        schedule.row_axis < 0 ? 1 : nest_.extents[static_cast<size_t>(schedule.row_axis)];
    const int64_t columns = nest_.extents[static_cast<size_t>(schedule.vector_axis)];
    const int64_t steps = reduction_points();
    int64_t outer = 1;
    for (size_t i = 0; i < nest_.outputs; ++i)
      if (static_cast<int>(i) != schedule.vector_axis && static_cast<int>(i) != schedule.row_axis)
        outer *= nest_.extents[i];
    bool runtime_pack = false;
    for (const int tensor : schedule.pack) runtime_pack = runtime_pack || !is_constant(tensor);

    const int64_t tile = static_cast<int64_t>(schedule.lanes) * schedule.vectors;
    // Weights that come from beyond the second level.
    schedule.prefetch =
        !schedule.pack.empty() && !runtime_pack && steps * columns * 4 > cpu_.l2_bytes && rows >= 2;
    int64_t block_steps = steps;
    if (can_block_reduction() &&
        stride_of(nest_.stores[0].at, static_cast<size_t>(schedule.vector_axis)) == 1 &&
        rows >= 16 * schedule.rows && columns >= 2 * tile &&
        steps * tile * 4 > cpu_.l1_bytes * 3 / 4) {
      const int64_t outermost = nest_.extents[nest_.outputs];
      const int64_t inner = steps / outermost;
      int64_t block = std::max<int64_t>(1, 320 / inner);
      if (inner == 1) {
        // Equal blocks of a multiple of 8.
        const int64_t count = (outermost + 511) / 512;
        block = ((outermost + count - 1) / count + 7) / 8 * 8;
      }
      if (block < outermost && outermost % std::min<int64_t>(block, 8) == 0) {
        schedule.k_block = block;
        block_steps = block * inner;
      }
    }
    if (rows > schedule.rows && !runtime_pack) {
      const int64_t fits = cpu_.l2_bytes / 2 / (block_steps * 4);
      // Few rows stay together; many are cut so that their part of a block of the reduction
      // leaves room for the weights.
      int64_t block = std::clamp<int64_t>(fits, 4, rows > 192 ? 96 : 192) / schedule.rows;
      block = std::max<int64_t>(block, 2) * schedule.rows;
      // Enough tasks for all threads, where there is enough work.
      const double work =
          static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(steps);
      if (options_.threads > 1 && work > 1e5) {
        const int64_t wanted = (4 * options_.threads + outer - 1) / outer;
        const int64_t share = (rows + wanted - 1) / wanted;
        const int64_t least = std::max<int64_t>(1, share / schedule.rows) * schedule.rows;
        if (least < block && rows * columns > 0) block = least;
      }
      // As many blocks for each thread.
      int64_t count = (rows + block - 1) / block;
      if (count > 1 && outer % options_.threads != 0) {
        count = (count + options_.threads - 1) / options_.threads * options_.threads;
        const int64_t tiles = (rows + schedule.rows - 1) / schedule.rows;
        block = std::max<int64_t>(1, (tiles + count - 1) / count) * schedule.rows;
      }
      if (block < rows) schedule.m_block = block;
    }
    const int64_t row_blocks =
        schedule.m_block > 0 ? (rows + schedule.m_block - 1) / schedule.m_block : 1;
    if (outer * row_blocks < 4 * options_.threads && options_.threads > 1 && !runtime_pack) {
      const int64_t wanted = (4 * options_.threads + outer * row_blocks - 1) / (outer * row_blocks);
      const int64_t tiles = (columns + tile - 1) / tile;
      if (tiles > 1) schedule.n_block = std::max<int64_t>(1, (tiles + wanted - 1) / wanted) * tile;
    }
  }

  // Partial sums are kept where the result will be: in f32, once.
  bool can_block_reduction() const {
    if (nest_.combiner != Combiner::kSum || nest_.stores.size() != 1) return false;
    const KernelTensor& out = kernel_.tensors[static_cast<size_t>(nest_.stores[0].tensor)];
    return out.type == ElementType::kF32 && nest_.body.type() == ElementType::kF32 &&
           out.role == KernelTensor::Role::kOut;
  }

  void pick_fold(NestSchedule& schedule) const {
    const int64_t extent = nest_.extents.back();
    schedule.vectors = extent >= 4L * schedule.lanes ? 4 : extent >= 2L * schedule.lanes ? 2 : 1;
    // Rows share what does not depend on them.
    const auto reads = reads_of(nest_);
    for (size_t axis = nest_.outputs; axis-- > shared_;) {
      const bool shares = std::ranges::any_of(reads, [&](const FlatRead& read) {
        return read.in_body && moves(read, schedule.vector_axis) &&
               !moves(read, static_cast<int>(axis));
      });
      if (!shares || nest_.extents[axis] < 2) continue;
      schedule.row_axis = static_cast<int>(axis);
      schedule.rows = static_cast<int>(std::min<int64_t>(4, nest_.extents[axis]));
      schedule.vectors = std::min(schedule.vectors, 2);
      return;
    }
  }

  void pick_map(NestSchedule& schedule) const {
    const int64_t extent = nest_.extents[static_cast<size_t>(schedule.vector_axis)];
    const int64_t vectors = extent / schedule.lanes;
    schedule.vectors = vectors >= 4 ? 4 : vectors >= 2 ? 2 : 1;
    if (nest_.stores.size() > 4) schedule.vectors = 1;
    if (!alone_) return;
    if (schedule.lanes == lanes_ && (lanes_ & (lanes_ - 1)) == 0)
      for (const FlatRead& read : reads_of(nest_)) {
        const int axis = transposed_axis(read, static_cast<size_t>(schedule.vector_axis));
        if (axis >= 0) return pick_transposed(schedule, axis, vectors);
      }
    int64_t outer = 1;
    for (size_t i = 0; i < nest_.outputs; ++i)
      if (static_cast<int>(i) != schedule.vector_axis) outer *= nest_.extents[i];
    const int64_t tile = static_cast<int64_t>(schedule.lanes) * schedule.vectors;
    if (outer < 4 * options_.threads && extent > 4096)
      schedule.n_block = std::max<int64_t>(2048 / tile, 1) * tile;
  }

  // Squares of vectors, whole cache lines of the result at a time, in blocks that the caches and
  // the address translation can hold.
  void pick_transposed(NestSchedule& schedule, int axis, int64_t vectors) const {
    schedule.row_axis = axis;
    schedule.rows = lanes_;
    schedule.vectors = vectors >= 2 ? 2 : 1;
    schedule.m_block = 64 / lanes_ * lanes_;
    schedule.n_block = 64;
  }

  void pick_unroll(NestSchedule& schedule) const {
    if (nest_.outputs == nest_.extents.size()) return;
    if (schedule.vector_axis >= static_cast<int>(nest_.outputs)) return;
    const int64_t extent = nest_.extents.back();
    const bool blocked = schedule.k_block > 0 && nest_.outputs + 1 == nest_.extents.size();
    const int size = schedule.rows * schedule.vectors;
    for (const int unroll : {8, 7, 5, 4, 3, 2}) {
      if (extent % unroll != 0 || (blocked && schedule.k_block % unroll != 0)) continue;
      if (unroll * size > 64) continue;
      schedule.unroll = unroll;
      return;
    }
  }

  const Kernel& kernel_;
  Nest& nest_;
  size_t shared_;
  bool alone_;  // it has tasks, blocks and packed operands of its own
  const Cpu& cpu_;
  const ChooseOptions& options_;
  int lanes_ = 1;
};

// The last map of a group that reads a large tensor fetches what the next iteration reads of it.
void fetch_next_row(const Kernel& kernel, const Cpu& cpu, Schedule& schedule) {
  for (size_t i = kernel.nests.size(); i-- > 0;) {
    const Nest& nest = kernel.nests[i];
    if (nest.reduces() || schedule.nests[i].vector_axis < 0 || nest.stores.size() > 4) continue;
    for (const FlatRead& read : reads_of(nest)) {
      const KernelTensor& tensor = kernel.tensors[static_cast<size_t>(read.tensor)];
      if (tensor.role != KernelTensor::Role::kIn || read.guarded || !is_linear(read.at) ||
          tensor.elements * static_cast<int64_t>(size_of(tensor.type)) < 4 * cpu.l2_bytes ||
          stride_of(read.at, static_cast<size_t>(schedule.nests[i].vector_axis)) != 1)
        continue;
      schedule.nests[i].prefetch = true;
      return;
    }
  }
}

}  // namespace

Schedule choose(Kernel& kernel, const Cpu& cpu, const ChooseOptions& options) {
  for (Nest& nest : kernel.nests) nest = normalised(nest, kernel.shared, kernel);
  Schedule schedule;
  for (size_t i = 0; i < kernel.nests.size(); ++i) {
    Nest nest = kernel.nests[i];
    schedule.nests.push_back(NestChooser(kernel, nest, kernel.shared, cpu, options).run());
    kernel.nests[i] = std::move(nest);
  }
  if (kernel.shared > 0) fetch_next_row(kernel, cpu, schedule);
  return schedule;
}

}  // namespace hone
