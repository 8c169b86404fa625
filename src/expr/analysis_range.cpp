#include "expr/index_facts.h"

namespace hone {
namespace {

// N, 3*N and N*M at least 1 mean that every factor is.
void note_positive(const Dim& extent, std::map<std::string, Dim>& positive) {
  if (extent.constant_part() != 0 || extent.terms().size() != 1) return;
  for (const DimAtomRef& factor : extent.terms()[0].factors)
    if (factor->kind == DimAtom::Kind::kSymbol)
      positive.insert_or_assign(factor->name, Dim::symbol(factor->name) + 1);
}

Range scaled(const Range& range, const Dim& factor, const IndexFacts& facts) {
  const auto times = [&](const std::optional<Dim>& end) -> std::optional<Dim> {
    if (!end) return std::nullopt;
    return *end * factor;
  };
  if (facts.at_least(factor, 0)) return {times(range.low), times(range.high)};
  if (facts.at_least(0, factor)) return {times(range.high), times(range.low)};
  return {};
}

std::optional<Dim> sum(const std::optional<Dim>& a, const std::optional<Dim>& b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

}  // namespace

IndexFacts::IndexFacts(std::vector<Dim> extents, std::vector<Dim> steps)
    : extents_(std::move(extents)), steps_(std::move(steps)) {
  for (const Dim& extent : extents_) note_positive(extent, positive_);
  for (const Dim& extent : steps_) note_positive(extent, positive_);
}

bool IndexFacts::at_least(const Dim& a, const Dim& b) const {
  if (is_at_least(a, b)) return true;
  return !positive_.empty() && is_at_least(a.substitute(positive_), b.substitute(positive_));
}

Range IndexFacts::range(AxisId axis) const {
  const auto count = static_cast<int>(axis.value < 0 ? steps_.size() : extents_.size());
  const int at = axis.value < 0 ? count + axis.value : axis.value;
  if (at < 0) return {Dim(0), std::nullopt};
  if (at >= count) return {};
  const Dim& extent = (axis.value < 0 ? steps_ : extents_)[static_cast<size_t>(at)];
  return {Dim(0), extent - 1};
}

Range IndexFacts::range(const Index& index) const {
  try {
    Range total{index.offset(), index.offset()};
    for (const IndexTerm& term : index.terms()) {
      const Range part = scaled(range(*term.atom), term.coefficient, *this);
      total = {sum(total.low, part.low), sum(total.high, part.high)};
    }
    return total;
  } catch (const Failure&) {
    return {};  // an end does not fit in 64 bits
  }
}

Range IndexFacts::range(const IndexAtom& atom) const {
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis:
      return range(atom.axis);
    case IndexAtom::Kind::kFloorDiv: {
      if (!at_least(atom.divisor, 0)) return {};
      Range result = range(atom.left);
      if (result.low) result.low = floor_div(*result.low, atom.divisor);
      if (result.high) result.high = floor_div(*result.high, atom.divisor);
      return result;
    }
    case IndexAtom::Kind::kMod:
      if (!at_least(atom.divisor, 0)) return {};
      return {Dim(0), atom.divisor - 1};
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax: {
      const bool least = atom.kind == IndexAtom::Kind::kMin;
      const Range a = range(atom.left);
      const Range b = range(atom.right);
      const auto both = [&](const std::optional<Dim>& x,
                            const std::optional<Dim>& y) -> std::optional<Dim> {
        if (!x || !y) return std::nullopt;
        return least ? min(*x, *y) : max(*x, *y);
      };
      // One known end suffices on the side that the operation cuts off.
      Range result{both(a.low, b.low), both(a.high, b.high)};
      if (least && !result.high) result.high = a.high ? a.high : b.high;
      if (!least && !result.low) result.low = a.low ? a.low : b.low;
      return result;
    }
    case IndexAtom::Kind::kTable:
    case IndexAtom::Kind::kValue:
      return {};
  }
  return {};
}

bool IndexFacts::within(const Index& index, const Dim& low, const Dim& high) const {
  const Range r = range(index);
  return r.low && r.high && at_least(*r.low, low) && at_least(high, *r.high);
}

Range range_of(const Index& index, const std::vector<Dim>& extents) {
  return IndexFacts(extents, {}).range(index);
}

}  // namespace hone
