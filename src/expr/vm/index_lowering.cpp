#include "expr/vm/index_lowering.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace hone::vm {

IndexLowering::IndexLowering(const Environment& environment, const Nest& nest, CodeBuilder& builder,
                             std::vector<Linear> images,
                             std::function<int(const Scalar&, bool)> read)
    : environment_(environment),
      nest_(nest),
      builder_(builder),
      images_(std::move(images)),
      read_(std::move(read)),
      ranges_{environment.expr, nest.first_axis, nest.axis_ranges(), environment.step_ranges()} {}

Linear IndexLowering::lower(const Index& index, bool guarded) {
  const bool outer = std::exchange(guarded_, guarded);
  Linear sum = lower(index);
  guarded_ = outer;
  return sum;
}

Linear IndexLowering::lower(const Index& index) {
  Linear sum;
  sum.offset = number(index.offset());
  for (const IndexTerm& term : index.terms())
    sum.add(lower_atom(*term.atom), number(term.coefficient));
  return sum;
}

Linear IndexLowering::lower_atom(const IndexAtom& atom) {
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis: {
      const int axis = atom.axis.value;
      const int at =
          axis >= 0 ? axis - nest_.first_axis
                    : static_cast<int>(nest_.outputs.size() + nest_.reductions.size()) - axis - 1;
      HONE_CHECK(at >= 0 && at < static_cast<int>(images_.size()), "an axis of another stage");
      return images_[static_cast<size_t>(at)];
    }
    case IndexAtom::Kind::kFloorDiv:
      return builder_.floor_divide(lower(atom.left), number(atom.divisor));
    case IndexAtom::Kind::kMod: {
      Linear rest = lower(atom.left);
      const Linear quotient = builder_.floor_divide(rest, number(atom.divisor));
      rest.add(quotient, -number(atom.divisor));
      return rest;
    }
    case IndexAtom::Kind::kMin:
    case IndexAtom::Kind::kMax:
      return lower_extreme(atom);
    case IndexAtom::Kind::kTable:
      return lower_table(atom);
    case IndexAtom::Kind::kValue:
      return linear_of_value(read_(Scalar(atom.read), guarded_));
  }
  return {};
}

Linear IndexLowering::lower_extreme(const IndexAtom& atom) {
  const bool is_min = atom.kind == IndexAtom::Kind::kMin;
  const auto left = range_of(atom.left), right = range_of(atom.right);
  if (left && right) {
    if (left->high <= right->low) return lower(is_min ? atom.left : atom.right);
    if (right->high <= left->low) return lower(is_min ? atom.right : atom.left);
  }
  Value value;
  value.op = Value::Op::kApply;
  value.kernel = find_kernel(is_min ? Fn::kMin : Fn::kMax, ElementType::kI64);
  value.name = is_min ? "min" : "max";
  value.args = {builder_.as_value(lower(atom.left)), builder_.as_value(lower(atom.right))};
  std::optional<Interval> range;
  if (left && right && is_min)
    range = Interval{std::min(left->low, right->low), std::min(left->high, right->high)};
  else if (left && right)
    range = Interval{std::max(left->low, right->low), std::max(left->high, right->high)};
  return linear_of_value(builder_.add(std::move(value), range));
}

Linear IndexLowering::lower_table(const IndexAtom& atom) {
  const Table& table = environment_.expr.tables[static_cast<size_t>(atom.table.value)];
  const auto size = static_cast<int64_t>(table.indices.size());
  const auto position = range_of(atom.left);
  Value value;
  value.op = Value::Op::kRead;
  value.tensor = environment_.memory_of(atom.table, ElementType::kI64);
  value.linear = lower(atom.left);
  value.name = table.name;
  if (!position || position->low < 0 || position->high >= size)
    value.checks.push_back({value.linear, size});
  if (guarded_ && !value.checks.empty()) {
    value.may_miss = true;
    value.args = {builder_.constant(ElementType::kI64, {}, "0")};
  }
  std::optional<Interval> range;
  if (size > 0 && !value.may_miss) {
    const auto [low, high] = std::minmax_element(table.indices.begin(), table.indices.end());
    range = Interval{*low, *high};
  }
  return linear_of_value(builder_.add(std::move(value), range));
}

std::optional<Interval> IndexLowering::range_of(const Index& index) const {
  return vm::range_of(index, ranges_);
}

}  // namespace hone::vm
