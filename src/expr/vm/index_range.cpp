#include "expr/vm/index_range.h"

#include <algorithm>

#include "support/check.h"

namespace hone::vm {
namespace {

std::optional<Interval> range_of_axis(AxisId axis, const AxisRanges& ranges) {
  const bool is_step = axis.value < 0;
  const auto& list = is_step ? ranges.steps : ranges.axes;
  const auto at = static_cast<size_t>(is_step ? -axis.value - 1 : axis.value - ranges.first_axis);
  HONE_CHECK(at < list.size(), "an axis of another stage");
  return list[at];
}

std::optional<Interval> range_of_extreme(const IndexAtom& atom, const AxisRanges& ranges) {
  const auto a = range_of(atom.left, ranges), b = range_of(atom.right, ranges);
  if (!a || !b) return std::nullopt;
  if (atom.kind == IndexAtom::Kind::kMin)
    return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
  return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
}

std::optional<Interval> range_of_table(const IndexAtom& atom, const AxisRanges& ranges) {
  const auto& entries = ranges.expr.tables[static_cast<size_t>(atom.table.value)].indices;
  if (entries.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(entries.begin(), entries.end());
  return Interval{*low, *high};
}

std::optional<Interval> range_of_atom(const IndexAtom& atom, const AxisRanges& ranges) {
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return range_of_axis(atom.axis, ranges);
    case IndexAtom::Kind::kFloorDiv: {
      const int64_t d = number(atom.divisor);
      const auto range = range_of(atom.left, ranges);
      if (!range) return std::nullopt;
      return Interval{hone::floor_div(range->low, d), hone::floor_div(range->high, d)};
    }
    case IndexAtom::Kind::kMod: {
      const int64_t d = number(atom.divisor);
      const auto range = range_of(atom.left, ranges);
      return range && range->low >= 0 && range->high < d ? *range : Interval{0, d - 1};
    }
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      return range_of_extreme(atom, ranges);
    case IndexAtom::Kind::kTable:
      return range_of_table(atom, ranges);
    case IndexAtom::Kind::kValue:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

int64_t number(const Dim& dim) {
  if (!dim.is_const()) throw_unknown("the dimension " + dim.to_string() + " has no value");
  return dim.value();
}

std::vector<int64_t> numbers(const Shape& shape) {
  std::vector<int64_t> result;
  for (const Dim& dim : shape) result.push_back(number(dim));
  return result;
}

std::optional<Interval> range_of(const Index& index, const AxisRanges& ranges) {
  const int64_t offset = number(index.offset());
  Interval sum{offset, offset};
  for (const IndexTerm& term : index.terms()) {
    const auto part = range_of_atom(*term.atom, ranges);
    if (!part) return std::nullopt;
    const int64_t c = number(term.coefficient);
    int64_t low = 0, high = 0;
    if (__builtin_mul_overflow(c < 0 ? part->high : part->low, c, &low) ||
        __builtin_mul_overflow(c < 0 ? part->low : part->high, c, &high) ||
        __builtin_add_overflow(sum.low, low, &sum.low) ||
        __builtin_add_overflow(sum.high, high, &sum.high))
      return std::nullopt;
  }
  return sum;
}

}  // namespace hone::vm
