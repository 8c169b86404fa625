#include "ops/reduction.h"

#include <algorithm>

#include "ops/element_classes.h"

namespace hone {

ReductionAxes split_axes(Builder& b, const Shape& shape, const std::vector<int>& axes) {
  ReductionAxes result;
  result.count = 1;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    const Dim& extent = shape[static_cast<size_t>(i)];
    const bool reduced = std::binary_search(axes.begin(), axes.end(), i);
    const AxisId axis = b.axis((reduced ? "r" : "i") + std::to_string(i), extent);
    result.all.push_back(axis);
    (reduced ? result.reduced : result.kept).push_back(axis);
    if (reduced) result.count *= extent;
  }
  return result;
}

Operand mean_over(Builder& b, const std::string& name, const ReductionAxes& over,
                  const Scalar& body) {
  const Operand sum = b.reduce(name + "_sum", over.kept, Combiner::kSum, over.reduced, body);
  return b.map(name, over.kept, sum.at(over.kept) / number(body.type(), over.count));
}

Operand variance_over(Builder& b, const ReductionAxes& over, const Scalar& body,
                      const Operand& mean) {
  const Scalar difference = body - mean.at(over.kept);
  return mean_over(b, "variance", over, difference * difference);
}

Operand inverse_deviation(Builder& b, const Axes& kept, const Operand& variance,
                          const Literal& epsilon) {
  return b.map("inverse_deviation", kept, Literal(1) / sqrt(variance.at(kept) + epsilon));
}

}  // namespace hone
