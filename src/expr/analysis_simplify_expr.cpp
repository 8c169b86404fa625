// Simplification of whole expressions: every index, guards that the extents decide, and values
// outside a box that is never left.
#include "expr/index_facts.h"

namespace hone {

Scalar IndexFacts::simplify(const Scalar& scalar, const TensorExpr* expr) {
  if (const auto at = done_.find(scalar.node().get()); at != done_.end()) return at->second;
  Scalar result = rebuild(*scalar, expr);
  done_.emplace(scalar.node().get(), result);
  return result;
}

Scalar IndexFacts::rebuild(const ScalarNode& node, const TensorExpr* expr) {
  switch (node.kind) {
    case ScalarNode::Kind::kLiteral:
      return Scalar::literal(node.type, node.literal);
    case ScalarNode::Kind::kParameter:
      return Scalar::parameter(node.type, node.name);
    case ScalarNode::Kind::kIndex:
      return Scalar::index(simplify(node.index));
    case ScalarNode::Kind::kTable:
      return Scalar::table(node.type, node.table, simplify(node.index));
    case ScalarNode::Kind::kRead:
      return rebuild_read(node, expr);
    case ScalarNode::Kind::kApply:
      break;
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : node.args) args.push_back(simplify(arg, expr));
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
    return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
  if (Scalar decided = decide(node.fn, args); decided.valid()) return decided;
  return Scalar::apply(node.fn, std::move(args));
}

Scalar IndexFacts::rebuild_read(const ScalarNode& node, const TensorExpr* expr) {
  std::vector<Index> indices;
  for (const Index& index : node.indices) indices.push_back(simplify(index));
  bool inside = expr != nullptr || !node.outside;
  if (expr != nullptr && node.outside) {
    const Shape& shape = expr->tensors[static_cast<size_t>(node.tensor)].shape;
    for (size_t i = 0; inside && i < indices.size(); ++i)
      inside = within(indices[i], 0, shape[i] - 1);
  }
  if (inside) return Scalar::read(node.type, node.tensor, std::move(indices));
  return Scalar::read_or(node.type, node.tensor, std::move(indices),
                         simplify(Scalar(node.outside), expr));
}

// A comparison of indices that holds, or fails, for all values of the axes.
Scalar IndexFacts::decide(Fn fn, const std::vector<Scalar>& args) const {
  if (fn != Fn::kLt && fn != Fn::kLe && fn != Fn::kEq) return {};
  Index sides[2];
  for (size_t i = 0; i < 2; ++i) {
    const bool number = args[i].is_literal() && args[i].type() == ElementType::kI64 &&
                        args[i]->literal.to_int().has_value();
    if (!number && args[i]->kind != ScalarNode::Kind::kIndex) return {};
    sides[i] = number ? Index(*args[i]->literal.to_int()) : args[i]->index;
  }
  const Range difference = range(sides[1] - sides[0]);
  const int64_t least = fn == Fn::kLt ? 1 : 0;  // holds if right - left >= least
  const bool low = difference.low && at_least(*difference.low, least);
  const bool high = difference.high && at_least(least - 1, *difference.high);
  const auto truth = [](bool value) { return Scalar::literal(ElementType::kBool, value ? 1 : 0); };
  if (fn != Fn::kEq) return low ? truth(true) : high ? truth(false) : Scalar();
  const bool greater = difference.low && at_least(*difference.low, 1);
  const bool not_greater = difference.high && at_least(0, *difference.high);
  return greater || high ? truth(false) : low && not_greater ? truth(true) : Scalar();
}

namespace {

void simplify_stage(Stage& stage, const TensorExpr& expr, std::vector<Dim>& steps) {
  if (stage.kind == Stage::Kind::kScan) {
    steps.push_back(stage.step.extent);
    for (Stage& inner : stage.inner) simplify_stage(inner, expr, steps);
    steps.pop_back();
    return;
  }
  std::vector<Dim> extents;
  for (const Axis& axis : stage.axes) extents.push_back(axis.extent);
  if (stage.kind == Stage::Kind::kScatter) {
    // The base runs without the update axes, whose extents may be 0.
    stage.body = IndexFacts(extents, steps).simplify(stage.body, &expr);
  }
  for (const Axis& axis : stage.reduce) extents.push_back(axis.extent);
  IndexFacts facts(std::move(extents), steps);
  if (stage.kind == Stage::Kind::kMap) {
    stage.body = facts.simplify(stage.body, &expr);
    return;
  }
  for (Index& index : stage.target) index = facts.simplify(index);
  stage.update = facts.simplify(stage.update, &expr);
}

}  // namespace

TensorExpr simplify(const TensorExpr& expr) {
  TensorExpr result = expr;
  std::vector<Dim> steps;
  for (Stage& stage : result.stages) simplify_stage(stage, expr, steps);
  return result;
}

}  // namespace hone
