// Softmax and its kin, along one axis; before opset 13 over all axes from `axis` on, together.
#include "ops/softmax.h"

#include <numeric>

#include "ops/element_classes.h"
#include "ops/table.h"

namespace hone {
namespace {

std::vector<int> softmax_axes(const OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  require_rank(c, 0, 1);
  const int rank = c.rank(0);
  const bool flatten = c.opset() < 13;
  const int first = c.axis(c.int_attribute("axis", flatten ? 1 : -1), rank, false);
  std::vector<int> axes(static_cast<size_t>(flatten ? rank - first : 1));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// y = exp(x - top) / total
TensorExpr define_softmax(OpContext& c) {
  const std::vector<int> axes = softmax_axes(c);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const SoftmaxParts parts = softmax_parts(b, over, x.at(over.all));
  const Scalar y = exp(parts.shifted) / parts.total;
  return b.finish({b.map("y", over.all, Scalar::cast(x.type(), y))});
}

// y = x - top - log total
TensorExpr define_log_softmax(OpContext& c) {
  const std::vector<int> axes = softmax_axes(c);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const SoftmaxParts parts = softmax_parts(b, over, x.at(over.all));
  const Scalar y = parts.shifted - log(parts.total);
  return b.finish({b.map("y", over.all, Scalar::cast(x.type(), y))});
}

// a[kept..] = the first position f, along all reduced axes flattened, of the greatest x
// y = 1 where the flattened position is a, else 0
TensorExpr define_hardmax(OpContext& c) {
  const std::vector<int> axes = softmax_axes(c);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const ReductionAxes over = split_axes(b, c.shape(0), axes);
  const AxisId flat = b.axis("f", over.count);
  std::vector<Index> position(over.all.begin(), over.all.end());
  Index flattened = 0;
  Dim stride = 1;
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
    const auto i = static_cast<size_t>(*it);
    const Dim& extent = c.shape(0)[i];
    position[i] = axes.size() == 1 ? Index(flat) : mod(floor_div(Index(flat), stride), extent);
    flattened = flattened + Index(over.all[i]) * stride;
    stride *= extent;
  }
  const Operand best =
      b.reduce("best", over.kept, Combiner::kArgMaxFirst, {flat}, x.at(std::move(position)));
  const Scalar hit = equal(Scalar::index(flattened), best.at(over.kept));
  return b.finish({b.map("y", over.all, select(hit, Scalar::literal(x.type(), 1), 0))});
}

}  // namespace

void register_softmax(OperatorTable& table) {
  const auto add = [&](const char* name, const char* doc, TensorExpr (*define)(OpContext&)) {
    table.add({.name = name,
               .doc = doc,
               .inputs = "x",
               .attributes = "axis: int = -1",
               .define = define,
               .example = std::string(name) + "(x: f32[2, 3]) {axis = 1}"});
  };
  add("Softmax", "exp x, divided by its sum along the axis.", define_softmax);
  add("LogSoftmax", "The logarithm of Softmax.", define_log_softmax);
  add("Hardmax", "1 at the first greatest element along the axis, else 0.", define_hardmax);
}

}  // namespace hone
