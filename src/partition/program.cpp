#include "partition/program.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "expr/evaluate.h"
#include "expr/index_facts.h"
#include "lower/nest.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

void visit_index(const Index& index, std::set<const ScalarNode*>& seen,
                 const std::function<void(const ScalarNode&)>& f);

void visit_scalar(const Scalar& scalar, std::set<const ScalarNode*>& seen,
                  const std::function<void(const ScalarNode&)>& f) {
  if (!scalar.valid() || !seen.insert(&*scalar).second) return;
  f(*scalar);
  visit_index(scalar->index, seen, f);
  for (const Index& index : scalar->indices) visit_index(index, seen, f);
  if (scalar->outside) visit_scalar(Scalar(scalar->outside), seen, f);
  for (const Scalar& arg : scalar->args) visit_scalar(arg, seen, f);
}

void visit_index(const Index& index, std::set<const ScalarNode*>& seen,
                 const std::function<void(const ScalarNode&)>& f) {
  for (const IndexTerm& term : index.terms()) {
    visit_index(term.atom->left, seen, f);
    visit_index(term.atom->right, seen, f);
    if (term.atom->read) visit_scalar(Scalar(term.atom->read), seen, f);
  }
}

// Reads of boxes that are never left lose their outside value.
Scalar drop_guards(const Scalar& scalar, const TensorProgram& program, IndexFacts& facts) {
  if (!scalar.valid()) return scalar;
  const ScalarNode& node = *scalar;
  if (node.kind == ScalarNode::Kind::kRead && node.outside && node.tensor >= 0) {
    const std::vector<int64_t>& dims = program.tensors[static_cast<size_t>(node.tensor)].dims;
    bool inside = true;
    for (size_t i = 0; inside && i < dims.size(); ++i)
      inside = facts.within(node.indices[i], 0, dims[i] - 1);
    return inside ? Scalar::read(node.type, node.tensor, node.indices) : scalar;
  }
  if (node.kind != ScalarNode::Kind::kApply) return scalar;
  std::vector<Scalar> args;
  bool changed = false;
  for (const Scalar& arg : node.args) {
    args.push_back(drop_guards(arg, program, facts));
    changed = changed || args.back().node() != arg.node();
  }
  if (!changed) return scalar;
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
    return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
  return Scalar::apply(node.fn, std::move(args));
}

}  // namespace

int64_t ProgramTensor::count() const {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

void visit(const Scalar& scalar, const std::function<void(const ScalarNode&)>& f) {
  std::set<const ScalarNode*> seen;
  visit_scalar(scalar, seen, f);
}

void visit_reads(const Op& op, const std::function<void(const ScalarNode&)>& f) {
  std::set<const ScalarNode*> seen;
  const auto only_reads = [&](const ScalarNode& node) {
    if (node.kind == ScalarNode::Kind::kRead && node.tensor != kAccumulator) f(node);
  };
  visit_scalar(op.body, seen, only_reads);
  for (const Op::Write& write : op.writes) {
    visit_scalar(write.value, seen, only_reads);
    visit_scalar(write.condition, seen, only_reads);
    visit_scalar(write.inner, seen, only_reads);
    for (const Index& index : write.at) visit_index(index, seen, only_reads);
  }
}

std::vector<int> read_by(const Op& op) {
  std::set<int> found;
  if (op.scan) {
    for (const Op& inner : op.scan->ops)
      found.merge([&] {
        const std::vector<int> ids = read_by(inner);
        return std::set<int>(ids.begin(), ids.end());
      }());
    for (const Op::Scan::Carried& carried : op.scan->carried) {
      found.insert(carried.init);
      found.insert(carried.next);
    }
  }
  for (const int id : op.host_inputs)
    if (id >= 0) found.insert(id);
  visit_reads(op, [&](const ScalarNode& node) { found.insert(node.tensor); });
  return {found.begin(), found.end()};
}

std::vector<int> written_by(const Op& op) {
  std::vector<int> found;
  if (op.scan) {
    for (const Op& inner : op.scan->ops) {
      const std::vector<int> ids = written_by(inner);
      found.insert(found.end(), ids.begin(), ids.end());
    }
    for (const Op::Scan::Carried& carried : op.scan->carried) found.push_back(carried.final);
  }
  for (const int id : op.host_outputs)
    if (id >= 0) found.push_back(id);
  for (const Op::Write& write : op.writes) found.push_back(write.tensor);
  return found;
}

void map_scalars(Op& op, const std::function<Scalar(const Scalar&)>& f) {
  if (op.body.valid()) op.body = f(op.body);
  for (Op::Write& write : op.writes) {
    write.value = f(write.value);
    if (write.condition.valid()) write.condition = f(write.condition);
    if (write.inner.valid()) write.inner = f(write.inner);
  }
}

void simplify(Op& op, const TensorProgram& program) {
  if (!op.is_plain()) return;
  IndexFacts facts({op.extents.begin(), op.extents.end()}, {op.steps.begin(), op.steps.end()});
  map_scalars(op, [&](const Scalar& scalar) {
    return drop_guards(facts.simplify(scalar, nullptr), program, facts);
  });
  for (Op::Write& write : op.writes)
    for (Index& index : write.at) index = facts.simplify(index);
}

Result<Buffer> evaluate(const TensorProgram& program, const Op& op) {
  TensorExpr expr;
  std::map<int, int> numbers;
  std::vector<Buffer> operands;
  for (const int id : read_by(op)) {
    const ProgramTensor& tensor = program.tensors[static_cast<size_t>(id)];
    HONE_CHECK(tensor.kind == ProgramTensor::Kind::kConstant, "operands are constant");
    numbers[id] = static_cast<int>(expr.tensors.size());
    expr.tensors.push_back({"c", tensor.type, to_shape(tensor.dims)});
    operands.push_back(tensor.constant.aligned());
  }
  expr.operand_count = static_cast<int>(expr.tensors.size());
  expr.tables = program.tables;
  Substitution how;
  how.tensor = [&](int id) { return id == kAccumulator ? expr.operand_count : numbers.at(id); };
  Stage stage;
  for (size_t i = 0; i < op.extents.size(); ++i)
    (i < op.outputs ? stage.axes : stage.reduce).push_back({"i", op.extents[i]});
  Shape extents;
  for (const Axis& axis : stage.axes) extents.push_back(axis.extent);
  HONE_CHECK(op.writes.size() == 1, "one result");
  const auto add = [&](Stage& s, ElementType type) {
    s.result = static_cast<int>(expr.tensors.size());
    expr.tensors.push_back({"r", type, extents});
    expr.stages.push_back(s);
    expr.outputs = {s.result};
  };
  if (op.reduces()) {
    stage.combiner = op.combiner;
    stage.body = substitute(op.body, how);
    add(stage, op.combiner >= Combiner::kArgMaxFirst ? ElementType::kI64 : op.body.type());
    stage.reduce.clear();
    stage.combiner = Combiner::kNone;
  }
  // The accumulator is the stage just defined, read at the same point.
  const std::function<Scalar(const Scalar&)> place = [&](const Scalar& scalar) -> Scalar {
    const ScalarNode& node = *scalar;
    if (node.kind == ScalarNode::Kind::kRead && node.tensor == kAccumulator) {
      std::vector<Index> at;
      for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(axis_id(i));
      return Scalar::read(node.type, expr.operand_count, std::move(at));
    }
    if (node.kind == ScalarNode::Kind::kRead) return substitute(scalar, how);
    if (node.kind != ScalarNode::Kind::kApply) return scalar;
    std::vector<Scalar> args;
    for (const Scalar& arg : node.args) args.push_back(place(arg));
    if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
      return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
    return Scalar::apply(node.fn, std::move(args));
  };
  stage.body = place(op.writes[0].value);
  add(stage, stage.body.type());
  Result<std::vector<Buffer>> result = hone::evaluate(expr, operands);
  if (!result) return std::unexpected(std::move(result.error()));
  return std::move((*result)[0]);
}

}  // namespace hone
