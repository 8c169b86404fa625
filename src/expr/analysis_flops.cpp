#include <unordered_map>

#include "expr/analysis.h"

namespace hone {
namespace {

// Operations of one evaluation; equal subterms are computed once. By hash alone: 64 bits suffice
// for a count.
void count(const ScalarNode& node, std::unordered_map<uint64_t, int>& counted) {
  if (counted.contains(node.hash)) return;
  const bool apply = node.kind == ScalarNode::Kind::kApply;
  counted[node.hash] = apply ? info_of(node.fn).flops : 0;
  for (const Scalar& arg : node.args) count(*arg, counted);
}

int64_t operations(const Scalar& scalar) {
  if (!scalar.valid()) return 0;
  std::unordered_map<uint64_t, int> counted;
  count(*scalar, counted);
  int64_t total = 0;
  for (const auto& [hash, flops] : counted) total += flops;
  return total;
}

Dim points(const std::vector<Axis>& axes) {
  Dim product = 1;
  for (const Axis& axis : axes) product *= axis.extent;
  return product;
}

}  // namespace

Dim flops_of(const TensorExpr& expr, const Stage& stage) {
  const int64_t combine = stage.combiner == Combiner::kNone ? 0 : 1;
  switch (stage.kind) {
    case Stage::Kind::kMap:
      return points(stage.axes) * points(stage.reduce) * (operations(stage.body) + combine);
    case Stage::Kind::kScatter:
      return points(stage.axes) * operations(stage.body) +
             points(stage.reduce) * (operations(stage.update) + combine);
    case Stage::Kind::kScan: {
      Dim once = 0;
      for (const Stage& inner : stage.inner) once += flops_of(expr, inner);
      return once * stage.step.extent;
    }
  }
  return 0;
}

Dim flops_of(const TensorExpr& expr) {
  Dim total = 0;
  for (const Stage& stage : expr.stages) total += flops_of(expr, stage);
  return total;
}

}  // namespace hone
