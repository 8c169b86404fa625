#include "helpers/naive_evaluate.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace hone::test {
namespace {

class Walker {
 public:
  Walker(const TensorExpr& expr, const std::vector<NaiveTensor>& operands)
      : expr_(expr), tensors_(operands) {
    tensors_.resize(expr.tensors.size());
    for (size_t t = operands.size(); t < tensors_.size(); ++t) {
      int64_t count = 1;
      for (const Dim& dim : expr.tensors[t].shape) {
        tensors_[t].dims.push_back(dim.value());
        count *= dim.value();
      }
      tensors_[t].values.resize(static_cast<size_t>(count));
    }
  }

  void run(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) {
      if (stage.kind == Stage::Kind::kScan)
        scan(stage);
      else if (stage.kind == Stage::Kind::kScatter)
        scatter(stage);
      else
        map(stage);
    }
  }
  NaiveTensor& tensor(int id) { return tensors_[static_cast<size_t>(id)]; }

 private:
  // Calls f at every point of the axes, which take the ids from `first`.
  template <typename F>
  void for_all(const std::vector<Axis>& axes, size_t first, F&& f) {
    int64_t count = 1;
    for (const Axis& axis : axes) count *= axis.extent.value();
    axes_.resize(std::max(axes_.size(), first + axes.size()));
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      for (size_t d = axes.size(); d-- > 0; rest /= axes[d].extent.value())
        axes_[first + d] = rest % axes[d].extent.value();
      f(i);
    }
  }

  void map(const Stage& stage) {
    for_all(stage.axes, 0, [&](int64_t i) {
      double result = identity(stage.combiner);
      int64_t position = -1;
      if (stage.combiner == Combiner::kNone)
        result = scalar(*stage.body);
      else
        for_all(stage.reduce, stage.axes.size(), [&](int64_t r) {
          const double value = scalar(*stage.body);
          if (stage.combiner < Combiner::kArgMaxFirst) {
            result = combine(stage.combiner, result, value);
          } else if (position < 0 || beats(stage.combiner, value, result)) {
            result = value;
            position = r;
          }
        });
      if (stage.combiner >= Combiner::kArgMaxFirst) result = static_cast<double>(position);
      tensor(stage.result).values[static_cast<size_t>(i)] = result;
    });
  }

  void scatter(const Stage& stage) {
    NaiveTensor& result = tensor(stage.result);
    for_all(stage.axes, 0,
            [&](int64_t i) { result.values[static_cast<size_t>(i)] = scalar(*stage.body); });
    for_all(stage.reduce, stage.axes.size(), [&](int64_t) {
      int64_t at = 0;
      for (size_t d = 0; d < stage.target.size(); ++d) {
        const int64_t target = index(stage.target[d]);
        if (target < 0 || target >= result.dims[d]) return;
        at = at * result.dims[d] + target;
      }
      double& to = result.values[static_cast<size_t>(at)];
      to = combine(stage.combiner, to, scalar(*stage.update));
    });
  }

  void scan(const Stage& stage) {
    for (const auto& c : stage.carried) tensor(c.state) = tensor(c.init);
    steps_.insert(steps_.begin(), 0);
    for (int64_t step = 0; step < stage.step.extent.value(); ++step) {
      steps_[0] = step;
      run(stage.inner);
      for (const auto& c : stage.collected) {
        const auto& source = tensor(c.source).values;
        std::copy(source.begin(), source.end(),
                  tensor(c.result).values.begin() + step * static_cast<int64_t>(source.size()));
      }
      std::vector<NaiveTensor> next;
      for (const auto& c : stage.carried) next.push_back(tensor(c.next));
      for (size_t i = 0; i < next.size(); ++i) tensor(stage.carried[i].state) = next[i];
    }
    steps_.erase(steps_.begin());
    for (const auto& c : stage.carried) tensor(c.final) = tensor(c.state);
  }

  static double identity(Combiner combiner) {
    switch (combiner) {
      case Combiner::kProduct:
      case Combiner::kAnd:
        return 1;
      case Combiner::kMax:
        return -std::numeric_limits<double>::infinity();
      case Combiner::kMin:
        return std::numeric_limits<double>::infinity();
      default:
        return 0;
    }
  }
  static double combine(Combiner combiner, double a, double b) {
    switch (combiner) {
      case Combiner::kNone:
        return b;
      case Combiner::kSum:
        return a + b;
      case Combiner::kProduct:
        return a * b;
      case Combiner::kMax:
      case Combiner::kOr:
        return std::max(a, b);
      default:
        return std::min(a, b);
    }
  }
  static bool beats(Combiner combiner, double value, double best) {
    switch (combiner) {
      case Combiner::kArgMaxFirst:
        return value > best;
      case Combiner::kArgMaxLast:
        return value >= best;
      case Combiner::kArgMinFirst:
        return value < best;
      default:
        return value <= best;
    }
  }

  double scalar(const ScalarNode& node) {
    switch (node.kind) {
      case ScalarNode::Kind::kLiteral:
        return node.literal.to_double();
      case ScalarNode::Kind::kIndex:
        return static_cast<double>(index(node.index));
      case ScalarNode::Kind::kTable:
        return expr_.tables[static_cast<size_t>(node.table.value)]
            .literals.at(static_cast<size_t>(index(node.index)))
            .to_double();
      case ScalarNode::Kind::kRead:
        return read(node);
      case ScalarNode::Kind::kApply:
        return apply(node);
      default:
        throw std::logic_error("not in the oracle");
    }
  }

  double read(const ScalarNode& node) {
    const NaiveTensor& from = tensor(node.tensor);
    int64_t at = 0;
    for (size_t d = 0; d < node.indices.size(); ++d) {
      const int64_t i = index(node.indices[d]);
      if (i < 0 || i >= from.dims[d]) {
        if (!node.outside) throw std::logic_error("read outside");
        return scalar(*node.outside);
      }
      at = at * from.dims[d] + i;
    }
    return from.values[static_cast<size_t>(at)];
  }

  int64_t index(const Index& i) {
    int64_t sum = i.offset().value();
    for (const IndexTerm& term : i.terms()) sum += term.coefficient.value() * atom(*term.atom);
    return sum;
  }
  int64_t atom(const IndexAtom& a) {
    switch (a.kind) {
      case IndexAtom::Kind::kAxis:
        return a.axis.value < 0 ? steps_[static_cast<size_t>(-a.axis.value - 1)]
                                : axes_[static_cast<size_t>(a.axis.value)];
      case IndexAtom::Kind::kFloorDiv:
        return floor_div(index(a.left), a.divisor.value());
      case IndexAtom::Kind::kMod:
        return floor_mod(index(a.left), a.divisor.value());
      case IndexAtom::Kind::kMin:
        return std::min(index(a.left), index(a.right));
      case IndexAtom::Kind::kMax:
        return std::max(index(a.left), index(a.right));
      case IndexAtom::Kind::kTable:
        return expr_.tables[static_cast<size_t>(a.table.value)].indices.at(
            static_cast<size_t>(index(a.left)));
      case IndexAtom::Kind::kValue:
        return static_cast<int64_t>(scalar(*a.read));
    }
    return 0;
  }

  double apply(const ScalarNode& node) {
    const auto arg = [&](size_t i) { return scalar(*node.args[i]); };
    switch (node.fn) {
      case Fn::kAdd:
        return arg(0) + arg(1);
      case Fn::kSub:
        return arg(0) - arg(1);
      case Fn::kMul:
        return arg(0) * arg(1);
      case Fn::kDiv:
        return is_integer(node.type) ? std::trunc(arg(0) / arg(1)) : arg(0) / arg(1);
      case Fn::kNeg:
        return -arg(0);
      case Fn::kMin:
        return std::min(arg(0), arg(1));
      case Fn::kMax:
        return std::max(arg(0), arg(1));
      case Fn::kExp:
        return std::exp(arg(0));
      case Fn::kSqrt:
        return std::sqrt(arg(0));
      case Fn::kTanh:
        return std::tanh(arg(0));
      case Fn::kEq:
        return arg(0) == arg(1);
      case Fn::kLt:
        return arg(0) < arg(1);
      case Fn::kLe:
        return arg(0) <= arg(1);
      case Fn::kAnd:
        return arg(0) != 0 && arg(1) != 0;
      case Fn::kOr:
        return arg(0) != 0 || arg(1) != 0;
      case Fn::kNot:
        return arg(0) == 0;
      case Fn::kSelect:
        return arg(0) != 0 ? arg(1) : arg(2);
      case Fn::kCast:
        return is_integer(node.type) ? std::trunc(arg(0)) : arg(0);
      default:
        throw std::logic_error("not in the oracle");
    }
  }

  const TensorExpr& expr_;
  std::vector<NaiveTensor> tensors_;
  std::vector<int64_t> axes_, steps_;
};

}  // namespace

std::vector<NaiveTensor> naive_evaluate(const TensorExpr& expr,
                                        const std::vector<NaiveTensor>& operands) {
  Walker walker(expr, operands);
  walker.run(expr.stages);
  std::vector<NaiveTensor> outputs;
  for (const int output : expr.outputs) outputs.push_back(walker.tensor(output));
  return outputs;
}

}  // namespace hone::test
