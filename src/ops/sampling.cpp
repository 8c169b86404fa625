#include "ops/sampling.h"

#include "ops/arithmetic.h"

namespace hone {
namespace {

struct Neighbourhood {
  Operand position, low;
};

Neighbourhood neighbourhood(Builder& b, const std::string& name, const Axes& axes,
                            const Scalar& position) {
  Neighbourhood result;
  result.position = b.map(name, axes, position);
  result.low =
      b.map(name + "_low", axes,
            Scalar::cast(ElementType::kI64, Scalar::apply(Fn::kFloor, {result.position.at(axes)})));
  return result;
}

Sampler finish(Builder& b, const std::string& name, const Axes& axes, const Neighbourhood& at,
               AxisId tap, const Scalar& weight, int64_t first) {
  Axes all = axes;
  all.push_back(tap);
  const Operand weights = b.map(name + "_weight", all, weight);
  return {tap, weights.at(all), Index::value(at.low.at(axes)) + Index(tap) + Index(first)};
}

Scalar fraction(const Neighbourhood& at, const Axes& axes) {
  const Scalar position = at.position.at(axes);
  return position - Scalar::apply(Fn::kFloor, {position});
}

}  // namespace

Sampler linear_sampler(Builder& b, const std::string& name, const Axes& axes,
                       const Scalar& position) {
  const Neighbourhood at = neighbourhood(b, name, axes, position);
  const AxisId tap = b.axis(name + "_tap", 2);
  const Scalar f = fraction(at, axes);
  return finish(b, name, axes, at, tap, select(equal(Index(tap), Index(0)), Literal(1) - f, f), 0);
}

Sampler cubic_sampler(Builder& b, const std::string& name, const Axes& axes,
                      const Scalar& position) {
  const Neighbourhood at = neighbourhood(b, name, axes, position);
  const AxisId tap = b.axis(name + "_tap", 4);
  const Scalar f = fraction(at, axes);
  // The distance of the neighbour: 1 + f, f, 1 - f, 2 - f.
  const Scalar offset = as_number(f.type(), Index(tap) - Index(1));
  const Scalar distance = abs(f - offset);
  const Literal a = Literal::rational(-3, 4);
  const Literal a2 = Literal::rational(5, 4);  // a + 2
  const Literal a3 = Literal::rational(9, 4);  // a + 3
  const Scalar near = (distance * a2 - a3) * distance * distance + Literal(1);
  const Scalar far = ((distance - Literal(5)) * distance + Literal(8)) * distance * a + Literal(3);
  return finish(b, name, axes, at, tap, select(less_equal(distance, Literal(1)), near, far), -1);
}

Scalar near_box(const Scalar& position, const Dim& extent, int64_t margin) {
  return min(max(position, Literal(-margin - 1)), as_number(position.type(), extent + margin));
}

}  // namespace hone
