#include "expr/builder.h"

#include <algorithm>

#include "support/check.h"

namespace hone {
namespace {

// Axes of a builder have ids that no stage uses, so that a forgotten renaming is noticed.
constexpr int kBuilderAxisBase = 1 << 20;

}  // namespace

ElementType Operand::type() const { return builder_->expr_.tensors[static_cast<size_t>(id_)].type; }

const Shape& Operand::shape() const {
  return builder_->expr_.tensors[static_cast<size_t>(id_)].shape;
}

const Dim& Operand::dim(int axis) const { return shape().at(static_cast<size_t>(axis)); }

Scalar Operand::at(std::vector<Index> indices) const {
  HONE_CHECK(indices.size() == shape().size(), "a read has another rank than its tensor");
  return Scalar::read(type(), id_, std::move(indices));
}

Scalar Operand::at(const Axes& axes) const {
  return at(std::vector<Index>(axes.begin(), axes.end()));
}

Scalar Operand::at_or(std::vector<Index> indices, Literal outside) const {
  HONE_CHECK(indices.size() == shape().size(), "a read has another rank than its tensor");
  return Scalar::read_or(type(), id_, std::move(indices), Scalar::literal(type(), outside));
}

Operand Builder::operand(std::string name, ElementType type, Shape shape) {
  HONE_CHECK(expr_.operand_count == static_cast<int>(expr_.tensors.size()),
             "operands come before stages");
  ++expr_.operand_count;
  return define(std::move(name), type, std::move(shape));
}

AxisId Builder::axis(std::string name, Dim extent) {
  if (extent.is_const() && extent.value() < 0)
    throw_invalid("axis " + name + " has the negative extent " + extent.to_string());
  axes_.push_back({std::move(name), std::move(extent)});
  return {kBuilderAxisBase + static_cast<int>(axes_.size()) - 1};
}

Axes Builder::axes(const std::string& prefix, const Shape& extents) {
  Axes result;
  for (size_t i = 0; i < extents.size(); ++i)
    result.push_back(axis(prefix + std::to_string(i), extents[i]));
  return result;
}

TableId Builder::index_table(std::string name, std::vector<int64_t> entries) {
  expr_.tables.push_back({std::move(name), std::move(entries), {}});
  return {static_cast<int>(expr_.tables.size()) - 1};
}

TableId Builder::literal_table(std::string name, std::vector<Literal> entries) {
  expr_.tables.push_back({std::move(name), {}, std::move(entries)});
  return {static_cast<int>(expr_.tables.size()) - 1};
}

const Dim& Builder::extent(AxisId axis) const {
  return axes_.at(static_cast<size_t>(axis.value - kBuilderAxisBase)).extent;
}

Operand Builder::define(std::string name, ElementType type, Shape shape) {
  expr_.tensors.push_back({std::move(name), type, std::move(shape)});
  return Operand(this, static_cast<int>(expr_.tensors.size()) - 1);
}

std::vector<Axis> Builder::declare(const Axes& axes) {
  std::vector<Axis> result;
  for (const AxisId axis : axes)
    result.push_back(axes_.at(static_cast<size_t>(axis.value - kBuilderAxisBase)));
  return result;
}

Stage& Builder::add_stage(const Axes& axes, const Axes& reduce) {
  std::vector<Stage>& into = open_scans_.empty() ? expr_.stages : open_scans_.back().stage.inner;
  Stage& stage = into.emplace_back();
  stage.axes = declare(axes);
  stage.reduce = declare(reduce);
  return stage;
}

Substitution Builder::local_names(const Axes& axes, const Axes& reduce) {
  Substitution how;
  how.axis = [this, &axes, &reduce](AxisId axis) -> Index {
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] == axis) return AxisId{static_cast<int>(i)};
    for (size_t i = 0; i < reduce.size(); ++i)
      if (reduce[i] == axis) return AxisId{static_cast<int>(axes.size() + i)};
    for (size_t i = 0; i < open_scans_.size(); ++i)
      if (open_scans_[open_scans_.size() - 1 - i].step == axis)
        return AxisId{-1 - static_cast<int>(i)};
    check_failed(__FILE__, __LINE__, "axis", "a stage uses an axis that is not its own");
  };
  return how;
}

Scalar Builder::localise(const Scalar& scalar, const Axes& axes, const Axes& reduce) {
  return substitute(scalar, local_names(axes, reduce));
}

Index Builder::localise(const Index& index, const Axes& axes, const Axes& reduce) {
  return substitute(index, local_names(axes, reduce));
}

Operand Builder::map(std::string name, const Axes& axes, const Scalar& body) {
  return reduce(std::move(name), axes, Combiner::kNone, {}, body);
}

Operand Builder::reduce(std::string name, const Axes& axes, Combiner combiner, const Axes& over,
                        const Scalar& body) {
  Shape shape;
  for (const AxisId axis : axes) shape.push_back(extent(axis));
  const bool position = combiner >= Combiner::kArgMaxFirst;
  const bool logical = combiner == Combiner::kAnd || combiner == Combiner::kOr;
  if (logical && body.type() != ElementType::kBool)
    throw_invalid("a logical reduction needs boolean operands");
  const Scalar local = localise(body, axes, over);
  const Operand result = define(std::move(name), position ? ElementType::kI64 : body.type(), shape);
  Stage& stage = add_stage(axes, over);
  stage.result = result.id();
  stage.combiner = over.empty() && !position ? Combiner::kNone : combiner;
  stage.body = local;
  return result;
}

Operand Builder::scatter(std::string name, const Axes& axes, const Scalar& base, Combiner combiner,
                         const Axes& over, std::vector<Index> target, const Scalar& update) {
  Shape shape;
  for (const AxisId axis : axes) shape.push_back(extent(axis));
  const Operand result = define(std::move(name), base.type(), shape);
  const Scalar local_base = localise(base, axes, over);
  const Scalar local_update = localise(update, axes, over);
  for (Index& index : target) index = localise(index, axes, over);
  Stage& stage = add_stage(axes, over);
  stage.kind = Stage::Kind::kScatter;
  stage.result = result.id();
  stage.combiner = combiner;
  stage.body = local_base;
  stage.update = local_update;
  stage.target = std::move(target);
  return result;
}

AxisId Builder::begin_scan(std::string name, Dim extent) {
  OpenScan scan;
  scan.step = axis(name, extent);
  scan.stage.kind = Stage::Kind::kScan;
  scan.stage.step = {std::move(name), std::move(extent)};
  open_scans_.push_back(std::move(scan));
  return open_scans_.back().step;
}

Operand Builder::carry(std::string name, const Operand& init) {
  HONE_CHECK(!open_scans_.empty(), "carry outside a scan");
  const ElementType type = init.type();
  const Shape shape = init.shape();
  const Operand state = define(std::move(name), type, shape);
  open_scans_.back().stage.carried.push_back({state.id(), init.id(), -1, -1});
  return state;
}

void Builder::set_next(const Operand& state, const Operand& next) {
  HONE_CHECK(!open_scans_.empty(), "set_next outside a scan");
  for (Stage::Carried& carried : open_scans_.back().stage.carried)
    if (carried.state == state.id()) carried.next = next.id();
}

Operand Builder::collect(std::string name, const Operand& source) {
  HONE_CHECK(!open_scans_.empty(), "collect outside a scan");
  Stage& scan = open_scans_.back().stage;
  Shape shape = source.shape();
  shape.insert(shape.begin(), scan.step.extent);
  const Operand result = define(std::move(name), source.type(), std::move(shape));
  scan.collected.push_back({source.id(), result.id()});
  return result;
}

Operand Builder::final_value(std::string name, const Operand& state) {
  HONE_CHECK(!open_scans_.empty(), "final_value outside a scan");
  const ElementType type = state.type();
  const Shape shape = state.shape();
  const Operand result = define(std::move(name), type, shape);
  for (Stage::Carried& carried : open_scans_.back().stage.carried)
    if (carried.state == state.id()) carried.final = result.id();
  return result;
}

void Builder::end_scan() {
  HONE_CHECK(!open_scans_.empty(), "end_scan without begin_scan");
  Stage stage = std::move(open_scans_.back().stage);
  open_scans_.pop_back();
  (open_scans_.empty() ? expr_.stages : open_scans_.back().stage.inner).push_back(std::move(stage));
}

void Builder::require_equal(const Dim& a, const Dim& b, std::string what) {
  if (a == b) return;
  if (a.is_const() && b.is_const())
    throw_invalid(what + " differ: " + a.to_string() + " and " + b.to_string());
  DimEquality equality{a, b, std::move(what)};
  if (std::find(expr_.equalities.begin(), expr_.equalities.end(), equality) ==
      expr_.equalities.end())
    expr_.equalities.push_back(std::move(equality));
}

TensorExpr Builder::finish(const std::vector<Operand>& outputs) {
  HONE_CHECK(open_scans_.empty(), "a scan was not ended");
  for (const Operand& output : outputs) expr_.outputs.push_back(output.id());
  const Errors problems = verify(expr_);
  HONE_CHECK(problems.empty(), problems.front().to_string());
  return std::move(expr_);
}

}  // namespace hone
