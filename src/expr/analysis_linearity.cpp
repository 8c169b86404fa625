// Linearity by abstract interpretation: each scalar and tensor is known to be zero, free of the
// operand, linear in it, affine, or neither.
#include <algorithm>
#include <unordered_map>

#include "expr/analysis.h"

namespace hone {
namespace {

enum class Form : uint8_t { kZero, kFree, kLinear, kAffine, kOther };

bool depends(Form form) { return form >= Form::kLinear; }

// The form of a sum, and of a choice between two values.
Form join(Form a, Form b) {
  if (a == Form::kZero) return b;
  if (b == Form::kZero) return a;
  if (a == b) return a;
  return std::max({a, b, Form::kAffine});
}

Form product(Form a, Form b) {
  if (a == Form::kZero || b == Form::kZero) return Form::kZero;
  if (a == Form::kFree) return b;
  if (b == Form::kFree) return a;
  return Form::kOther;
}

// A function of which nothing is known.
Form opaque(Form a) { return depends(a) ? Form::kOther : Form::kFree; }

bool widens(ElementType from, ElementType to) {
  if (is_float(from) && is_float(to)) {
    const auto standard = [](ElementType t) { return t <= ElementType::kBF16; };
    return to == ElementType::kF64 || (to == ElementType::kF32 && from != ElementType::kF64) ||
           (standard(to) && !standard(from));
  }
  const bool same_sign = is_signed_int(from) == is_signed_int(to);
  return is_integer(from) && is_integer(to) && same_sign && bits_of(to) >= bits_of(from);
}

class LinearityAnalysis {
 public:
  LinearityAnalysis(const TensorExpr& expr, int operand)
      : expr_(expr), tensors_(expr.tensors.size(), Form::kFree) {
    tensors_[static_cast<size_t>(operand)] = Form::kLinear;
    for (const Stage& stage : expr.stages) visit(stage);
  }

  Linearity outputs() const {
    Form all = Form::kZero;
    for (const int output : expr_.outputs) all = join(all, form(output));
    switch (all) {
      case Form::kZero:
      case Form::kFree:
        return Linearity::kIndependent;
      case Form::kLinear:
        return Linearity::kLinear;
      case Form::kAffine:
        return Linearity::kAffine;
      case Form::kOther:
        break;
    }
    return Linearity::kNonlinear;
  }

 private:
  [[nodiscard]] Form form(int tensor) const { return tensors_[static_cast<size_t>(tensor)]; }
  void set(int tensor, Form form) { tensors_[static_cast<size_t>(tensor)] = form; }

  void visit(const Stage& stage) {
    if (stage.kind == Stage::Kind::kScan) return visit_scan(stage);
    done_.clear();
    const Form body = of(*stage.body);
    if (stage.kind == Stage::Kind::kMap) {
      const bool keeps = stage.combiner == Combiner::kNone || stage.combiner == Combiner::kSum;
      return set(stage.result, keeps ? body : opaque(body));
    }
    const bool keeps = stage.combiner == Combiner::kNone || stage.combiner == Combiner::kSum;
    Form result = join(body, of(*stage.update));
    for (const Index& index : stage.target)
      if (moves(index)) result = Form::kOther;
    set(stage.result, keeps ? result : opaque(result));
  }

  // The state of a step is the first one or the one after another step: iterate to a fixed point.
  void visit_scan(const Stage& scan) {
    for (const Stage::Carried& c : scan.carried) set(c.state, form(c.init));
    for (bool changed = true; changed;) {
      changed = false;
      for (const Stage& inner : scan.inner) visit(inner);
      for (const Stage::Carried& c : scan.carried) {
        const Form both = join(form(c.state), form(c.next));
        changed = changed || both != form(c.state);
        set(c.state, both);
      }
    }
    for (const Stage::Carried& c : scan.carried)
      if (c.final != -1) set(c.final, form(c.state));
    for (const Stage::Collected& c : scan.collected) set(c.result, form(c.source));
  }

  // Does the operand decide where the index points?
  bool moves(const Index& index) {
    return std::ranges::any_of(index.terms(), [&](const IndexTerm& term) {
      const IndexAtom& atom = *term.atom;
      if (atom.kind == IndexAtom::Kind::kAxis) return false;
      return (atom.read && depends(of(*atom.read))) || moves(atom.left) || moves(atom.right);
    });
  }

  Form of(const ScalarNode& node) {
    if (const auto at = done_.find(&node); at != done_.end()) return at->second;
    return done_[&node] = compute(node);
  }

  Form compute(const ScalarNode& node) {
    switch (node.kind) {
      case ScalarNode::Kind::kLiteral:
        return node.literal.is_zero() ? Form::kZero : Form::kFree;
      case ScalarNode::Kind::kParameter:
        return Form::kFree;
      case ScalarNode::Kind::kIndex:
      case ScalarNode::Kind::kTable:
        return moves(node.index) ? Form::kOther : Form::kFree;
      case ScalarNode::Kind::kRead:
        return of_read(node);
      case ScalarNode::Kind::kApply:
        return of_apply(node);
    }
    return Form::kOther;
  }

  Form of_read(const ScalarNode& node) {
    if (std::ranges::any_of(node.indices, [&](const Index& index) { return moves(index); }))
      return Form::kOther;
    return node.outside ? join(form(node.tensor), of(*node.outside)) : form(node.tensor);
  }

  Form of_apply(const ScalarNode& node) {
    std::vector<Form> args;
    for (const Scalar& arg : node.args) args.push_back(of(*arg));
    switch (node.fn) {
      case Fn::kAdd:
      case Fn::kSub:
        return join(args[0], args[1]);
      case Fn::kNeg:
        return args[0];
      case Fn::kMul:
        return product(args[0], args[1]);
      case Fn::kDiv:  // rounds in integers
        if (depends(args[1]) || is_integer(node.type)) break;
        return args[0];
      case Fn::kSelect:
        return depends(args[0]) ? Form::kOther : join(args[1], args[2]);
      case Fn::kCast:
      case Fn::kCastWrap:
        if (widens(node.args[0].type(), node.type)) return args[0];
        break;
      default:
        break;
    }
    const bool any = std::ranges::any_of(args, depends);
    return any ? Form::kOther : Form::kFree;
  }

  const TensorExpr& expr_;
  std::vector<Form> tensors_;
  std::unordered_map<const ScalarNode*, Form> done_;  // of the stage at hand
};

}  // namespace

Linearity linearity_in(const TensorExpr& expr, int operand) {
  return LinearityAnalysis(expr, operand).outputs();
}

}  // namespace hone
