// The body of a stage as straight-line code over the points of its iteration space: every value
// is computed from earlier ones and from linear functions of the axes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expr/vm/index_range.h"
#include "expr/vm/kernels.h"

namespace hone::vm {

// Axes of a stage, as slots: output axes, reduction axes, then the steps of enclosing scans,
// innermost first. A slot of extent 1 is always 0. Slots of steps are not looped over here.
struct Space {
  std::vector<int64_t> extents;
  int outputs = 0;
  int reductions = 0;
  [[nodiscard]] int loops() const { return outputs + reductions; }
  [[nodiscard]] bool is_output(int slot) const { return slot < outputs; }
  [[nodiscard]] bool is_reduction(int slot) const { return slot >= outputs && slot < loops(); }
};

// offset + sum of coefficient * slot + sum of coefficient * value, both sorted, none zero.
struct Linear {
  int64_t offset = 0;
  std::vector<std::pair<int, int64_t>> slots;
  std::vector<std::pair<int, int64_t>> values;

  [[nodiscard]] int64_t coefficient(int slot) const;
  [[nodiscard]] bool is_const() const { return slots.empty() && values.empty(); }
  void add(const Linear& other, int64_t factor = 1);  // a Failure on overflow
  friend bool operator==(const Linear&, const Linear&) = default;
};
[[nodiscard]] Linear linear_of_slot(int slot, int64_t coefficient = 1);
[[nodiscard]] Linear linear_of_value(int value);

// An index that must stay in [0, extent) for a read to be inside its tensor.
struct Check {
  Linear index;
  int64_t extent;
  friend bool operator==(const Check&, const Check&) = default;
};

struct Value {
  enum class Op : uint8_t {
    kConstant,     // constant
    kLinear,       // linear, as i64
    kFloorDivide,  // floor(linear / divisor), as i64
    kRead,         // memory[tensor][linear], or args[0] where a check fails
    kApply,        // kernel(args)
  } op = Op::kConstant;
  ElementType type = ElementType::kI64;  // a compute type
  std::array<std::byte, 8> constant{};
  Linear linear;
  int64_t divisor = 1;
  int tensor = -1;
  std::vector<Check> checks;  // kRead: the indices not proven to stay inside
  bool may_miss = false;      // kRead: a failed check is no error
  KernelSet kernel;
  int tag = 0;
  std::vector<int> args;
  bool is_select = false;
  std::string name;  // for listings

  friend bool operator==(const Value& a, const Value& b);
};

struct Code {
  Space space;
  std::vector<Value> values;  // in order of definition
  std::vector<int> roots;
  uint64_t seed = 0;

  // Slots that a value depends on, one bit each.
  [[nodiscard]] std::vector<uint64_t> dependences() const;
  // Only what the roots need.
  [[nodiscard]] Code restricted_to(std::vector<int> new_roots) const;
};

// Every linear function in the code and in `more`, for rewriting axes.
template <typename F>
void for_each_linear(Code& code, F&& f) {
  for (Value& value : code.values) {
    f(value.linear);
    for (Check& check : value.checks) f(check.index);
  }
}

// Joins axes that all accesses traverse as one: i*N + j with j < N. The joined axis is the inner
// one; the outer one gets extent 1. `address` is where results are stored.
void merge_axes(Code& code, Linear& address);

[[nodiscard]] std::string to_string(const Linear& linear);
[[nodiscard]] std::string to_string(const Value& value, int id);

}  // namespace hone::vm
