// Shape arithmetic: integer expressions of few elements, computed over symbolic dimensions.
#include <algorithm>

#include "expr/evaluate.h"
#include "support/error.h"

namespace hone {
namespace {

constexpr int64_t kMostElements = 256;
constexpr int64_t kMostPoints = 65536;

// What cannot be decided ends the evaluation of its stage.
struct Undecided {};

using Elements = std::optional<std::vector<Dim>>;

bool less_than(const Dim& a, const Dim& b) {
  if (is_at_least(b, a + Dim(1))) return true;
  if (is_at_least(a, b)) return false;
  throw Undecided{};
}

bool equals(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (is_at_least(a, b + Dim(1)) || is_at_least(b, a + Dim(1))) return false;
  throw Undecided{};
}

int64_t known(const Dim& dim) {
  if (!dim.is_const()) throw Undecided{};
  return dim.value();
}

std::vector<int64_t> known(const std::vector<Axis>& axes) {
  std::vector<int64_t> extents;
  for (const Axis& axis : axes) extents.push_back(known(axis.extent));
  return extents;
}

// Integer division truncates; that is floor where neither side is negative.
Dim divide(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return b.is(0) || b.is(-1) ? a * b : a.value() / b.value();
  if (!is_at_least(a, 0) || !is_at_least(b, 1)) throw Undecided{};
  return floor_div(a, b);
}

Dim modulo(const Dim& a, const Dim& b) {
  if (!is_at_least(b, 1)) throw Undecided{};
  return mod(a, b);
}

class DimEvaluator {
 public:
  DimEvaluator(const TensorExpr& expr, std::vector<Elements> tensors)
      : expr_(expr), tensors_(std::move(tensors)) {
    tensors_.resize(expr.tensors.size());
  }

  Elements run(size_t output) {
    for (const Stage& stage : expr_.stages) {
      if (stage.kind != Stage::Kind::kMap) continue;
      try {
        tensors_[static_cast<size_t>(stage.result)] = evaluate(stage);
      } catch (const Undecided&) {
      } catch (const Failure&) {  // a dimension overflows
      }
    }
    return tensors_[static_cast<size_t>(expr_.outputs[output])];
  }

 private:
  std::vector<Dim> evaluate(const Stage& stage) {
    if (!is_integer(stage.body.type()) && stage.body.type() != ElementType::kBool)
      throw Undecided{};
    const std::vector<int64_t> outputs = known(stage.axes), reductions = known(stage.reduce);
    int64_t count = 1, points = 1;
    for (const int64_t extent : outputs)
      if (__builtin_mul_overflow(count, extent, &count)) throw Undecided{};
    for (const int64_t extent : reductions)
      if (__builtin_mul_overflow(points, extent, &points)) throw Undecided{};
    if (count > kMostElements || points > kMostPoints || count * points > kMostPoints)
      throw Undecided{};
    std::vector<Dim> result;
    axes_.assign(outputs.size() + reductions.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
      place(i, outputs, 0);
      result.push_back(element(stage, reductions, points));
    }
    return result;
  }

  void place(int64_t number, const std::vector<int64_t>& extents, size_t first) {
    for (size_t d = extents.size(); d-- > 0; number /= extents[d])
      axes_[first + d] = number % extents[d];
  }

  Dim element(const Stage& stage, const std::vector<int64_t>& reductions, int64_t points) {
    if (stage.combiner == Combiner::kNone) return scalar(stage.body);
    std::optional<Dim> sum;
    if (stage.combiner == Combiner::kSum || stage.combiner == Combiner::kOr) sum = Dim(0);
    if (stage.combiner == Combiner::kProduct || stage.combiner == Combiner::kAnd) sum = Dim(1);
    for (int64_t p = 0; p < points; ++p) {
      place(p, reductions, stage.axes.size());
      const Dim value = scalar(stage.body);
      sum = sum ? combine(stage.combiner, *sum, value) : value;
    }
    if (!sum) throw Undecided{};
    return *sum;
  }

  static Dim combine(Combiner combiner, const Dim& a, const Dim& b) {
    switch (combiner) {
      case Combiner::kSum:
        return a + b;
      case Combiner::kProduct:
      case Combiner::kAnd:
        return a * b;
      case Combiner::kMax:
      case Combiner::kOr:
        return max(a, b);
      case Combiner::kMin:
        return min(a, b);
      default:
        throw Undecided{};
    }
  }

  Dim scalar(const Scalar& s) {
    switch (s->kind) {
      case ScalarNode::Kind::kLiteral:
        if (const auto value = s->literal.to_int()) return *value;
        throw Undecided{};
      case ScalarNode::Kind::kIndex:
        return index(s->index);
      case ScalarNode::Kind::kRead:
        return read(*s);
      case ScalarNode::Kind::kApply:
        return apply(*s);
      default:
        throw Undecided{};
    }
  }

  Dim read(const ScalarNode& node) {
    const Elements& elements = tensors_[static_cast<size_t>(node.tensor)];
    const Shape& shape = expr_.tensors[static_cast<size_t>(node.tensor)].shape;
    if (!elements) throw Undecided{};
    int64_t at = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t i = known(index(node.indices[d])), extent = known(shape[d]);
      if (i < 0 || i >= extent) {
        if (!node.outside) throw Undecided{};
        return scalar(Scalar(node.outside));
      }
      at = at * extent + i;
    }
    if (at >= static_cast<int64_t>(elements->size())) throw Undecided{};
    return (*elements)[static_cast<size_t>(at)];
  }

  Dim index(const Index& i) {
    Dim sum = i.offset();
    for (const IndexTerm& term : i.terms()) sum += term.coefficient * atom(*term.atom);
    return sum;
  }

  Dim atom(const IndexAtom& a) {
    switch (a.kind) {
      case IndexAtom::Kind::kAxis:
        if (a.axis.value < 0) throw Undecided{};
        return axes_[static_cast<size_t>(a.axis.value)];
      case IndexAtom::Kind::kFloorDiv:
        return floor_div(index(a.left), a.divisor);
      case IndexAtom::Kind::kMod:
        return mod(index(a.left), a.divisor);
      case IndexAtom::Kind::kMin:
        return min(index(a.left), index(a.right));
      case IndexAtom::Kind::kMax:
        return max(index(a.left), index(a.right));
      case IndexAtom::Kind::kTable: {
        const auto& entries = expr_.tables[static_cast<size_t>(a.table.value)].indices;
        const int64_t at = known(index(a.left));
        if (at < 0 || at >= static_cast<int64_t>(entries.size())) throw Undecided{};
        return entries[static_cast<size_t>(at)];
      }
      case IndexAtom::Kind::kValue:
        return scalar(Scalar(a.read));
    }
    throw Undecided{};
  }

  Dim apply(const ScalarNode& node) {
    const auto arg = [&](size_t i) { return scalar(node.args[i]); };
    switch (node.fn) {
      case Fn::kAdd:
        return arg(0) + arg(1);
      case Fn::kSub:
        return arg(0) - arg(1);
      case Fn::kMul:
        return arg(0) * arg(1);
      case Fn::kDiv:
        return divide(arg(0), arg(1));
      case Fn::kNeg:
        return -arg(0);
      case Fn::kAbs: {
        const Dim a = arg(0);
        return less_than(a, 0) ? -a : a;
      }
      case Fn::kMin:
        return min(arg(0), arg(1));
      case Fn::kMax:
        return max(arg(0), arg(1));
      case Fn::kMod:
        return modulo(arg(0), arg(1));
      case Fn::kFloor:
      case Fn::kCeil:
      case Fn::kRound:
      case Fn::kTrunc:
        return arg(0);
      case Fn::kEq:
        return int64_t{equals(arg(0), arg(1))};
      case Fn::kLt:
        return int64_t{less_than(arg(0), arg(1))};
      case Fn::kLe:
        return int64_t{!less_than(arg(1), arg(0))};
      case Fn::kAnd:
        return arg(0) * arg(1);
      case Fn::kOr:
        return max(arg(0), arg(1));
      case Fn::kXor:
        return int64_t{!equals(arg(0), arg(1))};
      case Fn::kNot:
        return Dim(1) - arg(0);
      case Fn::kSelect:
        return known(arg(0)) != 0 ? arg(1) : arg(2);
      case Fn::kCast:
      case Fn::kCastWrap:
        return cast(node, arg(0));
      default:
        throw Undecided{};
    }
  }

  // Dimensions are taken to fit every integer type that shapes are computed in.
  static Dim cast(const ScalarNode& node, const Dim& value) {
    if (node.type == ElementType::kBool) return int64_t{!equals(value, 0)};
    const int64_t most = int64_t{1} << (std::min(bits_of(node.type), 63) - 1);
    const bool fits = bits_of(node.type) >= 32 ||
                      (value.is_const() && value.value() >= 0 && value.value() < most);
    if (!is_integer(node.type) || !fits) throw Undecided{};
    return value;
  }

  const TensorExpr& expr_;
  std::vector<Elements> tensors_;
  std::vector<int64_t> axes_;
};

}  // namespace

std::optional<std::vector<Dim>> evaluate_dims(const TensorExpr& expr, size_t output,
                                              const std::vector<Elements>& operands) {
  return DimEvaluator(expr, operands).run(output);
}

}  // namespace hone
