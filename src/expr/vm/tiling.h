// Which axes become the inner tile, from how the code walks through memory along each of them.
#pragma once

#include <vector>

#include "expr/vm/schedule.h"

namespace hone::vm {

// Slots with more than one position, in order.
[[nodiscard]] std::vector<int> output_slots(const Space& space);
[[nodiscard]] std::vector<int> reduction_slots(const Space& space);

// Relative time per element when the tile's columns run along a slot.
[[nodiscard]] double walking_cost(const Code& code, int slot);

// A tile over output axes only.
[[nodiscard]] Tile choose_output_tile(const Code& code, const Linear& address,
                                      const std::vector<int>& candidates, int64_t capacity);
// Columns along a reduction axis, rows along an output axis.
[[nodiscard]] Tile choose_row_tile(const Code& code, const Linear& address, int64_t capacity);

// Whether to reduce along the columns of a tile instead of tile by tile.
[[nodiscard]] bool prefers_row_tile(const Code& code, const Tile& output_tile,
                                    const Tile& row_tile);

// Elements of a tile such that the registers of the code stay in the first-level cache.
[[nodiscard]] int64_t tile_capacity(const Code& code);

// `slots` without those of the tile, then the tile's.
[[nodiscard]] std::vector<int> loop_order(const std::vector<int>& slots, const Tile& tile);

}  // namespace hone::vm
