#include <vector>

#include "expr/tensor_expr.h"

namespace hone {
namespace {

class Verifier {
 public:
  explicit Verifier(const TensorExpr& expr) : expr_(expr), defined_(expr.tensors.size(), false) {}

  Errors run() {
    const auto count = static_cast<int>(expr_.tensors.size());
    if (expr_.operand_count < 0 || expr_.operand_count > count) {
      report("", "more operands than tensors");
      return errors_;
    }
    for (int i = 0; i < expr_.operand_count; ++i) defined_[static_cast<size_t>(i)] = true;
    for (const Stage& stage : expr_.stages) check_stage(stage, 0);
    for (const int output : expr_.outputs)
      if (!is_defined(output)) report("outputs", "an output is not defined");
    return errors_;
  }

 private:
  void report(const std::string& where, std::string reason) {
    errors_.push_back({ErrorKind::kInvalid, where, std::move(reason), {}});
  }

  [[nodiscard]] bool in_range(int tensor) const {
    return tensor >= 0 && tensor < static_cast<int>(expr_.tensors.size());
  }
  [[nodiscard]] bool is_defined(int tensor) const {
    return in_range(tensor) && defined_[static_cast<size_t>(tensor)];
  }
  [[nodiscard]] const TensorDecl& decl(int tensor) const {
    return expr_.tensors[static_cast<size_t>(tensor)];
  }

  void define(const std::string& where, int tensor) {
    if (!in_range(tensor)) return report(where, "defines a tensor that is not declared");
    if (defined_[static_cast<size_t>(tensor)]) report(where, "defines a tensor twice");
    defined_[static_cast<size_t>(tensor)] = true;
  }

  void check_stage(const Stage& stage, int depth) {
    if (stage.kind == Stage::Kind::kScan) return check_scan(stage, depth);
    const std::string where = in_range(stage.result) ? decl(stage.result).name : "stage";
    depth_ = depth;
    where_ = where;
    if (!stage.body.valid()) return report(where, "has no body");
    const bool scatter = stage.kind == Stage::Kind::kScatter;
    axis_count_ = static_cast<int>(stage.axes.size() + (scatter ? 0 : stage.reduce.size()));
    check(stage.body);
    axis_count_ = static_cast<int>(stage.axes.size() + stage.reduce.size());
    if (scatter) {
      check_scatter(stage);
    } else {
      check_combiner(stage);
    }
    define(where, stage.result);
    if (in_range(stage.result)) check_result(stage);
  }

  void check_result(const Stage& stage) {
    const TensorDecl& result = decl(stage.result);
    const bool position = stage.combiner >= Combiner::kArgMaxFirst;
    if (result.type != (position ? ElementType::kI64 : stage.body.type()))
      report(where_, "its type is not that of its body");
    bool same = result.shape.size() == stage.axes.size();
    for (size_t i = 0; same && i < stage.axes.size(); ++i)
      same = result.shape[i] == stage.axes[i].extent;
    if (!same) report(where_, "its shape is not that of its axes");
  }

  void check_combiner(const Stage& stage) {
    const Combiner combiner = stage.combiner;
    if (combiner == Combiner::kNone && !stage.reduce.empty())
      report(where_, "has reduction axes but no combiner");
    if (combiner >= Combiner::kArgMaxFirst && stage.reduce.size() != 1)
      report(where_, "argmax and argmin take one reduction axis");
    const bool logical = combiner == Combiner::kAnd || combiner == Combiner::kOr;
    if (combiner != Combiner::kNone && logical != (stage.body.type() == ElementType::kBool))
      report(where_, "its combiner does not fit the body's type");
  }

  void check_scatter(const Stage& stage) {
    if (stage.combiner >= Combiner::kArgMaxFirst) report(where_, "cannot scatter by argmax");
    if (!stage.update.valid()) return report(where_, "a scatter without update");
    check(stage.update);
    for (const Index& index : stage.target) check(index);
    if (stage.target.size() != stage.axes.size()) report(where_, "target has another rank");
    if (stage.update.type() != stage.body.type()) report(where_, "update has another type");
  }

  void check_scan(const Stage& scan, int depth) {
    const std::string where = "scan " + scan.step.name;
    for (const Stage::Carried& c : scan.carried) {
      if (!is_defined(c.init)) report(where, "an initial state is not defined");
      define(where, c.state);
    }
    for (const Stage& inner : scan.inner) check_stage(inner, depth + 1);
    for (const Stage::Carried& c : scan.carried) {
      if (!is_defined(c.next)) {
        report(where, "a state has no next value");
        continue;
      }
      if (is_defined(c.init) && !same_type(c.init, c.state))
        report(where, "a state and its initial value differ in type");
      if (is_defined(c.state) && !same_type(c.next, c.state))
        report(where, "a state and its next value differ in type");
      if (c.final != -1) define(where, c.final);
    }
    for (const Stage::Collected& c : scan.collected) {
      if (!is_defined(c.source)) report(where, "collects what is not defined");
      define(where, c.result);
    }
  }

  [[nodiscard]] bool same_type(int a, int b) const {
    return decl(a).type == decl(b).type && decl(a).shape == decl(b).shape;
  }

  void check(const Scalar& scalar) {
    const ScalarNode& node = *scalar;
    switch (node.kind) {
      case ScalarNode::Kind::kLiteral:
      case ScalarNode::Kind::kParameter:
        return;
      case ScalarNode::Kind::kIndex:
        return check(node.index);
      case ScalarNode::Kind::kTable:
        check_table(node.table, false);
        return check(node.index);
      case ScalarNode::Kind::kRead:
        return check_read(node);
      case ScalarNode::Kind::kApply:
        for (const Scalar& arg : node.args) check(arg);
    }
  }

  void check_read(const ScalarNode& node) {
    for (const Index& index : node.indices) check(index);
    if (node.outside) check(Scalar(node.outside));
    if (!is_defined(node.tensor)) return report(where_, "reads a tensor that is not yet defined");
    if (decl(node.tensor).type != node.type)
      report(where_, "a read has another type than its tensor");
    if (decl(node.tensor).shape.size() != node.indices.size())
      report(where_, "a read has another rank than its tensor");
  }

  void check_table(TableId table, bool indices) {
    const int id = table.value;
    if (id < 0 || id >= static_cast<int>(expr_.tables.size()))
      return report(where_, "uses a table that is not declared");
    const Table& t = expr_.tables[static_cast<size_t>(id)];
    if (indices ? !t.literals.empty() : !t.indices.empty())
      report(where_, "uses table " + t.name + " as the other kind");
  }

  void check(const Index& index) {
    for (const IndexTerm& term : index.terms()) {
      const IndexAtom& atom = *term.atom;
      const bool axis = atom.kind == IndexAtom::Kind::kAxis;
      if (axis && (atom.axis.value < -depth_ || atom.axis.value >= axis_count_))
        report(where_, "uses an axis that the stage does not have");
      if (axis) continue;
      if (atom.kind == IndexAtom::Kind::kTable) check_table(atom.table, true);
      if (atom.read) check(Scalar(atom.read));
      check(atom.left);
      check(atom.right);
    }
  }

  const TensorExpr& expr_;
  std::vector<bool> defined_;
  Errors errors_;
  std::string where_;
  int axis_count_ = 0;
  int depth_ = 0;
};

}  // namespace

Errors verify(const TensorExpr& expr) { return Verifier(expr).run(); }

}  // namespace hone
