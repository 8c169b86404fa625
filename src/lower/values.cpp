#include "lower/values.h"

#include <algorithm>
#include <utility>

#include "support/check.h"

namespace hone {
namespace {

using loop::Expr;
using loop::ExprNode;

AxisId axis_id(int axis) { return AxisId{axis}; }

// Numeric value of an index over one axis.
std::optional<int64_t> evaluate(const Index& index, int axis, int64_t at) {
  if (!index.offset().is_const()) return std::nullopt;
  int64_t total = index.offset().value();
  for (const IndexTerm& term : index.terms()) {
    if (!term.coefficient.is_const()) return std::nullopt;
    const IndexAtom& atom = *term.atom;
    std::optional<int64_t> value;
    if (atom.kind == IndexAtom::Kind::kAxis) {
      if (atom.axis.value == axis) value = at;
    } else if (atom.kind == IndexAtom::Kind::kFloorDiv || atom.kind == IndexAtom::Kind::kMod) {
      const auto left = evaluate(atom.left, axis, at);
      if (left && atom.divisor.is_const())
        value = atom.kind == IndexAtom::Kind::kFloorDiv ? floor_div(*left, atom.divisor.value())
                                                        : floor_mod(*left, atom.divisor.value());
    }
    if (!value) return std::nullopt;
    total += term.coefficient.value() * *value;
  }
  return total;
}

bool mentions_values(const Index& index) {
  return std::ranges::any_of(index.terms(), [](const IndexTerm& term) {
    return term.atom->kind == IndexAtom::Kind::kValue ||
           term.atom->kind == IndexAtom::Kind::kTable || mentions_values(term.atom->left) ||
           mentions_values(term.atom->right);
  });
}

}  // namespace

ElementType register_type(ElementType type) {
  return is_float(type) && type != ElementType::kF64 ? ElementType::kF32 : type;
}

bool same(const Expr& a, const Expr& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  if (&*a == &*b) return true;
  if (a->kind != b->kind || !(a->type == b->type) || a->integer != b->integer || a->var != b->var ||
      a->buffer != b->buffer || a->stride != b->stride || a->fn != b->fn || a->lanes != b->lanes ||
      a->args.size() != b->args.size())
    return false;
  if (a->kind == ExprNode::Kind::kNumber && !(a->number == b->number)) return false;
  for (size_t i = 0; i < a->args.size(); ++i)
    if (!same(a->args[i], b->args[i])) return false;
  return true;
}

Values::Lanes Values::lanes_of(const Index& index, const Place& place) {
  Lanes result{Lanes::Kind::kUniform, 0, {}, index};
  if (place.lane_axis < 0 || place.lanes == 1) return result;
  const AxisId lane = axis_id(place.lane_axis);
  if (!index.mentions(lane)) return result;
  const Dim coefficient = index.coefficient(lane);
  const Index rest = index - Index(lane) * coefficient;
  if (!rest.mentions(lane) && coefficient.is_const()) {
    result.kind = Lanes::Kind::kStrided;
    result.stride = coefficient.value();
    return result;
  }
  result.kind = Lanes::Kind::kGathered;
  if (!place.lanes_aligned || mentions_values(index)) return result;
  // axis = lanes * block + lane: what the lane adds must not depend on anything else.
  Index fixed;
  Index moving;
  const int block = 1 << 20;
  Substitution how;
  how.axis = [&](AxisId axis) {
    return axis == lane ? Index(axis_id(block)) * Dim(place.lanes) + Index(axis) : Index(axis);
  };
  const Index split_index = substitute(index, how);
  std::vector<Dim> extents;  // only the lane's extent matters
  const int count = place.lane_axis + 1;
  for (int i = 0; i < count; ++i)
    extents.emplace_back(i == place.lane_axis ? Dim(place.lanes) : Dim::symbol("extent"));
  Index simple = split_index;
  for (const IndexTerm& term : simple.terms()) {
    // floor_div and mod of lanes * block + lane by a number that divides the lanes.
    const IndexAtom& atom = *term.atom;
    Index piece;
    if ((atom.kind == IndexAtom::Kind::kFloorDiv || atom.kind == IndexAtom::Kind::kMod) &&
        atom.left.mentions(lane)) {
      if (!atom.divisor.is_const() || place.lanes % atom.divisor.value() != 0) return result;
      const Index only_lane = Index(lane);
      const Index other = atom.left - only_lane;
      if (other.mentions(lane)) return result;
      // `other` must be a multiple of the divisor.
      const int64_t d = atom.divisor.value();
      if (!other.offset().is_const() || other.offset().value() % d != 0) return result;
      for (const IndexTerm& inner : other.terms())
        if (!inner.coefficient.is_const() || inner.coefficient.value() % d != 0) return result;
      if (atom.kind == IndexAtom::Kind::kFloorDiv) {
        moving = moving + floor_div(only_lane, d) * term.coefficient;
        Index quotient;
        for (const IndexTerm& inner : other.terms())
          quotient = quotient + Index(inner.atom->axis) * Dim(inner.coefficient.value() / d);
        fixed = fixed + (quotient + Index(other.offset().value() / d)) * term.coefficient;
        for (const IndexTerm& inner : other.terms())
          if (inner.atom->kind != IndexAtom::Kind::kAxis) return result;
      } else {
        moving = moving + mod(only_lane, d) * term.coefficient;
      }
      continue;
    }
    if (atom.kind == IndexAtom::Kind::kAxis) {
      piece = Index(atom.axis) * term.coefficient;
      if (atom.axis == lane)
        moving = moving + piece;
      else
        fixed = fixed + piece;
      continue;
    }
    return result;
  }
  fixed = fixed + Index(simple.offset());
  std::vector<int> pattern;
  for (int i = 0; i < place.lanes; ++i) {
    const auto at = evaluate(moving, place.lane_axis, i);
    if (!at || *at < 0 || *at >= place.lanes) return result;
    pattern.push_back(static_cast<int>(*at));
  }
  // block = axis / lanes at lane 0, which is exact: lanes * block = axis.
  Substitution back;
  bool exact = true;
  back.axis = [&](AxisId axis) { return axis == axis_id(block) ? Index(0) : Index(axis); };
  const Dim block_step = fixed.coefficient(axis_id(block));
  Index first = substitute(fixed, back);
  if (!block_step.is_const() || block_step.value() % place.lanes != 0) exact = false;
  if (!exact) return result;
  first = first + Index(lane) * Dim(block_step.value() / place.lanes);
  return {Lanes::Kind::kShuffled, 0, std::move(pattern), std::move(first)};
}

Expr Values::index(const Index& index, const Place& place) {
  const bool vector =
      place.lane_axis >= 0 && place.lanes > 1 && index.mentions(axis_id(place.lane_axis));
  return sum(index, place, vector);
}

Expr Values::sum(const Index& index, const Place& place, bool vector) {
  Expr total = index.offset().value();
  Expr result;
  for (const IndexTerm& term : index.terms()) {
    const int64_t factor = term.coefficient.value();
    Expr part = atom(*term.atom, place, vector);
    if (part.type().lanes > 1) {
      part = factor == 1
                 ? part
                 : Expr::apply(Fn::kMul, {part, Expr::broadcast(factor, part.type().lanes)});
      result = result.valid() ? Expr::apply(Fn::kAdd, {result, part}) : part;
    } else {
      total = part * Expr(factor) + total;
    }
  }
  if (!result.valid()) return total;
  return total.is(0) ? result : Expr::apply(Fn::kAdd, {result, total});
}

int64_t Values::lifted(const Index& index, int64_t divisor) const {
  constexpr int64_t kFar = int64_t{1} << 40;
  if (!facts_) return 0;
  const Range range = facts_->range(index);
  if (!range.low || !range.low->is_const()) return kFar / divisor;
  return range.low->value() >= 0 ? 0 : -floor_div(range.low->value(), divisor);
}

Expr Values::atom(const IndexAtom& atom, const Place& place, bool vector) {
  const auto divide = [&](Fn fn) {
    const int64_t d = atom.divisor.value();
    // Division of loop IR takes dividends >= 0: lift them by a multiple of the divisor.
    const int64_t lift = lifted(atom.left, d);
    const Expr left = sum(atom.left + Index(lift * d), place, vector);
    if (left.type().lanes == 1)
      return fn == Fn::kDiv ? left / Expr(d) - Expr(lift) : left % Expr(d);
    const Expr result = Expr::apply(fn, {left, Expr::broadcast(d, left.type().lanes)});
    if (fn == Fn::kMod || lift == 0) return result;
    return Expr::apply(Fn::kSub, {result, Expr(lift)});
  };
  switch (atom.kind) {
    case IndexAtom::Kind::kAxis: {
      if (atom.axis.value < 0) return place.steps[static_cast<size_t>(-1 - atom.axis.value)];
      const Expr& at = place.axes[static_cast<size_t>(atom.axis.value)];
      return vector && atom.axis.value == place.lane_axis ? Expr::ramp(at, 1, place.lanes) : at;
    }
    case IndexAtom::Kind::kFloorDiv:
      return divide(Fn::kDiv);
    case IndexAtom::Kind::kMod:
      return divide(Fn::kMod);
    case IndexAtom::Kind::kMin:
      return min(sum(atom.left, place, vector), sum(atom.right, place, vector));
    case IndexAtom::Kind::kMax:
      return max(sum(atom.left, place, vector), sum(atom.right, place, vector));
    case IndexAtom::Kind::kTable: {
      const loop::BufferId table = tables_[static_cast<size_t>(atom.table.value)];
      return Expr::load(ElementType::kI64, table, sum(atom.left, place, vector));
    }
    case IndexAtom::Kind::kValue: {
      // Reads inside of indices are not shared, and stand under the mask of the read around them.
      loop::Block none;
      const bool sharing = std::exchange(sharing_, false);
      Place here = place;
      if (!vector) here.lane_axis = -1;
      const Expr read = value(Scalar(atom.read), here, none, mask_);
      sharing_ = sharing;
      HONE_CHECK(none.empty(), "reads inside of indices are not shared");
      return Expr::cast(ElementType::kI64, read);
    }
  }
  return {};
}

Expr Values::address(const Index& at, const Place& place) {
  if (hoisted_ == nullptr) return index(at, place);
  Index fixed = at.offset();
  for (const IndexTerm& term : at.terms()) {
    Index part;
    switch (term.atom->kind) {
      case IndexAtom::Kind::kAxis:
        part = term.atom->axis;
        break;
      case IndexAtom::Kind::kFloorDiv:
        part = floor_div(term.atom->left, term.atom->divisor);
        break;
      case IndexAtom::Kind::kMod:
        part = mod(term.atom->left, term.atom->divisor);
        break;
      default:
        return index(at, place);
    }
    const bool inner =
        std::ranges::any_of(inner_, [&](int axis) { return part.mentions(AxisId{axis}); });
    if (!inner) fixed = fixed + part * term.coefficient;
  }
  const Expr start = index(fixed, place);
  const Expr moving = index(at - fixed, place);
  const bool plus =
      start->kind == ExprNode::Kind::kApply && start->fn == Fn::kAdd && start->args[1].is_integer();
  const Expr base = plus ? start->args[0] : start;
  const Expr constant = plus ? start->args[1] : Expr(0);
  if (base.is_integer() || base->kind == ExprNode::Kind::kVar) return base + moving + constant;
  for (const auto& [known, variable] : fixed_)
    if (same(known, base)) return variable + moving + constant;
  const loop::VarId id = function_.add_var("p");
  hoisted_->push_back(loop::make_let(id, base));
  fixed_.emplace_back(base, Expr::var(id));
  return Expr::var(id) + moving + constant;
}

Expr Values::shared(Expr value, loop::Block& before) {
  if (!sharing_) return value;
  for (const auto& [known, variable] : known_)
    if (same(known, value)) return variable;
  const loop::VarId id = function_.add_var("v", value.type());
  before.push_back(loop::make_let(id, value));
  Expr variable = Expr::var(id, value.type());
  known_.emplace_back(std::move(value), variable);
  return variable;
}

// Shuffled lanes of a whole aligned vector: neighbouring steps of a loop share one load. A vector
// that is aligned in a buffer of whole vectors lies inside of it if any of its elements does.
Expr Values::align(Lanes& lanes, const Place& place, const loop::BufferDecl& buffer,
                   const Expr& where) {
  const int64_t width = place.lanes;
  if (buffer.size % width != 0 || !lanes.first.offset().is_const()) return where;
  int64_t rest = lanes.first.offset().value();
  for (const IndexTerm& term : lanes.first.terms()) {
    if (!term.coefficient.is_const()) return where;
    const int64_t factor = term.coefficient.value();
    if (factor % width == 0) continue;
    if (term.atom->kind != IndexAtom::Kind::kAxis || term.atom->axis.value < 0) return where;
    const Expr& at = place.axes[static_cast<size_t>(term.atom->axis.value)];
    if (!at.is_integer()) return where;
    rest += factor * at->integer;
  }
  rest = floor_mod(rest, width);
  if (std::ranges::max(lanes.pattern) + rest >= width) return where;
  for (int& lane : lanes.pattern) lane += static_cast<int>(rest);
  whole_ = true;
  return where - Expr(rest);
}

Expr Values::load(int tensor, const Index& at, const Place& place, loop::Block& before,
                  const Expr& mask) {
  const loop::BufferId buffer = tensors_[static_cast<size_t>(tensor)];
  const ElementType element = function_.buffer(buffer).element;
  const Expr outer_mask = std::exchange(mask_, mask);
  const auto restore = [&](Expr result) {
    mask_ = outer_mask;
    return result;
  };
  Lanes lanes = lanes_of(at, place);
  Expr loaded;
  if (lanes.kind == Lanes::Kind::kGathered ||
      (mask.valid() && mask.type().lanes > 1 &&
       !(lanes.kind == Lanes::Kind::kStrided && lanes.stride == 1))) {
    Expr where = index(at, place);
    if (mask.valid()) {
      where = Expr::broadcast(where, std::max(where.type().lanes, mask.type().lanes));
      where = Expr::apply(Fn::kSelect, {mask, where, Expr(0)});
    }
    loaded = Expr::load(element, buffer, where);
  } else {
    Expr where = address(lanes.first, Place{place.axes, place.steps, -1, 1, false});
    const bool shuffled = lanes.kind == Lanes::Kind::kShuffled;
    if (shuffled && !mask.valid()) where = align(lanes, place, function_.buffer(buffer), where);
    const bool contiguous = shuffled || lanes.stride == 1;
    const bool whole = std::exchange(whole_, false);
    const int width = shuffled && !whole ? std::ranges::max(lanes.pattern) + 1 : place.lanes;
    if (mask.valid() && contiguous)
      loaded = Expr::load(element, buffer, where, width, 1, Expr::broadcast(mask, width));
    else {
      if (mask.valid()) {
        // A strided or single read under a scalar condition: point at the start instead.
        where = Expr::apply(Fn::kSelect, {mask, where, Expr(0)});
      }
      loaded = lanes.kind == Lanes::Kind::kUniform ? Expr::load(element, buffer, where)
               : contiguous ? Expr::load(element, buffer, where, width)
                            : Expr::load(element, buffer, where, place.lanes, lanes.stride);
    }
    if (shuffled) {
      loaded = mask.valid() ? loaded : shared(loaded, before);
      loaded = Expr::shuffle(loaded, loaded, lanes.pattern);
    }
  }
  loaded = Expr::cast(register_type(element), loaded);
  return restore(mask.valid() ? loaded : shared(std::move(loaded), before));
}

Expr Values::read(const ScalarNode& node, const Place& place, loop::Block& before,
                  const Expr& mask) {
  if (node.tensor == kAccumulator) return accumulator_;
  return load(node.tensor, node.indices[0], place, before, mask);
}

Expr Values::value(const Scalar& scalar, const Place& place, loop::Block& before,
                   const Expr& mask) {
  const ScalarNode& node = *scalar;
  if (const auto fixed = fixed_values_.find(&node); fixed != fixed_values_.end())
    return fixed->second;
  switch (node.kind) {
    case ScalarNode::Kind::kLiteral:
      return Expr::number({register_type(node.type), 1}, node.literal);
    case ScalarNode::Kind::kParameter:
      HONE_CHECK(false, "parameters have values before lowering");
      return {};
    case ScalarNode::Kind::kIndex:
      return index(node.index, place);
    case ScalarNode::Kind::kTable: {
      const loop::BufferId table = tables_[static_cast<size_t>(node.table.value)];
      const ElementType element = function_.buffer(table).element;
      return Expr::cast(register_type(node.type),
                        Expr::load(element, table, index(node.index, place)));
    }
    case ScalarNode::Kind::kRead:
      return read(node, place, before, mask);
    case ScalarNode::Kind::kApply: {
      if (!share_values_ || mask.valid() || !sharing_) return apply(node, place, before, mask);
      if (const auto known = computed_.find(&node); known != computed_.end()) return known->second;
      const Expr result = apply(node, place, before, mask);
      const loop::VarId id = function_.add_var("v", result.type());
      before.push_back(loop::make_let(id, result));
      return computed_[&node] = Expr::var(id, result.type());
    }
  }
  return {};
}

Expr Values::apply(const ScalarNode& node, const Place& place, loop::Block& before,
                   const Expr& mask) {
  if (node.fn == Fn::kSelect) {
    const Expr condition = value(node.args[0], place, before, mask);
    const auto both = [&](const Expr& extra) {
      return mask.valid() ? Expr::apply(Fn::kAnd, {mask, extra}) : extra;
    };
    const Expr then = value(node.args[1], place, before, both(condition));
    const Expr other = value(node.args[2], place, before, both(Expr::apply(Fn::kNot, {condition})));
    return Expr::apply(Fn::kSelect, {condition, then, other});
  }
  std::vector<Expr> args;
  for (const Scalar& arg : node.args) args.push_back(value(arg, place, before, mask));
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap) {
    // Rounds to the narrow type, then goes on in the register's.
    const Expr narrow = Expr::cast(node.type, args[0], node.fn == Fn::kCast);
    return Expr::cast(register_type(node.type), narrow);
  }
  return Expr::apply(node.fn, std::move(args));
}

}  // namespace hone
