#include "loop/index_forms.h"

namespace hone::loop {

Interval range_of(ElementType type) {
  if (type == ElementType::kBool) return {0, 1};
  if (!is_integer(type) || bits_of(type) > 32) return {};
  const int64_t values = int64_t{1} << bits_of(type);
  return is_signed_int(type) ? Interval{-values / 2, values / 2 - 1} : Interval{0, values - 1};
}

int IndexForms::lane_atom(int lanes) {
  const auto known = lanes_.find(lanes);
  if (known != lanes_.end()) return known->second;
  const int id =
      space_.add({.range = {0, lanes - 1}, .here = {}, .exact = true, .parts = {}, .facts = {}});
  lanes_.emplace(lanes, id);
  return id;
}

Linear IndexForms::form(const Expr& expr) {
  const ExprNode& node = *expr;
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
      return constant(saturated(node.integer));
    case ExprNode::Kind::kNumber:
      if (const auto value = node.number.to_int()) return constant(saturated(*value));
      return space_.opaque({}, {});
    case ExprNode::Kind::kVar: {
      Defined& var = vars_[node.var.index()];
      if (!var.known) var = {space_.opaque(range_of(node.type.element), {}, true), {}, true};
      return space_.resolve(var.form);
    }
    case ExprNode::Kind::kExtent: {
      const auto [at, added] = extents_.try_emplace(node.integer, 0);
      if (added)
        at->second = space_.add({.range = {0, kFar}, .here = {}, .parts = {}, .facts = {}});
      return atom(at->second);
    }
    case ExprNode::Kind::kBroadcast:
      return form(node.args[0]);
    case ExprNode::Kind::kRamp: {
      const Linear step = form(node.args[1]);
      const Linear base = form(node.args[0]);
      if (step.is_constant()) return sum(base, lane(node.type.lanes), step.offset);
      return space_.opaque({}, {base, step});
    }
    case ExprNode::Kind::kApply:
      return apply(node);
    default:
      return space_.opaque(range_of(node.type.element), {}, true);
  }
}

Linear IndexForms::apply(const ExprNode& node) {
  switch (node.fn) {
    case Fn::kAdd:
      return sum(form(node.args[0]), form(node.args[1]));
    case Fn::kSub:
      return sum(form(node.args[0]), form(node.args[1]), -1);
    case Fn::kNeg:
      return scaled(form(node.args[0]), -1);
    case Fn::kMul: {
      const Linear a = form(node.args[0]);
      const Linear b = form(node.args[1]);
      if (b.is_constant()) return scaled(a, b.offset);
      if (a.is_constant()) return scaled(b, a.offset);
      return space_.opaque({}, {a, b});
    }
    case Fn::kDiv:
    case Fn::kMod:
      return divide(node);
    case Fn::kMin:
    case Fn::kMax: {
      const Linear a = form(node.args[0]);
      const Linear b = form(node.args[1]);
      return space_.extremum(node.fn == Fn::kMax, a, b);
    }
    case Fn::kSelect:
      return choice(node);
    case Fn::kCast:
    case Fn::kCastWrap:
      return converted(node);
    default: {
      std::vector<Linear> operands;
      for (const Expr& arg : node.args)
        if (is_integer(arg.type().element)) operands.push_back(form(arg));
      return space_.opaque(range_of(node.type.element), operands, operands.empty());
    }
  }
}

// Index arithmetic divides what is not negative; data may be anything.
Linear IndexForms::divide(const ExprNode& node) {
  const Linear a = form(node.args[0]);
  const Linear b = form(node.args[1]);
  const bool is_quotient = node.fn == Fn::kDiv;
  if (!b.is_constant() || b.offset <= 0) return space_.opaque({}, {a, b});
  if (space_.low(a, 0) >= 0) {
    auto [quotient, remainder] = space_.divide(a, b.offset);
    return is_quotient ? quotient : remainder;
  }
  if (space_.reachable() && !space_.depends_on_data(a))
    negative_dividends_.push_back({&node, space_.unconditional() && space_.all_exact(a)});
  if (!is_quotient) return space_.opaque({0, b.offset - 1}, {a});
  const Interval range = space_.bounds(a);
  const auto bound = [&](int64_t end) {
    return end <= -kFar || end >= kFar ? end : end / b.offset;
  };
  return space_.opaque({bound(range.low), bound(range.high)}, {a});
}

Linear IndexForms::choice(const ExprNode& node) {
  Interval range{kFar, -kFar};
  std::vector<Linear> operands;
  for (const bool holds : {true, false}) {
    const auto mark = space_.mark();
    require(node.args[0], holds);
    operands.push_back(form(node.args[holds ? 1 : 2]));
    if (space_.reachable()) range = hull(range, space_.bounds(operands.back()));
    space_.restore(mark);
  }
  return space_.opaque(range, operands, false, true);  // the condition may depend on the task
}

// A cast keeps the values that both types hold.
Linear IndexForms::converted(const ExprNode& node) {
  const ElementType from = node.args[0].type().element;
  const Interval target = range_of(node.type.element);
  if (!is_integer(from)) return space_.opaque(intersect(target, range_of(from)), {}, true);
  const Linear operand = form(node.args[0]);
  const Interval range = space_.bounds(operand);
  if (range.low >= target.low && range.high <= target.high) return operand;
  return space_.opaque(target, {operand});
}

void IndexForms::require(const Expr& condition, bool holds) {
  const ExprNode& node = *condition;
  if (node.kind == ExprNode::Kind::kBroadcast) return require(node.args[0], holds);
  if (node.kind == ExprNode::Kind::kInteger) {
    if ((node.integer != 0) != holds) space_.require_nothing_reached();
    return;
  }
  if (node.kind == ExprNode::Kind::kVar && vars_[node.var.index()].condition.valid())
    return require(Expr(vars_[node.var.index()].condition), holds);
  if (node.kind != ExprNode::Kind::kApply) return space_.require_something();
  if (node.fn == Fn::kNot) return require(node.args[0], !holds);
  if (node.fn == (holds ? Fn::kAnd : Fn::kOr)) {
    require(node.args[0], holds);
    return require(node.args[1], holds);
  }
  const bool compares = node.fn == Fn::kEq || node.fn == Fn::kLt || node.fn == Fn::kLe;
  if (!compares || !is_integer(node.args[0].type().element)) return space_.require_something();
  compare(node.fn, form(node.args[0]), form(node.args[1]), holds);
}

void IndexForms::compare(Fn fn, const Linear& a, const Linear& b, bool holds) {
  const Linear difference = sum(a, b, -1);
  const Linear contrary = sum(b, a, -1);
  const Linear one = constant(1);
  if (fn == Fn::kLt) return space_.require_at_most_zero(holds ? sum(difference, one) : contrary);
  if (fn == Fn::kLe) return space_.require_at_most_zero(holds ? difference : sum(contrary, one));
  if (holds) {
    space_.require_at_most_zero(difference);
    return space_.require_at_most_zero(contrary);
  }
  // a != b: an end of the range may go.
  const Interval range = space_.bounds(difference);
  if (range.low > 0 || range.high < 0) return;
  if (range.low == 0) return space_.require_at_most_zero(sum(contrary, one));
  if (range.high == 0) return space_.require_at_most_zero(sum(difference, one));
  space_.require_something();
}

void IndexForms::define_loop(const Stmt& stmt) {
  const Linear begin = form(stmt.begin);
  const Linear extent = form(stmt.extent);
  IndexSpace::Atom counter;
  counter.parallel = stmt.loop == LoopKind::kParallel;
  counter.exact = extent.is_constant();
  const int64_t most = space_.high(extent);
  counter.range = {0, most >= kFar ? kFar : most - 1};
  if (counter.range.empty()) {
    space_.require_nothing_reached();
    counter.range.high = 0;
  }
  const int id = space_.add(std::move(counter));
  const Linear position = atom(id);
  if (!extent.is_constant())
    space_.require_at_most_zero(sum(sum(position, extent, -1), constant(1)));
  vars_[stmt.var.index()] = {sum(begin, position), {}, true};
}

void IndexForms::define_let(const Stmt& stmt) {
  Defined& var = vars_[stmt.var.index()];
  const ElementType type = stmt.value.type().element;
  var = {};
  if (type == ElementType::kI64) var = {form(stmt.value), {}, true};
  if (type == ElementType::kBool) var.condition = stmt.value;
}

}  // namespace hone::loop
