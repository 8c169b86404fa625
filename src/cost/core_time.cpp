#include "cost/core_time.h"

#include <algorithm>
#include <set>

#include "lower/values.h"

namespace hone {
namespace {

constexpr double kLoadsPerCycle = 2;
constexpr double kStoresPerCycle = 1;
constexpr double kTileCycles = 12;  // addresses and loop control of a tile

bool mentions(const Index& index, int axis) { return axis >= 0 && index.mentions(AxisId{axis}); }

int64_t blocks_of(int64_t extent, int64_t block) {
  return block <= 0 || block >= extent ? 1 : (extent + block - 1) / block;
}

// Divisions and square roots keep their unit busy for several cycles.
double operations_of(const ScalarNode& node) {
  if (node.kind != ScalarNode::Kind::kApply) return 0;
  const double slow = node.fn == Fn::kDiv || node.fn == Fn::kSqrt ? 8 : 0;
  return info_of(node.fn).flops + slow;
}

struct Operations {
  double vector = 0;  // instructions
  double flops = 0;
};

void count(const Scalar& scalar, std::set<const ScalarNode*>& seen, Operations& sum) {
  if (!scalar.valid() || !seen.insert(&*scalar).second) return;
  sum.vector += operations_of(*scalar);
  if (scalar->kind == ScalarNode::Kind::kApply) sum.flops += info_of(scalar->fn).flops;
  for (const Scalar& arg : scalar->args) count(arg, seen, sum);
}

CoreWork operator+(CoreWork a, const CoreWork& b) {
  a.cycles += b.cycles;
  a.moved_bytes += b.moved_bytes;
  return a;
}

CoreWork operator*(CoreWork a, double times) {
  a.cycles *= times;
  a.moved_bytes *= times;
  return a;
}

class NestWork {
 public:
  NestWork(const Kernel& kernel, const Nest& nest, const NestSchedule& schedule, const Cpu& cpu)
      : kernel_(kernel), nest_(nest), schedule_(schedule), cpu_(cpu), reads_(reads_of(nest)) {
    const auto vector = static_cast<size_t>(schedule.vector_axis);
    folds_ = schedule.vector_axis >= static_cast<int>(nest.outputs);
    for (size_t i = 0; i < nest.extents.size(); ++i) {
      const auto extent = static_cast<double>(nest.extents[i]);
      (i < nest.outputs ? results_ : steps_) *= extent;
    }
    if (schedule.vector_axis >= 0 && !folds_) columns_ = nest.extents[vector];
    if (schedule.row_axis >= 0) rows_ = nest.extents[static_cast<size_t>(schedule.row_axis)];
    std::set<const ScalarNode*> seen;
    count(nest.body, seen, body_);
    for (const Nest::Store& store : nest.stores) {
      count(store.inner, seen, stored_);
      count(store.value, seen, stored_);
    }
    // A product that is summed is one instruction.
    if (nest.reduces()) {
      const bool product = nest.body->kind == ScalarNode::Kind::kApply && nest.body->fn == Fn::kMul;
      body_.vector += product && nest.combiner == Combiner::kSum ? 0 : 1;
      body_.flops += 1;
    }
  }

  CoreWork run() {
    CoreWork work;
    work.flops = stored_.flops * results_;
    if (nest_.reduces()) work.flops += body_.flops * results_ * steps_;
    const double outer = results_ / (static_cast<double>(columns_) * static_cast<double>(rows_));
    const int64_t tile = static_cast<int64_t>(schedule_.lanes) * schedule_.vectors;
    if (schedule_.vector_axis < 0 || folds_) {
      work = work + over_rows(1) * outer;
    } else {
      work = work + over_rows(schedule_.vectors) * (outer * static_cast<double>(columns_ / tile));
      if (const int64_t rest = columns_ % tile; rest > 0)
        work = work +
               over_rows(static_cast<int>((rest + schedule_.lanes - 1) / schedule_.lanes)) * outer;
    }
    work.tasks = tasks(outer);
    return work;
  }

 private:
  int64_t tasks(double outer) const {
    if (nest_.serial) return 1;
    return static_cast<int64_t>(outer) * blocks_of(rows_, schedule_.m_block) *
           blocks_of(columns_, schedule_.n_block);
  }

  // All tiles of the row axis with this many vectors.
  CoreWork over_rows(int vectors) const {
    const int64_t rows = std::min<int64_t>(schedule_.rows, rows_);
    CoreWork work = tile(static_cast<int>(rows), vectors) * static_cast<double>(rows_ / rows);
    if (const int64_t rest = rows_ % rows; rest > 0)
      work = work + tile(static_cast<int>(rest), vectors);
    return work;
  }

  // Instructions that bring a vector of this read into a register.
  double loads_of(const FlatRead& read) const {
    if (std::ranges::find(schedule_.pack, read.tensor) != schedule_.pack.end()) return 1;
    Place place;
    place.lane_axis = schedule_.vector_axis;
    place.lanes = schedule_.lanes;
    place.lanes_aligned = true;
    const Values::Lanes lanes = Values::lanes_of(read.at, place);
    switch (lanes.kind) {
      case Values::Lanes::Kind::kUniform:
        return 1;
      case Values::Lanes::Kind::kStrided:
        return lanes.stride == 1 ? 1 : schedule_.lanes;
      case Values::Lanes::Kind::kShuffled:
        return 1.5;
      case Values::Lanes::Kind::kGathered:
        return 2.0 * schedule_.lanes;
    }
    return 1;
  }

  // Loads of a tile's step (or of its end) and their bytes.
  CoreWork loads(int rows, int vectors, bool in_body) const {
    CoreWork work;
    for (const FlatRead& read : reads_) {
      if (read.in_body != in_body) continue;
      const bool by_lanes = mentions(read.at, schedule_.vector_axis);
      const double each = (by_lanes ? vectors : 1) *
                          (mentions(read.at, schedule_.row_axis) ? rows : 1) * loads_of(read);
      const auto& tensor = kernel_.tensors[static_cast<size_t>(read.tensor)];
      const double width = by_lanes && loads_of(read) < 2 ? schedule_.lanes : 1;
      work.cycles += each / kLoadsPerCycle;
      work.moved_bytes += each * width * static_cast<double>(size_of(tensor.type));
    }
    return work;
  }

  CoreWork tile(int rows, int vectors) const {
    const int step_vectors = folds_ ? schedule_.vectors : vectors;
    const double sums = static_cast<double>(rows) * step_vectors;
    CoreWork work;
    if (nest_.reduces()) {
      double steps = steps_;
      if (folds_) {
        const auto inner = static_cast<double>(nest_.extents.back());
        const double per_step = static_cast<double>(schedule_.lanes) * schedule_.vectors;
        steps = steps_ / inner * std::max(1.0, inner / per_step);
      }
      const CoreWork step = loads(rows, step_vectors, true);
      const double arithmetic = std::max(body_.vector, 1.0) * sums / cpu_.fma_per_cycle;
      work.cycles =
          steps * std::max({arithmetic, step.cycles, static_cast<double>(cpu_.fma_latency)});
      work.moved_bytes = steps * step.moved_bytes;
    }
    return work + end_of(rows, folds_ ? 1 : vectors);
  }

  // Stores, and what is done to sums before.
  CoreWork end_of(int rows, int vectors) const {
    CoreWork work = loads(rows, vectors, false);
    const double values = static_cast<double>(rows) * vectors;
    double stores = 0;
    for (const Nest::Store& store : nest_.stores) {
      const bool contiguous = schedule_.vector_axis < 0 || folds_ ||
                              stride_of(store.at, static_cast<size_t>(schedule_.vector_axis)) == 1;
      stores += contiguous ? values : values * schedule_.lanes;
      const auto& tensor = kernel_.tensors[static_cast<size_t>(store.tensor)];
      work.moved_bytes +=
          values * (folds_ ? 1 : schedule_.lanes) * static_cast<double>(size_of(tensor.type));
    }
    // Partial sums are loaded and stored once more for each block of the reduction.
    if (schedule_.k_block > 0)
      stores += 2 * values *
                static_cast<double>(blocks_of(nest_.extents[nest_.outputs], schedule_.k_block) - 1);
    const double folding = folds_ ? values * 8 : 0;
    work.cycles = std::max({work.cycles, stores / kStoresPerCycle,
                            stored_.vector * values / cpu_.fma_per_cycle}) +
                  folding + (nest_.reduces() ? kTileCycles : 1);
    return work;
  }

  const Kernel& kernel_;
  const Nest& nest_;
  const NestSchedule& schedule_;
  const Cpu& cpu_;
  std::vector<FlatRead> reads_;
  bool folds_ = false;
  double results_ = 1, steps_ = 1;
  int64_t rows_ = 1, columns_ = 1;
  Operations body_, stored_;
};

}  // namespace

CoreWork core_work(const Kernel& kernel, const Nest& nest, const NestSchedule& schedule,
                   const Cpu& cpu) {
  if (nest.points() == 0) return {};
  return NestWork(kernel, nest, schedule, cpu).run();
}

}  // namespace hone
