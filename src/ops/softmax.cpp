#include "ops/softmax.h"

#include "ops/element_classes.h"

namespace hone {

SoftmaxParts softmax_parts(Builder& b, const ReductionAxes& over, const Scalar& x) {
  const Scalar wide = Scalar::cast(accumulator_of(x.type()), x);
  const Operand top = b.reduce("top", over.kept, Combiner::kMax, over.reduced, wide);
  const Scalar shifted = wide - top.at(over.kept);
  const Operand total = b.reduce("total", over.kept, Combiner::kSum, over.reduced, exp(shifted));
  return {shifted, total.at(over.kept)};
}

}  // namespace hone
