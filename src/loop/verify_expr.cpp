#include <algorithm>

#include "loop/text.h"
#include "loop/verifier.h"
#include "loop/verify_types.h"

namespace hone::loop {

bool Verifier::has_type(const Expr& expr, Type type, std::string_view what) {
  if (!check(expr, what)) return false;
  if (expr.type() == type) return true;
  error(std::string(what) + " is " + to_text(expr.type()) + ", not " + to_text(type));
  return false;
}

bool Verifier::check(const Expr& expr, std::string_view what) {
  if (expr.valid()) return check_node(*expr);
  error(std::string(what) + " is missing");
  return false;
}

bool Verifier::check_node(const ExprNode& node) {
  if (checked_.contains(&node)) return true;
  if (!has_operands(node)) {
    error("an expression has " + std::to_string(node.args.size()) + " operands");
    return false;
  }
  bool fits = check_names(node);
  for (const Expr& arg : node.args) fits = check(arg, "an operand") && fits;
  if (!fits) return false;
  const Expr shown(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), &node));
  if (const std::string problem = type_problem(node, function_); !problem.empty()) {
    error(to_text(shown, function_) + ": " + problem);
    return false;
  }
  if (node.kind == ExprNode::Kind::kLoad)
    check_access({node.buffer, &node.args[0], node.type.lanes, node.stride,
                  node.args.size() > 1 ? &node.args[1] : nullptr, false});
  checked_.insert(&node);
  return true;
}

// Ids are in range and in scope.
bool Verifier::check_names(const ExprNode& node) {
  if (node.kind == ExprNode::Kind::kVar) {
    const bool known = node.var.valid() && node.var.index() < vars_.size();
    if (known && vars_[node.var.index()].in_scope) return true;
    error("the variable " + (known ? function_.vars[node.var.index()].name : "?") +
          " is used outside of its scope");
    return false;
  }
  if (node.kind == ExprNode::Kind::kExtent) {
    if (node.integer >= 0 && std::cmp_less(node.integer, function_.extents.size())) return true;
    error("there is no extent " + std::to_string(node.integer));
    return false;
  }
  if (node.kind != ExprNode::Kind::kLoad) return true;
  const bool known = node.buffer.valid() && node.buffer.index() < buffers_.size();
  if (known && buffers_[node.buffer.index()]) return true;
  error("the buffer " + (known ? function_.buffer(node.buffer).name : "?") +
        " is read outside of its scope");
  return false;
}

bool Verifier::is_constant(const Expr& expr) const {
  switch (expr->kind) {
    case ExprNode::Kind::kVar:
      return vars_[expr->var.index()].constant;
    case ExprNode::Kind::kExtent:
    case ExprNode::Kind::kLoad:
      return false;
    default:
      return std::ranges::all_of(expr->args, [&](const Expr& arg) { return is_constant(arg); });
  }
}

Expr Verifier::as_load(const Access& access) const {
  return Expr::load(function_.buffer(access.buffer).element, access.buffer, *access.index,
                    access.lanes, access.stride, access.mask == nullptr ? Expr() : *access.mask);
}

std::string Verifier::text(const Access& access) const {
  return to_text(as_load(access), function_);
}

void Verifier::check_registers(const Access& access) {
  if (!is_constant(*access.index))
    error(text(access) + ": a register buffer is indexed by what is not constant after unrolling");
}

void Verifier::check_access(const Access& access) {
  ++notes_.accesses;
  if (function_.buffer(access.buffer).scope == Scope::kRegister) check_registers(access);
  const auto mark = space_.mark();
  if (access.mask != nullptr) forms_.require(*access.mask);
  check_place(access, *access.index);
  dividends();
  space_.restore(mark);
}

// The two sides of a select are places of their own, each under its condition.
void Verifier::check_place(const Access& access, const Expr& index) {
  if (!space_.reachable()) return;
  if (index->kind == ExprNode::Kind::kApply && index->fn == Fn::kSelect) {
    for (const bool holds : {true, false}) {
      const auto mark = space_.mark();
      forms_.require(index->args[0], holds);
      check_place(access, index->args[holds ? 1 : 2]);
      space_.restore(mark);
    }
    return;
  }
  Linear place = forms_.form(index);
  if (access.index->type().lanes == 1 && access.lanes > 1)
    place = sum(place, forms_.lane(access.lanes), access.stride);
  check_bounds(access, place);
  if (in_task_ && function_.buffer(access.buffer).scope == Scope::kOut) record(access, place);
}

void Verifier::check_bounds(const Access& access, const Linear& place) {
  const int64_t last = function_.buffer(access.buffer).size - 1;
  const int64_t low = space_.low(place, 0);
  const int64_t high = space_.high(place, last);
  if (low >= 0 && high <= last) return;
  const Interval box = space_.box(space_.resolve(place));
  const bool certain = space_.unconditional() && space_.all_exact(place);
  const auto end = [](int64_t value) {
    return value <= -kFar || value >= kFar ? std::string("?") : std::to_string(value);
  };
  const std::string verb = access.writes ? " write" : " read";
  if (certain)
    return error(text(access) + verb + "s elements " + end(box.low) + " .. " + end(box.high) +
                 " of " + std::to_string(last + 1));
  if (space_.depends_on_data(place)) {
    ++notes_.unchecked;
    return;
  }
  unclear(text(access) + " may" + verb + " elements " + end(low) + " .. " + end(high) + " of " +
          std::to_string(last + 1));
}

// Machine code divides indices as if they were not negative.
void Verifier::dividends() {
  for (const auto& [node, certain] : forms_.take_negative_dividends()) {
    const Expr shown(std::shared_ptr<const ExprNode>(std::shared_ptr<void>(), node));
    const std::string expr = to_text(shown, function_);
    if (certain)
      error(expr + ": the dividend is negative");
    else
      unclear(expr + ": the dividend may be negative");
  }
}

std::vector<std::pair<Linear, Interval>> Verifier::tight_parts(const Linear& place) const {
  std::vector<std::pair<Linear, Interval>> parts;
  if (space_.unconditional() && space_.all_exact(place)) return parts;
  for (const auto& [largest, coefficient] : place.terms) {
    Linear part;
    for (const auto& term : place.terms)
      if (std::abs(term.second) <= std::abs(coefficient)) part.terms.push_back(term);
    const Interval bounds = space_.bounds(part);
    if (bounds != space_.box(part)) parts.emplace_back(std::move(part), bounds);
  }
  return parts;
}

void Verifier::record(const Access& access, const Linear& place) {
  TaskAccess task;
  task.place = space_.resolve(place);
  task.exact = space_.unconditional();
  task.writes = access.writes;
  task.shown = as_load(access);
  for (const int id : space_.narrowed())
    if (space_[id].parallel || task.place.coefficient(id) != 0)
      task.narrowed.emplace_back(id, space_[id].here);
  task.parts = tight_parts(task.place);
  accesses_[access.buffer.value].push_back(std::move(task));
}

}  // namespace hone::loop
