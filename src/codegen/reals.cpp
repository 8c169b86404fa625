#include "codegen/reals.h"

#include "codegen/functions.h"

namespace hone {
namespace {

Reals extremum(Fn fn, const Reals& x, double bound) {
  Value* const args[] = {x.v, x.constant(bound).v};
  return x.with(emit_float_function(*x.b, fn, args));
}

}  // namespace

Reals Reals::at_least(double low) const { return extremum(Fn::kMax, *this, low); }
Reals Reals::at_most(double high) const { return extremum(Fn::kMin, *this, high); }

Integers Reals::bits() const {
  const unsigned size = v->getType()->getScalarSizeInBits();
  return {*b, b->CreateBitCast(v, b->integers_like(v, size))};
}

}  // namespace hone
