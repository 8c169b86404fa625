// Tiles of maps, and of reductions whose lanes are folded.
#include <algorithm>

#include "tune/nest_chooser.h"

namespace hone {

void NestChooser::pick_fold(NestSchedule& schedule) const {
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

void NestChooser::pick_map(NestSchedule& schedule) const {
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

void NestChooser::pick_transposed(NestSchedule& schedule, int axis, int64_t vectors) const {
  schedule.row_axis = axis;
  schedule.rows = lanes_;
  schedule.vectors = vectors >= 2 ? 2 : 1;
  schedule.m_block = 64 / lanes_ * lanes_;
  schedule.n_block = 64;
}

}  // namespace hone
