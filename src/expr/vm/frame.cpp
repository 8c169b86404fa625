#include "expr/vm/frame.h"

#include <algorithm>
#include <cstring>

#include "support/error.h"

namespace hone::vm {

Frame::Frame(const Schedule& schedule, const Memory& memory, const std::vector<int64_t>& positions)
    : schedule_(schedule),
      memory_(memory),
      positions_(positions),
      storage_(std::make_unique_for_overwrite<std::byte[]>(schedule.register_bytes + 64)) {
  const auto address = reinterpret_cast<uintptr_t>(storage_.get());
  registers_ = storage_.get() + (64 - address % 64) % 64;
  single_.resize(schedule.code.values.size());
  array_.resize(schedule.code.values.size());
  for (size_t v = 0; v < single_.size(); ++v) {
    if (schedule.single_at[v] != Schedule::kNone) single_[v] = registers_ + schedule.single_at[v];
    if (schedule.array_at[v] != Schedule::kNone) array_[v] = registers_ + schedule.array_at[v];
  }
}

void Frame::resize() {
  const auto size_now = [&](int slot, int64_t most) {
    if (slot < 0) return int64_t{1};
    return std::min(most, schedule_.code.space.extents[index(slot)] - positions_[index(slot)]);
  };
  rows_ = size_now(schedule_.tile.row, schedule_.tile.rows);
  cols_ = size_now(schedule_.tile.col, schedule_.tile.cols);
}

void Frame::run(int level) {
  resize();
  for (size_t i = schedule_.level_begin[index(level)]; i < schedule_.instructions.size(); ++i)
    execute(schedule_.instructions[i]);
}

void Frame::execute(const Instruction& instruction) {
  const int id = instruction.value;
  const Value& value = schedule_.code.values[index(id)];
  switch (instruction.form) {
    case Instruction::Form::kSingle:
      return single(value, registers_ + schedule_.single_at[index(id)]);
    case Instruction::Form::kBroadcast:
      return fill(size_of(value.type), registers_ + schedule_.array_at[index(id)],
                  single_[index(id)], schedule_.tile.capacity());
    case Instruction::Form::kLinear: {
      auto* out = reinterpret_cast<int64_t*>(registers_ + schedule_.array_at[index(id)]);
      linear(value.linear, out);
      if (value.op == Value::Op::kFloorDivide)
        for (int64_t i = 0; i < rows_ * cols_; ++i) out[i] = hone::floor_div(out[i], value.divisor);
      return;
    }
    case Instruction::Form::kLoad:
      return load(value, id);
    case Instruction::Form::kGather:
      return gather(value, id);
    case Instruction::Form::kApply:
      return apply(value, id);
    case Instruction::Form::kChoose: {
      const bool condition = *single_[index(value.args[0])] != std::byte{0};
      array_[index(id)] = array_[index(value.args[condition ? 1 : 2])];
      return;
    }
  }
}

// Sums wrap: values read from data may be anything, and checks come after.
int64_t Frame::evaluate(const Linear& linear) const {
  auto sum = static_cast<uint64_t>(linear.offset);
  for (const auto& [slot, c] : linear.slots)
    sum += static_cast<uint64_t>(c) * static_cast<uint64_t>(positions_[index(slot)]);
  for (const auto& [value, c] : linear.values) {
    if (schedule_.is_vector[index(value)]) continue;
    uint64_t term = 0;
    std::memcpy(&term, single_[index(value)], sizeof(term));
    sum += static_cast<uint64_t>(c) * term;
  }
  return static_cast<int64_t>(sum);
}

View Frame::view_of(const Linear& linear) const {
  const Tile& tile = schedule_.tile;
  return {tile.row < 0 ? 0 : linear.coefficient(tile.row),
          tile.col < 0 ? 0 : linear.coefficient(tile.col)};
}

void Frame::single(const Value& value, std::byte* out) {
  const size_t size = size_of(value.type);
  switch (value.op) {
    case Value::Op::kConstant:
      std::memcpy(out, value.constant.data(), size);
      return;
    case Value::Op::kLinear:
    case Value::Op::kFloorDivide: {
      const int64_t result = hone::floor_div(evaluate(value.linear), value.divisor);
      std::memcpy(out, &result, sizeof(result));
      return;
    }
    case Value::Op::kRead:
      if (inside(value)) {
        const auto at = static_cast<size_t>(evaluate(value.linear));
        std::memcpy(out, memory_.read[index(value.tensor)] + at * size, size);
      } else {
        if (!value.may_miss) miss(value);
        std::memcpy(out, single_[index(value.args[0])], size);
      }
      return;
    case Value::Op::kApply:
      break;
  }
  KernelArgs args{out, {}, 1, schedule_.code.seed, value.tag};
  for (size_t i = 0; i < value.args.size(); ++i) args.in[i] = single_[index(value.args[i])];
  value.kernel.arrays(args);
}

bool Frame::inside(const Value& value) const {
  return std::all_of(value.checks.begin(), value.checks.end(), [&](const Check& check) {
    const int64_t at = evaluate(check.index);
    return at >= 0 && at < check.extent;
  });
}

// out = base + row_stride * r + col_stride * c + vectors
void Frame::linear(const Linear& linear, int64_t* out) {
  const auto base = static_cast<uint64_t>(evaluate(linear));
  const View view = view_of(linear);
  const auto row_stride = static_cast<uint64_t>(view.row_stride);
  const auto col_stride = static_cast<uint64_t>(view.col_stride);
  for (int64_t r = 0; r < rows_; ++r) {
    const uint64_t row = base + row_stride * static_cast<uint64_t>(r);
    for (int64_t c = 0; c < cols_; ++c)
      out[r * cols_ + c] = static_cast<int64_t>(row + col_stride * static_cast<uint64_t>(c));
  }
  for (const auto& [value, c] : linear.values) {
    if (!schedule_.is_vector[index(value)]) continue;
    const auto* term = reinterpret_cast<const int64_t*>(array_[index(value)]);
    for (int64_t i = 0; i < rows_ * cols_; ++i)
      out[i] = static_cast<int64_t>(static_cast<uint64_t>(out[i]) +
                                    static_cast<uint64_t>(c) * static_cast<uint64_t>(term[i]));
  }
}

std::byte* Frame::output_of(int id) {
  std::byte* out = registers_ + schedule_.array_at[index(id)];
  if (target_ && schedule_.code.roots[0] == id) out = target_;
  array_[index(id)] = out;
  return out;
}

// Those i in [0, count) with 0 <= base + stride * i < extent.
static std::pair<int64_t, int64_t> positions_inside(int64_t base, int64_t stride, int64_t extent,
                                                    int64_t count) {
  if (stride == 0)
    return base >= 0 && base < extent ? std::pair{int64_t{0}, count}
                                      : std::pair{int64_t{0}, int64_t{0}};
  if (stride < 0) return positions_inside(extent - 1 - base, -stride, extent, count);
  const int64_t begin = base >= 0 ? 0 : -hone::floor_div(base, stride);
  const int64_t end = -hone::floor_div(base - extent, stride);
  return {std::clamp<int64_t>(begin, 0, count), std::clamp<int64_t>(end, 0, count)};
}

TilePart Frame::part_inside(const Value& value) const {
  TilePart part{0, rows_, 0, cols_};
  for (const Check& check : value.checks) {
    // Far outside is outside; so the arithmetic here cannot overflow.
    constexpr int64_t kFar = int64_t{1} << 61;
    const int64_t base = std::clamp(evaluate(check.index), -kFar, kFar);
    const View view = view_of(check.index);
    const bool along_rows = view.row_stride != 0;
    const auto [begin, end] = positions_inside(base, along_rows ? view.row_stride : view.col_stride,
                                               check.extent, along_rows ? rows_ : cols_);
    int64_t& part_begin = along_rows ? part.row_begin : part.col_begin;
    int64_t& part_end = along_rows ? part.row_end : part.col_end;
    part_begin = std::max(part_begin, begin);
    part_end = std::min(part_end, end);
  }
  return part;
}

void Frame::load(const Value& value, int id) {
  const size_t size = size_of(value.type);
  const View view = view_of(value.linear);
  const TilePart part = part_inside(value);
  const bool all = part.all(rows_, cols_);
  if (!all && !value.may_miss) miss(value);
  const std::byte* from = memory_.read[index(value.tensor)];
  const auto address_of = [&](int64_t r, int64_t c) {
    const auto at = static_cast<uint64_t>(evaluate(value.linear)) +
                    static_cast<uint64_t>(view.row_stride) * static_cast<uint64_t>(r) +
                    static_cast<uint64_t>(view.col_stride) * static_cast<uint64_t>(c);
    return from + at * size;
  };
  const bool dense =
      (cols_ == 1 || view.col_stride == 1) && (rows_ == 1 || view.row_stride == cols_);
  const bool is_target = target_ && schedule_.code.roots[0] == id;
  if (all && dense && !is_target) {
    array_[index(id)] = address_of(0, 0);
    return;
  }
  std::byte* out = output_of(id);
  if (!all) {
    const int outside = value.args[0];
    if (schedule_.is_vector[index(outside)])
      std::memcpy(out, array_[index(outside)], static_cast<size_t>(rows_ * cols_) * size);
    else
      fill_outside(size, out, single_[index(outside)], part, rows_, cols_);
  }
  if (part.empty()) return;
  copy_tile(size, out + static_cast<size_t>(part.row_begin * cols_ + part.col_begin) * size,
            {cols_, 1}, address_of(part.row_begin, part.col_begin), view,
            part.row_end - part.row_begin, part.col_end - part.col_begin);
}

void Frame::gather(const Value& value, int id) {
  const int64_t count = rows_ * cols_;
  const size_t size = size_of(value.type);
  offsets_.resize(static_cast<size_t>(schedule_.tile.capacity()));
  scratch_.resize(offsets_.size());
  linear(value.linear, offsets_.data());
  bool missed = false;
  for (const Check& check : value.checks) {
    linear(check.index, scratch_.data());
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const bool in = static_cast<uint64_t>(scratch_[i]) < static_cast<uint64_t>(check.extent);
      missed |= !in;
      if (!in) offsets_[i] = -1;
    }
  }
  std::byte* out = output_of(id);
  if (missed) {
    if (!value.may_miss) miss(value);
    const int outside = value.args[0];
    if (schedule_.is_vector[index(outside)])
      std::memcpy(out, array_[index(outside)], static_cast<size_t>(count) * size);
    else
      fill(size, out, single_[index(outside)], count);
  }
  vm::gather(size, out, memory_.read[index(value.tensor)], offsets_.data(), count);
}

void Frame::apply(const Value& value, int id) {
  KernelArgs args{output_of(id), {}, rows_ * cols_, schedule_.code.seed, value.tag};
  const auto arg = [&](size_t i) {
    const size_t at = index(value.args[i]);
    return array_[at] ? array_[at] : single_[at];
  };
  for (size_t i = 0; i < value.args.size(); ++i) args.in[i] = arg(i);
  Kernel kernel = value.kernel.arrays;
  if (value.args.size() == 2 && !schedule_.is_vector[index(value.args[0])] &&
      value.kernel.first_single)
    kernel = value.kernel.first_single;
  else if (value.args.size() == 2 && !schedule_.is_vector[index(value.args[1])] &&
           value.kernel.second_single)
    kernel = value.kernel.second_single;
  kernel(args);
}

void Frame::miss(const Value& value) const {
  throw_invalid("an index into '" + value.name + "' lies outside of it",
                "indices must be in range, counted from 0 or, where the operator allows, from "
                "the end");
}

}  // namespace hone::vm
