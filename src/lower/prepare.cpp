// Tiles of the vector axis, and operands packed in the order in which tiles read them.
#include <algorithm>

#include "lower/rewrite.h"
#include "lower/tile.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(int axis) { return AxisId{axis}; }

// Replaces reads of one tensor.
Scalar with_reads(const Scalar& scalar, int from, int to, const Index& at) {
  return Rewriter([&](const Scalar& part) -> Scalar {
    if (part->kind != ScalarNode::Kind::kRead || part->tensor != from) return {};
    return Scalar::read(part->type, to, {at});
  })(scalar);
}

bool mentions(const Scalar& scalar, const std::vector<int>& axes) {
  if (scalar->kind == ScalarNode::Kind::kRead && scalar->tensor == kAccumulator) return true;
  const auto found = [&](const Index& index) {
    return std::ranges::any_of(axes, [&](int axis) { return index.mentions(axis_id(axis)); });
  };
  return found(scalar->index) || std::ranges::any_of(scalar->indices, found) ||
         std::ranges::any_of(scalar->args, [&](const Scalar& arg) { return mentions(arg, axes); });
}

// Where the last bit of an operand can make a difference of one: quantization, comparisons.
bool magnifies_rounding(const Scalar& scalar) {
  if (scalar->kind != ScalarNode::Kind::kApply) return false;
  switch (scalar->fn) {
    case Fn::kRound:
    case Fn::kFloor:
    case Fn::kCeil:
    case Fn::kTrunc:
    case Fn::kMod:
    case Fn::kFmod:
    case Fn::kEq:
    case Fn::kLt:
    case Fn::kLe:
      return true;
    case Fn::kCast:
    case Fn::kCastWrap:
      return !is_float(scalar.type());
    default:
      return false;
  }
}

// x / s with the same s for all lanes: x * (1 / s), whose division is done once.
void multiply_by_reciprocals(PreparedNest& prepared) {
  if (prepared.tile_axis < 0) return;
  const std::vector<int> moving = {prepared.tile_axis, prepared.schedule.vector_axis};
  Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
    if (magnifies_rounding(scalar)) return scalar;
    if (scalar->kind != ScalarNode::Kind::kApply || scalar->fn != Fn::kDiv ||
        scalar.type() != ElementType::kF32 || scalar->args[1].is_literal() ||
        mentions(scalar->args[1], moving) || !mentions(scalar->args[0], moving))
      return {};
    return scalar->args[0] * (Scalar::literal(ElementType::kF32, 1) / scalar->args[1]);
  });
  for (Nest::Store& store : prepared.nest.stores) store.value = rewrite(store.value);
}

void split_vector_axis(PreparedNest& prepared) {
  NestSchedule& schedule = prepared.schedule;
  const Nest& nest = prepared.nest;
  const auto axis = static_cast<size_t>(schedule.vector_axis);
  prepared.vector_extent = nest.extents[axis];
  const int64_t tile = static_cast<int64_t>(schedule.lanes) * schedule.vectors;
  AxisChange change;
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    const int here = static_cast<int>(change.extents.size());
    if (i == axis) {
      change.old_axes.push_back(Index(axis_id(here)) * Dim(tile) + Index(axis_id(here + 1)));
      change.extents.push_back((nest.extents[i] + tile - 1) / tile);
      change.extents.push_back(std::min(tile, nest.extents[i]));
      change.outputs += 2;
      prepared.tile_axis = here;
    } else {
      change.old_axes.emplace_back(axis_id(here));
      change.extents.push_back(nest.extents[i]);
      if (i < nest.outputs) ++change.outputs;
    }
  }
  if (schedule.row_axis > schedule.vector_axis) ++schedule.row_axis;
  schedule.vector_axis = prepared.tile_axis + 1;
  prepared.nest = change_axes(nest, change);
}

struct Packing {
  std::vector<int> axes;  // outermost first
  std::vector<int64_t> extents;
  Index at;
  int64_t elements = 1;
};

// Order of a packed operand: outer axes, tile, reduction axes, element of the tile.
Packing packing_of(const PreparedNest& prepared, const Index& read, bool with_outer) {
  const Nest& nest = prepared.nest;
  Packing packing;
  const int vector = prepared.schedule.vector_axis;
  const auto add = [&](int axis) {
    if (!read.mentions(axis_id(axis))) return;
    packing.axes.push_back(axis);
    const int64_t whole = static_cast<int64_t>(prepared.schedule.lanes) * prepared.schedule.vectors;
    packing.extents.push_back(axis == vector ? whole : nest.extents[static_cast<size_t>(axis)]);
  };
  for (int axis = 0; axis < static_cast<int>(nest.outputs); ++axis)
    if (axis != vector && axis != prepared.tile_axis && with_outer) add(axis);
  if (prepared.tile_axis >= 0) add(prepared.tile_axis);
  for (int axis = static_cast<int>(nest.outputs); axis < static_cast<int>(nest.extents.size());
       ++axis)
    if (axis != vector) add(axis);
  add(vector);
  for (size_t i = packing.axes.size(); i-- > 0;) {
    packing.at = packing.at + Index(axis_id(packing.axes[i])) * Dim(packing.elements);
    packing.elements *= packing.extents[i];
  }
  return packing;
}

// Source element of each packed one; elements of the last tile beyond the axis are zero.
std::function<void(int64_t, std::span<int64_t>)> order_of(const PreparedNest& prepared,
                                                          const Packing& packing,
                                                          const Index& read) {
  const int64_t tile = static_cast<int64_t>(prepared.schedule.lanes) * prepared.schedule.vectors;
  std::vector<int64_t> strides;
  for (const int axis : packing.axes) {
    const Dim c = read.coefficient(axis_id(axis));
    strides.push_back(c.value());
  }
  const int64_t offset = read.offset().value();
  const int tile_axis = prepared.tile_axis;
  const int vector = prepared.schedule.vector_axis;
  const int64_t extent = prepared.vector_extent;
  return [=](int64_t first, std::span<int64_t> source) {
    std::vector<int64_t> at(packing.axes.size(), 0);
    for (size_t i = at.size(); i-- > 0; first /= packing.extents[i])
      at[i] = first % packing.extents[i];
    for (int64_t& element : source) {
      int64_t place = offset;
      int64_t n = 0;
      for (size_t i = 0; i < at.size(); ++i) {
        place += at[i] * strides[i];
        if (packing.axes[i] == tile_axis) n += at[i] * tile;
        if (packing.axes[i] == vector && tile_axis >= 0) n += at[i];
      }
      element = tile_axis >= 0 && n >= extent ? -1 : place;
      for (size_t i = at.size(); i-- > 0;) {
        if (++at[i] < packing.extents[i]) break;
        at[i] = 0;
      }
    }
  };
}

}  // namespace

PreparedNest prepare(Kernel& kernel, size_t number, const NestSchedule& schedule,
                     std::vector<PackedConstant>& packed) {
  PreparedNest prepared;
  prepared.nest = kernel.nests[number];
  prepared.schedule = schedule;
  const auto vector = static_cast<size_t>(schedule.vector_axis);
  if (schedule.vector_axis >= 0 && vector < prepared.nest.outputs) split_vector_axis(prepared);
  for (const int tensor : schedule.pack) {
    const std::vector<FlatRead> reads = reads_of(prepared.nest);
    const auto read = std::ranges::find(reads, tensor, &FlatRead::tensor);
    HONE_CHECK(read != reads.end() && is_linear(read->at), "a packed operand is read linearly");
    KernelTensor& source = kernel.tensors[static_cast<size_t>(tensor)];
    const bool constant = source.role == KernelTensor::Role::kConstant;
    const Packing packing = packing_of(prepared, read->at, constant);
    int target = tensor;
    if (constant) {
      packed.push_back({tensor, packing.elements, order_of(prepared, packing, read->at)});
      source.elements = packing.elements;
    } else {
      target = static_cast<int>(kernel.tensors.size());
      PackCopy copy;
      copy.local = target;
      copy.read = Scalar::read(source.type, tensor, {read->at});
      copy.to = packing.at;
      copy.axes = packing.axes;
      prepared.copies.push_back(std::move(copy));
      const std::string name = source.name + "_packed";
      const ElementType type = source.type;
      kernel.tensors.push_back({KernelTensor::Role::kLocal, type, packing.elements, name});
    }
    prepared.nest.body = with_reads(prepared.nest.body, tensor, target, packing.at);
    if (constant && schedule.prefetch && prepared.tile_axis >= 0)
      prepared.prefetches.push_back(
          {tensor, packing.at, packing.at.coefficient(axis_id(prepared.tile_axis)).value()});
  }
  if (schedule.prefetch && !prepared.nest.reduces() && kernel.shared > 0)
    for (const FlatRead& read : reads_of(prepared.nest))
      if (kernel.tensors[static_cast<size_t>(read.tensor)].role == KernelTensor::Role::kIn &&
          is_linear(read.at) && stride_of(read.at, kernel.shared - 1) > 0)
        prepared.prefetches.push_back(
            {read.tensor, read.at, stride_of(read.at, kernel.shared - 1)});
  multiply_by_reciprocals(prepared);
  return prepared;
}

}  // namespace hone
