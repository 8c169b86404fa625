// Inside of choosing: the schedule of one nest.
#pragma once

#include "lower/values.h"
#include "tune/choose.h"

namespace hone {

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
  NestSchedule run();

 private:
  // --- choose_lanes.cpp

  // Lanes of the widest type that the nest computes with.
  int widest() const;
  Values::Lanes lanes_of(const Index& index, size_t axis, int lanes) const;
  bool is_constant(int tensor) const;
  // Loads of a vector of this read, along an axis.
  double read_cost(const FlatRead& read, size_t axis, int lanes) const;
  // The output axis along which a map's read is contiguous, where it is not along the lanes: both
  // together are read as a square of vectors and transposed in registers.
  int transposed_axis(const FlatRead& read, size_t lanes_axis) const;
  bool packable(const FlatRead& read) const;
  bool single_read(int tensor) const;
  void pick_vector_axis(NestSchedule& schedule);

  // --- choose_tile.cpp

  // Reads that move along the vector axis, in the body.
  bool moves(const FlatRead& read, int axis) const;
  int64_t reduction_points() const;
  // Output axes along which what moves with the lanes stays the same: its loads are shared.
  void pick_rows(NestSchedule& schedule);
  void pick_packing(NestSchedule& schedule) const;
  // Cycles of a step of the reduction in a tile.
  double step_cycles(int rows, int vectors, double row_loads) const;
  void pick_tile(NestSchedule& schedule) const;
  void pick_unroll(NestSchedule& schedule) const;

  // --- choose_blocks.cpp

  void pick_blocks(NestSchedule& schedule) const;
  // Partial sums are kept where the result will be: in f32, once.
  bool can_block_reduction() const;

  // --- choose_map.cpp

  void pick_fold(NestSchedule& schedule) const;
  void pick_map(NestSchedule& schedule) const;
  // Squares of vectors, whole cache lines of the result at a time, in blocks that the caches and
  // the address translation can hold.
  void pick_transposed(NestSchedule& schedule, int axis, int64_t vectors) const;

  const Kernel& kernel_;
  Nest& nest_;
  size_t shared_;
  bool alone_;  // it has tasks, blocks and packed operands of its own
  const Cpu& cpu_;
  const ChooseOptions& options_;
  int lanes_ = 1;
};

}  // namespace hone
