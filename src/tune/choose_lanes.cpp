// The axis of a nest that becomes the lanes of vectors: the one with the cheapest accesses.
#include <algorithm>

#include "lower/combine.h"
#include "tune/nest_chooser.h"

namespace hone {

int NestChooser::widest() const {
  int bytes = 4;
  for (const KernelTensor& tensor : kernel_.tensors)
    bytes = std::max(bytes, static_cast<int>(size_of(register_type(tensor.type))));
  if (nest_.reduces())
    bytes = std::max(bytes, static_cast<int>(size_of(register_type(nest_.body.type()))));
  return std::max(1, cpu_.vector_bytes / bytes);
}

Values::Lanes NestChooser::lanes_of(const Index& index, size_t axis, int lanes) const {
  Place place;
  place.lane_axis = static_cast<int>(axis);
  place.lanes = lanes;
  place.lanes_aligned = nest_.extents[axis] % lanes == 0 || nest_.extents[axis] > lanes;
  return Values::lanes_of(index, place);
}

bool NestChooser::is_constant(int tensor) const {
  return kernel_.tensors[static_cast<size_t>(tensor)].role == KernelTensor::Role::kConstant;
}

double NestChooser::read_cost(const FlatRead& read, size_t axis, int lanes) const {
  const Values::Lanes kind = lanes_of(read.at, axis, lanes);
  switch (kind.kind) {
    case Values::Lanes::Kind::kUniform:
      return 0.5;
    case Values::Lanes::Kind::kStrided:
      if (kind.stride == 1) return 1;
      if (packable(read)) return 1;
      return transposed_axis(read, axis) >= 0 ? 3 : lanes;
    case Values::Lanes::Kind::kShuffled:
      return 1.5;
    case Values::Lanes::Kind::kGathered:
      return 2.0 * lanes;
  }
  return lanes;
}

int NestChooser::transposed_axis(const FlatRead& read, size_t lanes_axis) const {
  if (nest_.reduces() || read.guarded || !is_linear(read.at) || !alone_) return -1;
  if (stride_of(read.at, lanes_axis) <= 1 || nest_.extents[lanes_axis] < lanes_) return -1;
  for (size_t axis = shared_; axis < nest_.outputs; ++axis)
    if (axis != lanes_axis && stride_of(read.at, axis) == 1 && nest_.extents[axis] >= lanes_)
      return static_cast<int>(axis);
  return -1;
}

bool NestChooser::packable(const FlatRead& read) const {
  return nest_.reduces() && read.in_body && is_linear(read.at) && !read.guarded &&
         is_constant(read.tensor) && single_read(read.tensor);
}

bool NestChooser::single_read(int tensor) const {
  int count = 0;
  for (const Nest& nest : kernel_.nests)
    for (const FlatRead& read : reads_of(nest)) count += read.tensor == tensor ? 1 : 0;
  return count == 1;
}

void NestChooser::pick_vector_axis(NestSchedule& schedule) {
  const std::vector<FlatRead> reads = reads_of(nest_);
  const double points = static_cast<double>(nest_.points());
  double results = 1;
  for (size_t i = 0; i < nest_.outputs; ++i) results *= static_cast<double>(nest_.extents[i]);
  double best = 0;
  for (const FlatRead& read : reads) best += read.in_body ? points : results;
  best += results * static_cast<double>(nest_.stores.size()) + points * 0.5;
  for (size_t axis = shared_; axis < nest_.extents.size(); ++axis) {
    const int64_t extent = nest_.extents[axis];
    const bool folds = axis >= nest_.outputs;
    if (folds && axis + 1 != nest_.extents.size()) continue;
    const int lanes = static_cast<int>(std::min<int64_t>(lanes_, extent));
    if (lanes < 2) continue;
    const double vectors = static_cast<double>((extent + lanes - 1) / lanes);
    const double used = static_cast<double>(extent) / vectors;  // lanes per vector
    double cost = points / used * 0.5;
    bool possible = true;
    for (const FlatRead& read : reads)
      if (read.in_body || !folds)
        cost += read_cost(read, axis, lanes) * (read.in_body ? points : results) / used;
      else
        cost += results;
    for (const Nest::Store& store : nest_.stores) {
      if (folds) {
        cost += results * 8;
        continue;
      }
      const Values::Lanes kind = lanes_of(store.at, axis, lanes);
      if (kind.kind != Values::Lanes::Kind::kStrided) possible = false;
      cost += (kind.stride == 1 ? 1.0 : lanes * 1.5) * results / used;
    }
    if (!possible || cost >= best) continue;
    best = cost;
    schedule.vector_axis = static_cast<int>(axis);
    schedule.lanes = lanes;
  }
}

}  // namespace hone
