#include "tune/algorithms.h"

#include <algorithm>
#include <utility>

#include "partition/winograd.h"

namespace hone {
namespace {

struct Choice {
  double seconds = 0;
  int size = 0;  // 0: direct
  int64_t rows = 1;
};

class WinogradCost {
 public:
  WinogradCost(const Op& op, const Convolution3x3& conv, const Cpu& cpu,
               const AlgorithmOptions& options)
      : cpu_(cpu), options_(options) {
    channels_ = static_cast<double>(op.extents[conv.reduced]);
    outputs_ = static_cast<double>(op.extents[conv.channel]);
    rows_ = op.extents[conv.row];
    columns_ = op.extents[conv.column];
    for (const size_t axis : conv.batch) batch_ *= static_cast<double>(op.extents[axis]);
  }

  [[nodiscard]] Choice direct() const {
    const double flops =
        2 * 9 * channels_ * outputs_ * static_cast<double>(rows_ * columns_) * batch_;
    const double bytes = 4 * 9 * channels_ * outputs_;
    return {std::max(flops / (peak() * 0.92), streaming(bytes)), 0, 1};
  }

  [[nodiscard]] Choice tiled(int size) const {
    const double n = size + 2;
    const int64_t tile_rows = (rows_ + size - 1) / size;
    const int64_t tile_columns = (columns_ + size - 1) / size;
    const int64_t rows = rows_per_block(tile_rows, tile_columns, n);
    const int64_t blocks = (tile_rows + rows - 1) / rows;
    const double tiles = static_cast<double>(blocks * rows * tile_columns) * batch_;
    const double flops = 2 * n * n * tiles * channels_ * outputs_;
    const double bytes = 4 * n * n * channels_ * outputs_;
    const double product =
        std::max(flops / (peak() * 0.85),
                 streaming(bytes) * static_cast<double>(bytes > cpu_.l2_bytes ? blocks : 1) * 0.5 +
                     streaming(bytes) * 0.5);
    // Vector instructions of a tile and eight channels, measured in cycles.
    const double in = size == 4 ? 130 : 36;
    const double out = size == 4 ? 95 : 26;
    const double lanes = cpu_.lanes(4);
    const double transforms =
        tiles * (channels_ / lanes * in + outputs_ / lanes * out) / (cpu_.ghz * 1e9);
    return {product + transforms, size, rows};
  }

 private:
  [[nodiscard]] double peak() const {
    return 2.0 * cpu_.lanes(4) * cpu_.fma_per_cycle * cpu_.ghz * 1e9;
  }

  // Weights that do not fit come from memory in every run.
  [[nodiscard]] double streaming(double bytes) const {
    const double rate = bytes > static_cast<double>(cpu_.l3_bytes) / 2 ? cpu_.memory_gbps
                        : bytes > static_cast<double>(cpu_.l2_bytes)   ? cpu_.l3_gbps * 0.6
                                                                       : cpu_.l2_gbps;
    return bytes / (rate * 1e9);
  }

  // Enough tiles for the register tiles of the product, few enough for the cache.
  [[nodiscard]] int64_t rows_per_block(int64_t tile_rows, int64_t tile_columns, double n) const {
    int64_t best = 1;
    double least = 1e30;
    for (int64_t rows = 1; rows <= tile_rows; ++rows) {
      const int64_t blocks = (tile_rows + rows - 1) / rows;
      const double tiles = static_cast<double>(rows * tile_columns);
      const double waste = static_cast<double>(blocks * rows) / static_cast<double>(tile_rows);
      const double bytes = 4 * n * n * tiles * (channels_ + outputs_);
      const double overflow = std::max(1.0, bytes / (static_cast<double>(cpu_.l2_bytes) * 0.8));
      const double reuse = 1 + 6 / tiles;  // of the weights
      const double idle =
          options_.threads > 1 && blocks * static_cast<int64_t>(batch_) < options_.threads ? 1.5
                                                                                           : 1.0;
      const double cost = waste * reuse * idle * (1 + 0.04 * (overflow - 1));
      if (cost < least) {
        least = cost;
        best = rows;
      }
    }
    return best;
  }

  const Cpu& cpu_;
  const AlgorithmOptions& options_;
  double channels_ = 1, outputs_ = 1, batch_ = 1;
  int64_t rows_ = 1, columns_ = 1;
};

}  // namespace

void choose_algorithms(TensorProgram& program, const Cpu& cpu, const AlgorithmOptions& options) {
  if (!options.winograd) return;
  std::vector<Op> ops;
  int groups = 0;
  for (Op& op : program.ops) {
    const std::optional<Convolution3x3> conv = as_convolution(op, program);
    if (!conv || op.extents[conv->reduced] < 8 || op.extents[conv->channel] < 8) {
      ops.push_back(std::move(op));
      continue;
    }
    const WinogradCost cost(op, *conv, cpu, options);
    Choice best = cost.direct();
    for (const int size : {2, 4}) {
      const Choice choice = cost.tiled(size);
      if (choice.seconds < best.seconds) best = choice;
    }
    if (best.size == 0) {
      ops.push_back(std::move(op));
      continue;
    }
    for (Op& part : winograd_ops(op, *conv, best.size, best.rows, program, groups))
      ops.push_back(std::move(part));
    ++groups;
  }
  program.ops = std::move(ops);
}

}  // namespace hone
