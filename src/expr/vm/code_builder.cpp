#include <algorithm>

#include "expr/vm/index_lowering.h"
#include "support/hash.h"

namespace hone::vm {
namespace {

uint64_t hash_of(const Linear& linear, uint64_t h) {
  h = combine_hash(h, static_cast<uint64_t>(linear.offset));
  for (const auto* terms : {&linear.slots, &linear.values})
    for (const auto& [key, c] : *terms)
      h = combine_hash(combine_hash(h, static_cast<uint64_t>(key)), static_cast<uint64_t>(c));
  return h;
}

uint64_t hash_of(const Value& value) {
  uint64_t h = combine_hash(static_cast<uint64_t>(value.op), static_cast<uint64_t>(value.type));
  h = hash_bytes(value.constant, hash_of(value.linear, h));
  h = combine_hash(combine_hash(h, static_cast<uint64_t>(value.divisor)),
                   static_cast<uint64_t>(value.tensor));
  for (const int arg : value.args) h = combine_hash(h, static_cast<uint64_t>(arg));
  return hash_text(value.name, h);
}

std::optional<Interval> scaled(Interval range, int64_t factor) {
  Interval result{};
  if (__builtin_mul_overflow(range.low, factor, &result.low) ||
      __builtin_mul_overflow(range.high, factor, &result.high))
    return std::nullopt;
  if (factor < 0) std::swap(result.low, result.high);
  return result;
}

bool add_to(Interval& sum, const std::optional<Interval>& part) {
  return part && !__builtin_add_overflow(sum.low, part->low, &sum.low) &&
         !__builtin_add_overflow(sum.high, part->high, &sum.high);
}

// linear = step * multiple + rest, term by term.
std::pair<Linear, Linear> split_multiples(const Linear& linear, int64_t step) {
  Linear multiple, rest;
  multiple.offset = hone::floor_div(linear.offset, step);
  rest.offset = hone::floor_mod(linear.offset, step);
  for (const auto& [slot, c] : linear.slots)
    if (c % step == 0)
      multiple.slots.push_back({slot, c / step});
    else
      rest.slots.push_back({slot, c});
  for (const auto& [value, c] : linear.values)
    if (c % step == 0)
      multiple.values.push_back({value, c / step});
    else
      rest.values.push_back({value, c});
  return {multiple, rest};
}

}  // namespace

int CodeBuilder::add(Value value, std::optional<Interval> range) {
  const uint64_t h = hash_of(value);
  const auto [begin, end] = by_hash_.equal_range(h);
  for (auto at = begin; at != end; ++at)
    if (code_.values[static_cast<size_t>(at->second)] == value) return at->second;
  const int id = static_cast<int>(code_.values.size());
  code_.values.push_back(std::move(value));
  ranges_.push_back(range);
  by_hash_.emplace(h, id);
  return id;
}

int CodeBuilder::constant(ElementType type, std::array<std::byte, 8> bytes, std::string name) {
  Value value;
  value.type = type;
  value.constant = bytes;
  value.name = std::move(name);
  return add(std::move(value));
}

int CodeBuilder::as_value(const Linear& linear) {
  if (linear.offset == 0 && linear.slots.empty() && linear.values.size() == 1 &&
      linear.values[0].second == 1)
    return linear.values[0].first;
  Value value;
  value.op = Value::Op::kLinear;
  value.linear = linear;
  return add(std::move(value), range_of(linear));
}

std::optional<Interval> CodeBuilder::range_of(const Linear& linear) const {
  Interval sum{linear.offset, linear.offset};
  for (const auto& [slot, c] : linear.slots) {
    const int64_t extent = code_.space.extents[static_cast<size_t>(slot)];
    if (!add_to(sum, scaled({0, std::max<int64_t>(extent - 1, 0)}, c))) return std::nullopt;
  }
  for (const auto& [value, c] : linear.values) {
    const auto& range = ranges_[static_cast<size_t>(value)];
    if (!range || !add_to(sum, scaled(*range, c))) return std::nullopt;
  }
  return sum;
}

// floor((D q + r) / D) = q + floor(r / D)
Linear CodeBuilder::floor_divide(const Linear& linear, int64_t divisor) {
  if (divisor == 1) return linear;
  auto [quotient, rest] = split_multiples(linear, divisor);
  quotient.add(divide_rest(rest, divisor));
  return quotient;
}

Linear CodeBuilder::divide_rest(const Linear& rest, int64_t divisor) {
  const auto range = range_of(rest);
  if (range && hone::floor_div(range->low, divisor) == hone::floor_div(range->high, divisor)) {
    Linear constant;
    constant.offset = hone::floor_div(range->low, divisor);
    return constant;
  }
  // floor((g m + r) / (g d)) = floor(m / d) when 0 <= r < g
  for (const auto& [slot, c] : rest.slots) {
    const int64_t g = c < 0 ? -c : c;
    if (g <= 1 || divisor % g != 0) continue;
    const auto [multiple, remainder] = split_multiples(rest, g);
    const auto remainder_range = range_of(remainder);
    if (remainder_range && remainder_range->low >= 0 && remainder_range->high < g)
      return floor_divide(multiple, divisor / g);
  }
  // floor(floor(e / d) / D) = floor(e / (d D))
  if (rest.offset == 0 && rest.slots.empty() && rest.values.size() == 1 &&
      rest.values[0].second == 1) {
    const Value inner = (*this)[rest.values[0].first];
    int64_t product = 0;
    if (inner.op == Value::Op::kFloorDivide &&
        !__builtin_mul_overflow(inner.divisor, divisor, &product))
      return floor_divide(inner.linear, product);
  }
  Value value;
  value.op = Value::Op::kFloorDivide;
  value.linear = rest;
  value.divisor = divisor;
  std::optional<Interval> quotient_range;
  if (range)
    quotient_range =
        Interval{hone::floor_div(range->low, divisor), hone::floor_div(range->high, divisor)};
  return linear_of_value(add(std::move(value), quotient_range));
}

}  // namespace hone::vm
