// Statements as stages.
#include <algorithm>

#include "expr/elaborator.h"

namespace hone {

Combiner Elaborator::combiner_of(const StatementSyntax& syntax) const {
  const bool scatter = syntax.update != nullptr;
  if (syntax.combiner.empty()) return Combiner::kNone;
  if (scatter && syntax.combiner == "add") return Combiner::kSum;
  if (scatter && syntax.combiner == "mul") return Combiner::kProduct;
  for (int i = 0; i <= static_cast<int>(Combiner::kArgMinLast); ++i)
    if (name_of(static_cast<Combiner>(i)) == syntax.combiner) return static_cast<Combiner>(i);
  fail(syntax.at, "unknown combiner " + name_text(syntax.combiner));
}

void Elaborator::declare_axis(const AxisSyntax& axis, AxisScope& scope, std::vector<Axis>& into) {
  if (scope.single.contains(axis.name) || scope.packs.contains(axis.name))
    fail(axis.at, "the stage has two axes " + name_text(axis.name));
  const Syntax same{.kind = axis.pack ? Syntax::Kind::kSpread : Syntax::Kind::kName,
                    .at = axis.at,
                    .text = axis.name};
  const Syntax& extent = axis.extent ? *axis.extent : same;
  if (!axis.pack) {
    const Dim dim = dim_of(extent);
    if (dim.is_const() && dim.value() < 0)
      fail(axis.at, "axis " + name_text(axis.name) + " has the negative extent " + dim.to_string());
    scope.single[axis.name] = {scope.count++};
    into.push_back({axis.name, dim});
    return;
  }
  if (extent.kind != Syntax::Kind::kSpread)
    fail(extent.at, "the extents of " + name_text(axis.name) + ".. are the dimensions of a name..");
  std::vector<AxisId>& pack = scope.packs[axis.name];
  for (const Dim& dim : dim_list_of(extent)) {
    into.push_back({axis.name + std::to_string(pack.size()), dim});
    pack.push_back({scope.count++});
  }
}

std::vector<Axis> Elaborator::declare_axes(const std::vector<AxisSyntax>& axes, AxisScope& scope) {
  std::vector<Axis> result;
  for (const AxisSyntax& axis : axes) declare_axis(axis, scope, result);
  return result;
}

Stage Elaborator::stage_of(const StatementSyntax& syntax) {
  Stage stage;
  stage.combiner = combiner_of(syntax);
  const bool position = stage.combiner >= Combiner::kArgMaxFirst;
  const ElementType type = type_of(syntax.type, syntax.at);
  AxisScope scope;  // extents see no axes of the stage itself
  stage.axes = declare_axes(syntax.axes, scope);
  stage.reduce = declare_axes(syntax.over, scope);
  axes_ = std::move(scope);
  stage.body = scalar_of(*syntax.body, position ? ExpectedType() : ExpectedType(type));
  if (!position && stage.body.type() != type)
    fail(syntax.body->at,
         name_text(syntax.name) + " has type " + std::string(name_of(type)) +
             ", but its body has type " + std::string(name_of(stage.body.type())),
         "cast the body: " + std::string(name_of(type)) + "(...)");
  if (syntax.update) {
    stage.kind = Stage::Kind::kScatter;
    stage.target = indices_of(syntax.target);
    stage.update = scalar_of(*syntax.update, type);
  }
  axes_ = {};
  Shape shape;
  for (const Axis& axis : stage.axes) shape.push_back(axis.extent);
  stage.result = declare(syntax.name, type, std::move(shape));
  make_visible(syntax.name, stage.result, syntax.at);
  return stage;
}

void Elaborator::add_carried(const StatementSyntax& syntax, Stage& scan) {
  const int init = tensor_of(syntax.source.name, syntax.source.at);
  Shape shape;
  for (const SyntaxRef& term : syntax.terms) {
    if (term->kind != Syntax::Kind::kSpread) {
      shape.push_back(dim_of(*term));
      continue;
    }
    const std::vector<Dim>& dims = dim_list_of(*term);
    shape.insert(shape.end(), dims.begin(), dims.end());
  }
  const int state = declare(syntax.name, type_of(syntax.type, syntax.at), std::move(shape));
  make_visible(syntax.name, state, syntax.at);
  scan.carried.push_back({state, init, -1, -1});
}

// next, final and collect: all tensors of the scan are known now.
void Elaborator::link_scan(const StatementSyntax& syntax, Stage& scan) {
  using Kind = StatementSyntax::Kind;
  if (syntax.kind == Kind::kCollect) {
    const int source = tensor_of(syntax.source.name, syntax.source.at);
    const auto at = std::ranges::find_if(scan.collected, [&](const Stage::Collected& collected) {
      return collected.source == -1 && pending_[collected.result] == syntax.name;
    });
    at->source = source;
    TensorDecl& decl = expr_.tensors[static_cast<size_t>(at->result)];
    const TensorDecl& each = expr_.tensors[static_cast<size_t>(source)];
    decl.type = each.type;
    decl.shape = each.shape;
    decl.shape.insert(decl.shape.begin(), scan.step.extent);
    return;
  }
  const NameSyntax state_name =
      syntax.kind == Kind::kNext ? NameSyntax{syntax.at, syntax.name} : syntax.source;
  const int state = tensor_of(state_name.name, state_name.at);
  const auto carried =
      std::ranges::find_if(scan.carried, [&](const Stage::Carried& c) { return c.state == state; });
  if (carried == scan.carried.end())
    fail(state_name.at, name_text(state_name.name) + " is not carried by this scan");
  if (syntax.kind == Kind::kNext) {
    if (carried->next != -1) fail(syntax.at, "the next value is given twice");
    carried->next = tensor_of(syntax.source.name, syntax.source.at);
    return;
  }
  if (carried->final != -1) fail(syntax.at, "the final value is named twice");
  for (const auto& [tensor, name] : pending_)
    if (name == syntax.name) carried->final = tensor;
  TensorDecl& decl = expr_.tensors[static_cast<size_t>(carried->final)];
  decl.type = expr_.tensors[static_cast<size_t>(state)].type;
  decl.shape = expr_.tensors[static_cast<size_t>(state)].shape;
}

Stage Elaborator::scan_of(const StatementSyntax& syntax) {
  using Kind = StatementSyntax::Kind;
  Stage scan;
  scan.kind = Stage::Kind::kScan;
  AxisScope scope;
  scan.step = declare_axes(syntax.axes, scope).at(0);
  steps_.push_back(syntax.axes[0].name);
  const std::map<std::string, int> outer = tensors_;
  const std::map<int, std::string> outer_pending = std::exchange(pending_, {});
  for (const StatementSyntax& statement : syntax.inner) {
    if (statement.kind == Kind::kCarry) add_carried(statement, scan);
    if (statement.kind == Kind::kStage) scan.inner.push_back(stage_of(statement));
    if (statement.kind == Kind::kScan) scan.inner.push_back(scan_of(statement));
    if (statement.kind != Kind::kFinal && statement.kind != Kind::kCollect) continue;
    const bool known = std::ranges::any_of(
        pending_, [&](const auto& entry) { return entry.second == statement.name; });
    if (known || tensors_.contains(statement.name))
      fail(statement.at, name_text(statement.name) + " is defined twice");
    const int tensor = declare(statement.name, ElementType::kInvalid, {});
    pending_[tensor] = statement.name;
    if (statement.kind == Kind::kCollect) scan.collected.push_back({-1, tensor});
  }
  for (const StatementSyntax& statement : syntax.inner)
    if (statement.kind >= Kind::kNext) link_scan(statement, scan);
  for (const Stage::Carried& carried : scan.carried)
    if (carried.next == -1)
      fail(syntax.at, expr_.tensors[static_cast<size_t>(carried.state)].name + " has no next value",
           "add: next name = tensor");
  steps_.pop_back();
  tensors_ = outer;
  for (const auto& [tensor, name] : std::exchange(pending_, outer_pending))
    make_visible(name, tensor, syntax.at);
  return scan;
}

void Elaborator::add_table(const StatementSyntax& syntax) {
  Table table{syntax.name, {}, {}};
  for (const SyntaxRef& term : syntax.terms) {
    if (syntax.kind == StatementSyntax::Kind::kLiteralTable) {
      table.literals.push_back(literal_of(*term));
      continue;
    }
    const Dim entry = dim_of(*term);
    if (!entry.is_const()) fail(term->at, "an entry of an index table must be a number");
    table.indices.push_back(entry.value());
  }
  const int id = static_cast<int>(expr_.tables.size());
  if (tensors_.contains(syntax.name) || !tables_.emplace(syntax.name, id).second)
    fail(syntax.at, name_text(syntax.name) + " is defined twice");
  expr_.tables.push_back(std::move(table));
}

}  // namespace hone
