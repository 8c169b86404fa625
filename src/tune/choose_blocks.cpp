// Blocks of rows, of the vector axis and of the reduction, for caches and threads.
#include <algorithm>

#include "tune/nest_chooser.h"

namespace hone {

void NestChooser::pick_blocks(NestSchedule& schedule) const {
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

bool NestChooser::can_block_reduction() const {
  if (nest_.combiner != Combiner::kSum || nest_.stores.size() != 1) return false;
  const KernelTensor& out = kernel_.tensors[static_cast<size_t>(nest_.stores[0].tensor)];
  return out.type == ElementType::kF32 && nest_.body.type() == ElementType::kF32 &&
         out.role == KernelTensor::Role::kOut;
}

}  // namespace hone
