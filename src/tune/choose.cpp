// The form of a nest that schedules are for, and the order of choices.
#include "tune/choose.h"

#include <algorithm>
#include <numeric>

#include "lower/combine.h"
#include "tune/nest_chooser.h"

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

NestSchedule NestChooser::run() {
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
