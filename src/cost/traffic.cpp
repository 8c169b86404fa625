#include "cost/traffic.h"

#include <algorithm>
#include <numeric>

namespace hone {
namespace {

constexpr double kLineBytes = 64;

// Bytes that an access touches while each axis runs over `covered` values.
double footprint(const Index& at, const std::vector<int64_t>& covered, const KernelTensor& tensor) {
  const auto size = static_cast<double>(size_of(tensor.type));
  const auto most = static_cast<double>(tensor.elements) * size;
  std::vector<std::pair<double, double>> walks;  // stride, count
  double product = 1;
  for (size_t axis = 0; axis < covered.size(); ++axis) {
    if (covered[axis] <= 1 || !at.mentions(AxisId{static_cast<int>(axis)})) continue;
    const auto count = static_cast<double>(covered[axis]);
    walks.emplace_back(std::abs(static_cast<double>(stride_of(at, axis))), count);
    product *= count;
  }
  if (!is_linear(at)) return std::min(product * size, most);
  // From small strides to large ones: no more elements than steps, and none outside the span.
  std::ranges::sort(walks);
  double elements = 1;
  double span = 1;
  for (const auto& [stride, count] : walks) {
    span += stride * (count - 1);
    elements = std::min(elements * count, span);
  }
  // Lines come as a whole.
  const double gap = walks.empty() ? 1 : std::max(1.0, walks.front().first);
  return std::min(elements * std::min(gap * size, kLineBytes), most);
}

// How far each axis runs inside of the loops, from the innermost loop outward.
std::vector<std::vector<int64_t>> coverages(const Nest& nest, const NestSchedule& schedule) {
  std::vector<std::vector<int64_t>> result;
  std::vector<int64_t> covered(nest.extents.size(), 1);
  const auto grow = [&](int axis, int64_t to) {
    if (axis < 0) return;
    const auto i = static_cast<size_t>(axis);
    to = to <= 0 ? nest.extents[i] : std::min(to, nest.extents[i]);
    if (to <= covered[i]) return;
    covered[i] = to;
    result.push_back(covered);
  };
  const int vector = schedule.vector_axis;
  if (vector >= 0)
    covered[static_cast<size_t>(vector)] = std::min<int64_t>(
        nest.extents[static_cast<size_t>(vector)], int64_t{schedule.lanes} * schedule.vectors);
  if (schedule.row_axis >= 0) {
    const auto row = static_cast<size_t>(schedule.row_axis);
    covered[row] = std::min<int64_t>(nest.extents[row], schedule.rows);
  }
  result.push_back(covered);
  const int outputs = static_cast<int>(nest.outputs);
  for (int axis = static_cast<int>(nest.extents.size()); axis-- > outputs;)
    grow(axis, axis == outputs ? schedule.k_block : 0);
  grow(schedule.row_axis, schedule.m_block);
  if (vector < outputs) grow(vector, schedule.n_block);
  if (outputs < static_cast<int>(nest.extents.size())) grow(outputs, 0);
  if (vector < outputs) grow(vector, 0);
  grow(schedule.row_axis, 0);
  for (int axis = outputs; axis-- > 0;) grow(axis, 0);
  return result;
}

}  // namespace

double Traffic::Stage::total() const { return std::accumulate(bytes.begin(), bytes.end(), 0.0); }

std::vector<Traffic::Stage> Traffic::stages_of(const Kernel& kernel, const Nest& nest,
                                               const NestSchedule& schedule) {
  const auto points = static_cast<double>(nest.points());
  const std::vector<FlatRead> reads = reads_of(nest);
  std::vector<Stage> stages;
  for (const std::vector<int64_t>& covered : coverages(nest, schedule)) {
    Stage stage;
    double inside = 1;
    for (const int64_t extent : covered) inside *= static_cast<double>(extent);
    stage.repeats = points / inside;
    stage.bytes.assign(kernel.tensors.size(), 0);
    const auto touch = [&](int tensor, const Index& at) {
      const auto i = static_cast<size_t>(tensor);
      stage.bytes[i] = std::max(stage.bytes[i], footprint(at, covered, kernel.tensors[i]));
    };
    for (const FlatRead& read : reads) touch(read.tensor, read.at);
    for (const Nest::Store& store : nest.stores) touch(store.tensor, store.at);
    stages.push_back(std::move(stage));
  }
  return stages;
}

Traffic::Traffic(const Kernel& kernel, const Schedule& schedule)
    : whole_(kernel.tensors.size(), 0) {
  std::vector<double> inside(kernel.tensors.size(), 0);
  for (size_t n = 0; n < kernel.nests.size(); ++n) {
    const Nest& nest = kernel.nests[n];
    if (nest.points() == 0) continue;
    nests_.push_back(stages_of(kernel, nest, schedule.nests[n]));
    std::vector<int64_t> covered = nest.extents;
    std::fill_n(covered.begin(), kernel.shared, 1);
    const auto touch = [&](int tensor, const Index& at) {
      const auto i = static_cast<size_t>(tensor);
      inside[i] = std::max(inside[i], footprint(at, covered, kernel.tensors[i]));
    };
    for (const FlatRead& read : reads_of(nest)) touch(read.tensor, read.at);
    for (const Nest::Store& store : nest.stores) touch(store.tensor, store.at);
    for (size_t i = 0; i < whole_.size(); ++i)
      whole_[i] = std::max(whole_[i], nests_.back().back().bytes[i]);
  }
  shared_set_ = std::accumulate(inside.begin(), inside.end(), 0.0);
  for (size_t i = 0; i < whole_.size(); ++i) {
    working_set_ += whole_[i];
    if (kernel.tensors[i].role == KernelTensor::Role::kLocal)
      whole_[i] = 0;
    else
      operands_ += whole_[i];
  }
}

double Traffic::beyond(double cache_bytes) const {
  if (working_set_ <= cache_bytes) return 0;
  // Nests that pass values to each other inside the cache share what they read.
  if (nests_.size() > 1 && shared_set_ <= cache_bytes) return operands_;
  double bytes = 0;
  for (const std::vector<Stage>& stages : nests_) {
    // The first stage that does not fit: what it touches comes anew each time it is repeated.
    const auto fits = [&](const Stage& stage) { return stage.total() <= cache_bytes; };
    const auto first = std::ranges::find_if_not(stages, fits);
    const Stage& stage = first == stages.end() ? stages.back() : *first;
    bytes += stage.total() * stage.repeats;
  }
  return bytes;
}

}  // namespace hone
