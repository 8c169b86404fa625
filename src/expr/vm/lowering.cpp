#include "expr/vm/lowering.h"

#include <algorithm>
#include <cstring>

#include "expr/vm/scalar_lowering.h"
#include "support/error.h"

namespace hone::vm {
namespace {

using Images = std::vector<Linear>;

// An axis as slots: itself, or outer * divisor + inner.
struct AxisSlots {
  int64_t extent;
  int64_t divisor = 0;  // 0: one slot
};

std::vector<AxisSlots> whole_axes(const Nest& nest) {
  std::vector<AxisSlots> axes;
  for (const auto* extents : {&nest.outputs, &nest.reductions})
    for (const int64_t extent : *extents) axes.push_back({extent});
  return axes;
}

Images place_axes(const Environment& environment, const Nest& nest,
                  const std::vector<AxisSlots>& axes, Space& space) {
  Images images;
  for (size_t a = 0; a < axes.size(); ++a) {
    const int slot = static_cast<int>(space.extents.size());
    const auto [extent, divisor] = axes[a];
    if (divisor == 0) {
      space.extents.push_back(extent);
      images.push_back(linear_of_slot(slot));
    } else {
      space.extents.insert(space.extents.end(), {extent / divisor, divisor});
      images.push_back(linear_of_slot(slot, divisor));
      images.back().add(linear_of_slot(slot + 1));
    }
    if (a < nest.begins.size()) images.back().offset = nest.begins[a];
    (a < nest.outputs.size() ? space.outputs : space.reductions) += divisor == 0 ? 1 : 2;
  }
  for (const int64_t extent : environment.step_extents) {
    images.push_back(linear_of_slot(static_cast<int>(space.extents.size())));
    space.extents.push_back(extent);
  }
  if (space.extents.size() > 64) throw_unsupported("a stage with more than 64 axes");
  return images;
}

// floor(i / D) of an axis that D divides is linear once i is split in two. (Index of the axis,
// divisor.)
std::optional<std::pair<size_t, int64_t>> find_split(const Code& code,
                                                     const std::vector<AxisSlots>& axes) {
  for (const Value& value : code.values) {
    if (value.op != Value::Op::kFloorDivide || !value.linear.values.empty() ||
        value.linear.slots.size() != 1 || value.linear.slots[0].second != 1 ||
        value.linear.offset != 0)
      continue;
    int slot = value.linear.slots[0].first;
    for (size_t a = 0; a < axes.size(); slot -= axes[a].divisor == 0 ? 1 : 2, ++a)
      if (slot == 0 && axes[a].divisor == 0 && axes[a].extent % value.divisor == 0)
        return std::pair(a, value.divisor);
  }
  return std::nullopt;
}

LoweredNest lower_with(const Environment& environment, const Nest& nest,
                       const std::vector<AxisSlots>& axes) {
  LoweredNest result;
  result.code.seed = environment.seed;
  const Images images = place_axes(environment, nest, axes, result.code.space);
  for (size_t d = 0; d < nest.result_strides.size(); ++d)
    result.address.add(images[d], nest.result_strides[d]);
  lower_roots(environment, nest, images, result.code);
  return result;
}

}  // namespace

LoweredNest lower_nest(const Environment& environment, const Nest& nest) {
  std::vector<AxisSlots> axes = whole_axes(nest);
  LoweredNest result = lower_with(environment, nest, axes);
  while (nest.may_split) {
    const auto split = find_split(result.code, axes);
    if (!split) break;
    axes[split->first].divisor = split->second;
    result = lower_with(environment, nest, axes);
  }
  result.code = result.code.restricted_to(result.code.roots);
  return result;
}

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& dims) {
  // Of an empty tensor nothing is addressed, and products of its dimensions may overflow.
  if (std::find(dims.begin(), dims.end(), 0) != dims.end())
    return std::vector<int64_t>(dims.size(), 0);
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  return strides;
}

int Environment::memory_of(TableId table, ElementType type) const {
  const auto first = static_cast<int>(expr.tensors.size());
  for (size_t i = 0; i < table_images.size(); ++i)
    if (table_images[i].table == table && table_images[i].type == type)
      return first + static_cast<int>(i);
  const Table& entries = expr.tables[static_cast<size_t>(table.value)];
  TableImage image{table, type, {}};
  const size_t size = size_of(type),
               count = std::max(entries.literals.size(), entries.indices.size());
  image.storage.resize((count * size + 7) / 8 + 1);
  for (size_t i = 0; i < count; ++i) {
    const Literal entry =
        entries.literals.empty() ? Literal(entries.indices[i]) : entries.literals[i];
    std::memcpy(reinterpret_cast<std::byte*>(image.storage.data()) + i * size,
                constant_of(entry, type, seed).data(), size);
  }
  table_images.push_back(std::move(image));
  return first + static_cast<int>(table_images.size()) - 1;
}

std::vector<Interval> Environment::step_ranges() const {
  std::vector<Interval> ranges;
  for (const int64_t extent : step_extents) ranges.push_back({0, std::max<int64_t>(extent - 1, 0)});
  return ranges;
}

std::vector<Interval> Nest::axis_ranges() const {
  std::vector<Interval> ranges;
  for (size_t a = 0; a < outputs.size(); ++a) {
    const int64_t begin = a < begins.size() ? begins[a] : 0;
    ranges.push_back({begin, begin + std::max<int64_t>(outputs[a] - 1, 0)});
  }
  for (const int64_t extent : reductions) ranges.push_back({0, std::max<int64_t>(extent - 1, 0)});
  return ranges;
}

}  // namespace hone::vm
