// The rows, packed operands, registers and unrolling of a reduction whose lanes are results.
#include <algorithm>
#include <limits>

#include "tune/nest_chooser.h"

namespace hone {

bool NestChooser::moves(const FlatRead& read, int axis) const {
  return axis >= 0 && read.at.mentions(AxisId{axis});
}

int64_t NestChooser::reduction_points() const {
  int64_t points = 1;
  for (size_t i = nest_.outputs; i < nest_.extents.size(); ++i) points *= nest_.extents[i];
  return points;
}

void NestChooser::pick_rows(NestSchedule& schedule) {
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

void NestChooser::pick_packing(NestSchedule& schedule) const {
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

double NestChooser::step_cycles(int rows, int vectors, double row_loads) const {
  const double fmas = rows * vectors / cpu_.fma_per_cycle;
  const double loads = (row_loads * rows + vectors) / 2.0;
  return std::max({fmas, loads, static_cast<double>(cpu_.fma_latency)});
}

void NestChooser::pick_tile(NestSchedule& schedule) const {
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
      if (v > 1 && tile_columns > (columns + schedule.lanes - 1) / schedule.lanes * schedule.lanes)
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

void NestChooser::pick_unroll(NestSchedule& schedule) const {
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

}  // namespace hone
