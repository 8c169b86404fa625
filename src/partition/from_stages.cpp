// The stages of a tensor expression as ops.
#include <memory>

#include "lower/nest.h"
#include "partition/flattener.h"

namespace hone {

std::vector<int> Flattener::add_expr(const TensorExpr& expr, const std::vector<int>& operands,
                                     const std::string& label) {
  Numbers numbers;
  numbers.first_table = static_cast<int>(program_.tables.size());
  program_.tables.insert(program_.tables.end(), expr.tables.begin(), expr.tables.end());
  for (size_t i = 0; i < expr.tensors.size(); ++i) {
    const TensorDecl& tensor = expr.tensors[i];
    numbers.tensors.push_back(static_cast<int>(i) < expr.operand_count
                                  ? operands[i]
                                  : add_tensor(tensor.name, tensor.type, *to_ints(tensor.shape)));
  }
  std::vector<int64_t> steps;
  for (const Stage& stage : expr.stages) add_stage(stage, numbers, steps, label, program_.ops);
  std::vector<int> results;
  for (const int output : expr.outputs)
    results.push_back(numbers.tensors[static_cast<size_t>(output)]);
  return results;
}

void Flattener::add_stage(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                          const std::string& label, std::vector<Op>& ops) {
  if (stage.kind == Stage::Kind::kScan) return add_scan(stage, numbers, steps, label, ops);
  Substitution how;
  how.tensor = [&](int id) { return numbers.tensors[static_cast<size_t>(id)]; };
  how.table = [&](TableId id) { return TableId{id.value + numbers.first_table}; };
  Op op;
  op.label = label;
  op.steps = steps;
  const auto identity = [](size_t rank) {
    std::vector<Index> at;
    for (size_t i = 0; i < rank; ++i) at.emplace_back(AxisId{static_cast<int>(i)});
    return at;
  };
  for (const Axis& axis : stage.axes) op.extents.push_back(axis.extent.value());
  op.outputs = op.extents.size();
  const int result = how.tensor(stage.result);
  const Scalar body = substitute(stage.body, how);
  if (stage.kind == Stage::Kind::kScatter) {
    op.writes.push_back({result, identity(op.outputs), body});
    ops.push_back(op);
    return add_updates(stage, how, result, op, ops);
  }
  if (stage.combiner == Combiner::kNone) {
    op.writes.push_back({result, identity(op.outputs), body});
  } else {
    for (const Axis& axis : stage.reduce) op.extents.push_back(axis.extent.value());
    op.combiner = stage.combiner;
    op.body = body;
    op.writes.push_back(
        {result, identity(op.outputs), Scalar::read(at(result).type, kAccumulator, {})});
  }
  ops.push_back(std::move(op));
}

void Flattener::add_updates(const Stage& stage, const Substitution& how, int result, Op op,
                            std::vector<Op>& ops) {
  // Axes of the result are not iterated by the updates: the update axes come first now.
  const auto first = static_cast<int>(stage.axes.size());
  Substitution shift = how;
  shift.axis = [first](AxisId axis) {
    return axis.value < 0 ? Index(axis) : Index(AxisId{axis.value - first});
  };
  op.extents.clear();
  op.writes.clear();
  for (const Axis& axis : stage.reduce) op.extents.push_back(axis.extent.value());
  op.outputs = op.extents.size();
  op.serial = true;
  Op::Write write;
  write.tensor = result;
  Scalar inside = Scalar::literal(ElementType::kBool, 1);
  for (size_t i = 0; i < stage.target.size(); ++i) {
    const Index target = substitute(stage.target[i], shift);
    const int64_t extent = at(result).dims[i];
    inside = logical_and(inside, less_equal(Index(0), target));
    inside = logical_and(inside, less(target, Index(extent)));
    write.at.push_back(target);
  }
  const Scalar update = substitute(stage.update, shift);
  const Scalar old = Scalar::read(at(result).type, result, write.at);
  switch (stage.combiner) {
    case Combiner::kSum:
      write.value = old + update;
      break;
    case Combiner::kProduct:
      write.value = old * update;
      break;
    case Combiner::kMax:
      write.value = max(old, update);
      break;
    case Combiner::kMin:
      write.value = min(old, update);
      break;
    default:
      write.value = update;
  }
  write.condition = inside;
  op.writes.push_back(std::move(write));
  ops.push_back(std::move(op));
}

void Flattener::add_scan(const Stage& stage, const Numbers& numbers, std::vector<int64_t>& steps,
                         const std::string& label, std::vector<Op>& ops) {
  Op op;
  op.label = label;
  op.scan = std::make_shared<Op::Scan>();
  op.scan->extent = stage.step.extent.value();
  steps.push_back(op.scan->extent);
  for (const Stage& inner : stage.inner) add_stage(inner, numbers, steps, label, op.scan->ops);
  const auto number = [&](int id) { return numbers.tensors[static_cast<size_t>(id)]; };
  for (const Stage::Carried& carried : stage.carried)
    op.scan->carried.push_back(
        {number(carried.state), number(carried.init), number(carried.next), number(carried.final)});
  for (const Stage::Collected& collected : stage.collected) {
    // One more op that copies the source of this step to its place.
    const int source = number(collected.source);
    const int result = number(collected.result);
    Op copy;
    copy.label = label;
    copy.steps = steps;
    copy.extents = at(source).dims;
    copy.outputs = copy.extents.size();
    std::vector<Index> from;
    std::vector<Index> to = {Index(AxisId{-1})};
    for (size_t i = 0; i < copy.outputs; ++i) {
      from.emplace_back(AxisId{static_cast<int>(i)});
      to.emplace_back(AxisId{static_cast<int>(i)});
    }
    copy.writes.push_back({result, to, Scalar::read(at(source).type, source, from)});
    op.scan->ops.push_back(std::move(copy));
  }
  steps.pop_back();
  ops.push_back(std::move(op));
}

}  // namespace hone
