// Reductions: y[kept..] = after(combine over reduced of before(x[..])).
#include <numeric>

#include "ops/elementwise.h"
#include "ops/reduction.h"
#include "ops/table.h"

namespace hone {
namespace {

// What is reduced: the operand split by the node's axes, and where the output's elements lie.
struct Reduction {
  ReductionAxes axes;
  Axes output;  // as `axes.kept`, with an axis of extent 1 for each reduced one if keepdims
};

// Axes come as an operand (ReduceSum since opset 13, the others since 18) or as an attribute; none
// means all of them, or no reduction at all with noop_with_empty_axes.
std::vector<int> reduced_axes(const OpContext& c) {
  const int rank = c.rank(0);
  const std::vector<int64_t> named = c.has(1) ? c.ints_value(1) : c.ints_attribute("axes", {});
  if (!named.empty()) return c.axes(named, rank);
  if (c.int_attribute("noop_with_empty_axes", 0) != 0) return {};
  std::vector<int> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Reduction split_operand(Builder& b, const OpContext& c, const std::vector<int>& reduced) {
  Reduction r{split_axes(b, c.shape(0), reduced), {}};
  const bool keep = c.int_attribute("keepdims", 1) != 0;
  size_t kept = 0;
  for (size_t i = 0; i < r.axes.all.size(); ++i) {
    const bool stays = kept < r.axes.kept.size() && r.axes.kept[kept] == r.axes.all[i];
    if (stays) r.output.push_back(r.axes.kept[kept++]);
    if (!stays && keep) r.output.push_back(b.axis("one" + std::to_string(i), 1));
  }
  return r;
}

struct ReduceRow {
  const char* name;
  const char* doc;
  ElementClass takes;
  Combiner combiner;
  Scalar (*before)(const Scalar& x);
  Scalar (*after)(const Scalar& total, const Dim& count);  // null: nothing
};

Scalar itself(const Scalar& x) { return x; }
Scalar square(const Scalar& x) { return x * x; }
// Roots of integers are cut.
Scalar root(const Scalar& x, const Dim&) {
  if (is_float(x.type())) return sqrt(x);
  return Scalar::cast(x.type(), sqrt(Scalar::cast(ElementType::kF64, x)));
}

constexpr ElementClass kNumber = ElementClass::kNumber;
constexpr ElementClass kFloat = ElementClass::kFloat;

const ReduceRow kRows[] = {
    {"ReduceSum", "The sum over axes.", kNumber, Combiner::kSum, itself, nullptr},
    {"ReduceProd", "The product over axes.", kNumber, Combiner::kProduct, itself, nullptr},
    {"ReduceMax", "The greatest element over axes.", ElementClass::kComputable, Combiner::kMax,
     itself, nullptr},
    {"ReduceMin", "The least element over axes.", ElementClass::kComputable, Combiner::kMin, itself,
     nullptr},
    {"ReduceL1", "The sum of absolute values over axes.", kNumber, Combiner::kSum, abs, nullptr},
    {"ReduceL2", "The root of the sum of squares over axes.", kNumber, Combiner::kSum, square,
     root},
    {"ReduceSumSquare", "The sum of squares over axes.", kNumber, Combiner::kSum, square, nullptr},
    {"ReduceLogSum", "The logarithm of the sum over axes.", kFloat, Combiner::kSum, itself,
     [](const Scalar& x, const Dim&) { return log(x); }},
    {"ReduceMean", "The mean over axes.", kNumber, Combiner::kSum, itself,
     [](const Scalar& x, const Dim& count) { return x / number(x.type(), count); }},
};

Combiner combiner_for(Combiner combiner, ElementType type) {
  if (type != ElementType::kBool) return combiner;
  return combiner == Combiner::kMax ? Combiner::kOr : Combiner::kAnd;
}

TensorExpr define_reduce(OpContext& c, const ReduceRow& row) {
  require_class(c, 0, row.takes);
  Builder b;
  const Operand x = c.declare(b, {"x", "axes"})[0];
  const Reduction r = split_operand(b, c, reduced_axes(c));
  const ElementType type = x.type();
  const Combiner combiner = combiner_for(row.combiner, type);
  if (row.after == nullptr) {
    const Scalar body = row.before(x.at(r.axes.all));
    return b.finish({b.reduce("y", r.output, combiner, r.axes.reduced, body)});
  }
  const Scalar body = row.before(Scalar::cast(accumulator_of(type), x.at(r.axes.all)));
  const Operand total = b.reduce("total", r.axes.kept, combiner, r.axes.reduced, body);
  const Scalar y = row.after(total.at(r.axes.kept), r.axes.count);
  return b.finish({b.map("y", r.output, Scalar::cast(type, y))});
}

// m = max x; y = m + log(sum exp(x - m)), where an infinite m is left out: exp(-inf) is 0.
TensorExpr define_log_sum_exp(OpContext& c) {
  require_class(c, 0, kFloat);
  Builder b;
  const Operand x = c.declare(b, {"x", "axes"})[0];
  const Reduction r = split_operand(b, c, reduced_axes(c));
  const ElementType type = x.type();
  const Scalar value = Scalar::cast(accumulator_of(type), x.at(r.axes.all));
  const Operand top = b.reduce("top", r.axes.kept, Combiner::kMax, r.axes.reduced, value);
  const Scalar m = top.at(r.axes.kept);
  const Operand shift = b.map("shift", r.axes.kept, select(apply(Fn::kIsInf, m), 0, m));
  const Scalar s = shift.at(r.axes.kept);
  const Operand total =
      b.reduce("total", r.axes.kept, Combiner::kSum, r.axes.reduced, exp(value - s));
  return b.finish({b.map("y", r.output, Scalar::cast(type, log(total.at(r.axes.kept)) + s))});
}

// y = the position along one axis of the greatest (least) element: the first, or the last.
TensorExpr define_arg(OpContext& c, Combiner first, Combiner last) {
  require_class(c, 0, kNumber);
  require_rank(c, 0, 1);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const int axis = c.axis(c.int_attribute("axis", 0), x.rank());
  const Reduction r = split_operand(b, c, {axis});
  const Combiner combiner = c.int_attribute("select_last_index", 0) != 0 ? last : first;
  return b.finish({b.reduce("y", r.output, combiner, r.axes.reduced, x.at(r.axes.all))});
}

void add_arg(OperatorTable& table, const char* name, const char* doc, Combiner first,
             Combiner last) {
  table.add({.name = name,
             .doc = doc,
             .inputs = "x",
             .attributes = "axis: int = 0, keepdims: int = 1, select_last_index: int = 0",
             .define = [=](OpContext& c) { return define_arg(c, first, last); },
             .example = std::string(name) + "(x: f32[2, 3]) {axis = 1}"});
}

}  // namespace

void register_reduce(OperatorTable& table) {
  const auto add = [&](const char* name, const char* doc,
                       std::function<TensorExpr(OpContext&)> define) {
    table.add({.name = name,
               .doc = doc,
               .inputs = "x, axes?",
               .attributes = "axes: ints, keepdims: int = 1, noop_with_empty_axes: int = 0",
               .define = std::move(define),
               .example = std::string(name) + "(x: f32[2, 3, 4], axes: i64[1] = [1])"});
  };
  for (const ReduceRow& row : kRows) {
    add(row.name, row.doc, [row](OpContext& c) { return define_reduce(c, row); });
  }
  add("ReduceLogSumExp", "The logarithm of the sum of exponentials over axes.", define_log_sum_exp);
  add_arg(table, "ArgMax", "The position of the greatest element along an axis.",
          Combiner::kArgMaxFirst, Combiner::kArgMaxLast);
  add_arg(table, "ArgMin", "The position of the least element along an axis.",
          Combiner::kArgMinFirst, Combiner::kArgMinLast);
}

}  // namespace hone
