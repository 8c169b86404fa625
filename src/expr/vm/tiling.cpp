#include "expr/vm/tiling.h"

#include <algorithm>
#include <cstdlib>

namespace hone::vm {
namespace {

std::vector<int> wide_slots(const Space& space, int begin, int end) {
  std::vector<int> slots;
  for (int slot = begin; slot < end; ++slot)
    if (space.extents[static_cast<size_t>(slot)] > 1) slots.push_back(slot);
  return slots;
}

int64_t extent_of(const Code& code, int slot) {
  return slot < 0 ? 1 : code.space.extents[static_cast<size_t>(slot)];
}

// Equal parts of at most `most`.
int64_t even_step(int64_t extent, int64_t most) {
  if (extent <= most) return std::max<int64_t>(extent, 1);
  const int64_t parts = (extent + most - 1) / most;
  return (extent + parts - 1) / parts;
}

// A check that bounds both axes at once would make a gather of a load.
bool share_check(const Code& code, int a, int b) {
  for (const Value& value : code.values)
    for (const Check& check : value.checks)
      if (check.index.coefficient(a) != 0 && check.index.coefficient(b) != 0) return true;
  return false;
}

// Along this axis some read goes wherever data or a division sends it.
bool gathers(const Code& code, int slot) {
  const std::vector<uint64_t> depends = code.dependences();
  const auto scattered = [&](const Linear& linear) {
    return std::any_of(linear.values.begin(), linear.values.end(), [&](const auto& term) {
      return (depends[static_cast<size_t>(term.first)] >> slot & 1) != 0;
    });
  };
  return std::any_of(code.values.begin(), code.values.end(), [&](const Value& value) {
    return value.op == Value::Op::kRead && scattered(value.linear);
  });
}

// The row axis along which some read is contiguous that is strided along the columns.
bool transposes(const Code& code, int row, int col) {
  return std::any_of(code.values.begin(), code.values.end(), [&](const Value& value) {
    return value.op == Value::Op::kRead && std::abs(value.linear.coefficient(col)) > 1 &&
           std::abs(value.linear.coefficient(row)) == 1;
  });
}

int64_t stride_rank(const Linear& address, int slot) {
  const int64_t stride = std::abs(address.coefficient(slot));
  return stride == 0 ? INT64_MAX : stride;
}

int smallest_stride(const Linear& address, const std::vector<int>& slots) {
  int best = -1;
  for (const int slot : slots)
    if (best < 0 || stride_rank(address, slot) < stride_rank(address, best)) best = slot;
  return best;
}

void set_sizes(const Code& code, Tile& tile, int64_t capacity) {
  tile.cols = even_step(extent_of(code, tile.col), capacity);
  tile.rows = even_step(extent_of(code, tile.row), std::max<int64_t>(capacity / tile.cols, 1));
}

}  // namespace

std::vector<int> output_slots(const Space& space) { return wide_slots(space, 0, space.outputs); }
std::vector<int> reduction_slots(const Space& space) {
  return wide_slots(space, space.outputs, space.loops());
}

double walking_cost(const Code& code, int slot) {
  double cost = gathers(code, slot) ? 6 : 1;
  for (const Value& value : code.values) {
    if (value.op != Value::Op::kRead) continue;
    const int64_t stride = std::abs(value.linear.coefficient(slot));
    cost += stride == 0 ? 0.25 : stride == 1 ? 1 : stride < 8 ? 2 : 4;
  }
  return cost;
}

Tile choose_output_tile(const Code& code, const Linear& address, const std::vector<int>& candidates,
                        int64_t capacity) {
  Tile tile;
  tile.col = smallest_stride(address, candidates);
  if (tile.col < 0) return tile;
  std::vector<int> rows;
  const bool is_gather = gathers(code, tile.col);
  for (const int slot : candidates)
    if (slot != tile.col && !share_check(code, slot, tile.col) &&
        (is_gather || !gathers(code, slot)))
      rows.push_back(slot);
  for (const int slot : rows) {
    if (!transposes(code, slot, tile.col)) continue;
    tile.row = slot;
    constexpr int64_t kSide = 32;
    tile.cols = even_step(extent_of(code, tile.col), kSide);
    tile.rows = even_step(extent_of(code, tile.row), std::max(kSide, capacity / 2 / tile.cols));
    return tile;
  }
  if (2 * extent_of(code, tile.col) <= capacity) tile.row = smallest_stride(address, rows);
  set_sizes(code, tile, capacity);
  return tile;
}

Tile choose_row_tile(const Code& code, const Linear& address, int64_t capacity) {
  Tile tile;
  double best = 0;
  for (const int slot : reduction_slots(code.space)) {
    const double cost =
        walking_cost(code, slot) * (1 + 24.0 / static_cast<double>(extent_of(code, slot)));
    if (tile.col >= 0 && cost >= best) continue;
    tile.col = slot;
    best = cost;
  }
  std::vector<int> rows;
  for (const int slot : output_slots(code.space))
    if (tile.col < 0 || !share_check(code, slot, tile.col)) rows.push_back(slot);
  tile.row = smallest_stride(address, rows);
  set_sizes(code, tile, capacity);
  return tile;
}

bool prefers_row_tile(const Code& code, const Tile& output_tile, const Tile& row_tile) {
  if (row_tile.col < 0) return false;
  if (output_tile.col < 0) return true;
  const auto length = static_cast<double>(output_tile.capacity());
  const double by_outputs = walking_cost(code, output_tile.col) * (1 + 24 / length);
  const double by_rows =
      walking_cost(code, row_tile.col) * (1 + 24 / static_cast<double>(row_tile.cols));
  return by_rows < by_outputs;
}

int64_t tile_capacity(const Code& code) {
  size_t bytes = 0;
  for (const Value& value : code.values)
    if (value.op != Value::Op::kConstant) bytes += size_of(value.type);
  const auto elements = static_cast<int64_t>(size_t{32} * 1024 / std::max<size_t>(bytes, 1));
  return std::clamp<int64_t>(elements, 512, 4096);
}

std::vector<int> loop_order(const std::vector<int>& slots, const Tile& tile) {
  std::vector<int> order;
  for (const int slot : slots)
    if (slot != tile.row && slot != tile.col) order.push_back(slot);
  for (const int slot : {tile.row, tile.col})
    if (slot >= 0) order.push_back(slot);
  return order;
}

}  // namespace hone::vm
