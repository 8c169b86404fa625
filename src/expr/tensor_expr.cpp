#include "expr/tensor_expr.h"

#include <algorithm>
#include <array>

#include "support/hash.h"

namespace hone {

std::string_view name_of(Combiner combiner) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "set", "sum",    "product",     "max",    "min",        "and",
      "or",  "argmax", "argmax_last", "argmin", "argmin_last"};
  return kNames[static_cast<size_t>(combiner)];
}

namespace {

uint64_t hash_axes(uint64_t h, const std::vector<Axis>& axes) {
  h = combine_hash(h, axes.size());
  for (const Axis& axis : axes) h = combine_hash(h, axis.extent.hash());
  return h;
}

uint64_t hash_stage(uint64_t h, const Stage& stage) {
  h = combine_hash(h, static_cast<uint64_t>(stage.kind));
  h = combine_hash(h, static_cast<uint64_t>(stage.result));
  h = hash_axes(hash_axes(h, stage.axes), stage.reduce);
  h = combine_hash(h, static_cast<uint64_t>(stage.combiner));
  if (stage.body.valid()) h = combine_hash(h, stage.body->hash);
  if (stage.update.valid()) h = combine_hash(h, stage.update->hash);
  for (const Index& index : stage.target) h = combine_hash(h, index.hash());
  h = combine_hash(h, stage.step.extent.hash());
  for (const Stage& inner : stage.inner) h = hash_stage(h, inner);
  for (const Stage::Carried& c : stage.carried)
    for (const int id : {c.state, c.init, c.next, c.final})
      h = combine_hash(h, static_cast<uint64_t>(id));
  for (const Stage::Collected& c : stage.collected)
    for (const int id : {c.source, c.result}) h = combine_hash(h, static_cast<uint64_t>(id));
  return h;
}

bool same_axes(const std::vector<Axis>& a, const std::vector<Axis>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Axis& x, const Axis& y) { return x.extent == y.extent; });
}

bool same_stage(const Stage& a, const Stage& b) {
  const auto same_carried = [](const Stage::Carried& x, const Stage::Carried& y) {
    return x.state == y.state && x.init == y.init && x.next == y.next && x.final == y.final;
  };
  const auto same_collected = [](const Stage::Collected& x, const Stage::Collected& y) {
    return x.source == y.source && x.result == y.result;
  };
  return a.kind == b.kind && a.result == b.result && same_axes(a.axes, b.axes) &&
         same_axes(a.reduce, b.reduce) && a.combiner == b.combiner && a.body == b.body &&
         a.target == b.target && a.update == b.update && a.step.extent == b.step.extent &&
         std::equal(a.inner.begin(), a.inner.end(), b.inner.begin(), b.inner.end(), same_stage) &&
         std::equal(a.carried.begin(), a.carried.end(), b.carried.begin(), b.carried.end(),
                    same_carried) &&
         std::equal(a.collected.begin(), a.collected.end(), b.collected.begin(), b.collected.end(),
                    same_collected);
}

}  // namespace

uint64_t TensorExpr::hash() const {
  uint64_t h = combine_hash(static_cast<uint64_t>(operand_count), tensors.size());
  for (const TensorDecl& tensor : tensors) {
    h = combine_hash(h, static_cast<uint64_t>(tensor.type));
    for (const Dim& dim : tensor.shape) h = combine_hash(h, dim.hash());
  }
  for (const Table& table : tables) {
    for (const int64_t entry : table.indices) h = combine_hash(h, static_cast<uint64_t>(entry));
    for (const Literal& entry : table.literals) h = combine_hash(h, entry.hash());
  }
  for (const Stage& stage : stages) h = hash_stage(h, stage);
  for (const int output : outputs) h = combine_hash(h, static_cast<uint64_t>(output));
  for (const DimEquality& e : equalities)
    h = combine_hash(combine_hash(h, e.left.hash()), e.right.hash());
  return h;
}

bool operator==(const TensorExpr& a, const TensorExpr& b) {
  const auto same_decl = [](const TensorDecl& x, const TensorDecl& y) {
    return x.type == y.type && x.shape == y.shape;
  };
  const auto same_table = [](const Table& x, const Table& y) {
    return x.indices == y.indices && x.literals == y.literals;
  };
  return a.operand_count == b.operand_count && a.outputs == b.outputs &&
         a.equalities == b.equalities &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    same_decl) &&
         std::equal(a.tables.begin(), a.tables.end(), b.tables.begin(), b.tables.end(),
                    same_table) &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same_stage);
}

namespace {

void replace(std::vector<Axis>& axes, const std::map<std::string, Dim>& values) {
  for (Axis& axis : axes) axis.extent = axis.extent.substitute(values);
}

void replace(Stage& stage, const Substitution& how) {
  replace(stage.axes, *how.symbols);
  replace(stage.reduce, *how.symbols);
  stage.step.extent = stage.step.extent.substitute(*how.symbols);
  if (stage.body.valid()) stage.body = substitute(stage.body, how);
  if (stage.update.valid()) stage.update = substitute(stage.update, how);
  for (Index& index : stage.target) index = substitute(index, how);
  for (Stage& inner : stage.inner) replace(inner, how);
}

}  // namespace

TensorExpr substitute_symbols(const TensorExpr& expr, const std::map<std::string, Dim>& values) {
  TensorExpr result = expr;
  Substitution how;
  how.symbols = &values;
  for (TensorDecl& tensor : result.tensors)
    for (Dim& dim : tensor.shape) dim = dim.substitute(values);
  for (Stage& stage : result.stages) replace(stage, how);
  for (DimEquality& e : result.equalities) {
    e.left = e.left.substitute(values);
    e.right = e.right.substitute(values);
  }
  return result;
}

}  // namespace hone
