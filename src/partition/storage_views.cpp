// Copies that need not run: their source or their result becomes a view of the other.
#include <algorithm>
#include <set>

#include "partition/storage_chooser.h"

namespace hone {

bool StorageChooser::is_own(int id) { return view(id).root == id && !view(id).around; }

bool StorageChooser::produced_by_copy(int id) {
  for (size_t i = 0; i < program_.ops.size(); ++i)
    if (is_copy(program_.ops[i]) && program_.ops[i].writes[0].tensor == id) return true;
  return false;
}

std::optional<StorageChooser::Linear> StorageChooser::linear(const Op& op, const View& of,
                                                             const std::vector<Index>& at) {
  IndexFacts facts({op.extents.begin(), op.extents.end()}, {});
  Index flat = of.offset;
  for (size_t d = 0; d < at.size(); ++d) flat = flat + at[d] * Dim(of.strides[d]);
  flat = facts.simplify(flat);
  if (!flat.is_affine() || !flat.offset().is_const()) return std::nullopt;
  Linear result;
  result.offset = flat.offset().value();
  for (size_t axis = 0; axis < op.outputs; ++axis) {
    const Dim c = flat.coefficient(axis_id(axis));
    if (!c.is_const()) return std::nullopt;
    result.strides.push_back(c.value());
  }
  return result;
}

std::optional<View> StorageChooser::as_view(const Op& op, int id, const std::vector<Index>& at,
                                            const Linear& place, int root) {
  View result;
  result.root = root;
  result.offset = place.offset;
  const ProgramTensor& info = tensor(id);
  std::set<int> used;
  for (size_t d = 0; d < at.size(); ++d) {
    int64_t stride = 0;
    if (info.dims[d] != 1) {
      const AxisId* axis = at[d].as_axis();
      if (axis == nullptr || axis->value < 0 || !used.insert(axis->value).second ||
          op.extents[static_cast<size_t>(axis->value)] != info.dims[d])
        return std::nullopt;
      stride = place.strides[static_cast<size_t>(axis->value)];
    }
    result.strides.push_back(stride);
  }
  for (size_t axis = 0; axis < op.outputs; ++axis)
    if (op.extents[axis] > 1 && !used.contains(static_cast<int>(axis))) return std::nullopt;
  result.before.assign(at.size(), 0);
  result.after.assign(at.size(), 0);
  return result;
}

void StorageChooser::write_in_place(size_t i) {
  const Op& op = program_.ops[i];
  if (!is_copy(op)) return;
  const ScalarNode& read = *op.writes[0].value;
  const int from = read.tensor;
  const int to = op.writes[0].tensor;
  if (tensor(from).type != tensor(to).type) return;
  if (fixed_.contains(from) || !is_own(from) || produced_by_copy(from)) return;
  // Updates of the copy must not reach its source.
  for (const Op& other : program_.ops)
    if (other.serial && std::ranges::count(written_by(other), to) > 0) return;
  if (forward(op)) return;
  const auto place = linear(op, view(to), op.writes[0].at);
  if (!place) return;
  const auto moved = as_view(op, from, read.indices, *place, view(to).root);
  if (!moved) return;
  // What was innermost stays so, or vectors of the producer would be torn apart.
  for (size_t d = 0; d < moved->strides.size(); ++d)
    if (tensor(from).dims[d] > 1 && view(from).strides[d] == 1 && moved->strides[d] != 1 &&
        tensor(from).count() > 4096)
      return;
  view(from) = *moved;
  removed_[i] = true;
}

std::optional<View> StorageChooser::forward(const Op& op) {
  const ScalarNode& read = *op.writes[0].value;
  const int to = op.writes[0].tensor;
  if (fixed_.contains(to) || !is_own(to) || tensor(read.tensor).type != tensor(to).type)
    return std::nullopt;
  if (writers(to) != 1) return std::nullopt;
  const auto place = linear(op, view(read.tensor), read.indices);
  if (!place) return std::nullopt;
  return as_view(op, to, op.writes[0].at, *place, view(read.tensor).root);
}

int StorageChooser::writers(int id) {
  int count = 0;
  for (const Op& op : program_.ops)
    for (const int written : written_by(op)) count += written == id ? 1 : 0;
  return count;
}

void StorageChooser::read_in_place(size_t i) {
  if (removed_[i] || !is_copy(program_.ops[i])) return;
  const auto seen = forward(program_.ops[i]);
  if (!seen) return;
  view(program_.ops[i].writes[0].tensor) = *seen;
  removed_[i] = true;
}

}  // namespace hone
