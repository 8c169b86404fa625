// Floats under emission with operators, so that numerical code reads as formulas. Nothing is
// reassociated or contracted: roundings happen where they are written.
#pragma once

#include <span>

#include "codegen/builder.h"

namespace hone {

class Integers;

class Reals {
 public:
  Reals(Builder& builder, Value* value) : b(&builder), v(value) {}

  [[nodiscard]] Reals with(Value* value) const { return {*b, value}; }
  [[nodiscard]] Reals constant(double number) const {
    return with(Builder::real(v->getType(), number));
  }
  Reals operator+(const Reals& o) const { return with(b->CreateFAdd(v, o.v)); }
  Reals operator-(const Reals& o) const { return with(b->CreateFSub(v, o.v)); }
  Reals operator*(const Reals& o) const { return with(b->CreateFMul(v, o.v)); }
  Reals operator/(const Reals& o) const { return with(b->CreateFDiv(v, o.v)); }
  Reals operator+(double o) const { return *this + constant(o); }
  Reals operator-(double o) const { return *this - constant(o); }
  Reals operator*(double o) const { return *this * constant(o); }
  Reals operator-() const { return with(b->CreateFNeg(v)); }

  // Comparisons are false on NaN.
  Value* operator==(double o) const { return b->CreateFCmpOEQ(v, constant(o).v); }
  Value* operator<(double o) const { return b->CreateFCmpOLT(v, constant(o).v); }
  Value* operator>(double o) const { return b->CreateFCmpOGT(v, constant(o).v); }
  [[nodiscard]] Value* equals(const Reals& o) const { return b->CreateFCmpOEQ(v, o.v); }
  [[nodiscard]] Value* differs(const Reals& o) const { return b->CreateFCmpUNE(v, o.v); }
  [[nodiscard]] Value* is_nan() const { return b->CreateFCmpUNO(v, v); }

  // This, but `other` where the condition holds.
  [[nodiscard]] Reals or_where(Value* condition, const Reals& other) const {
    return with(b->CreateSelect(condition, other.v, v));
  }
  [[nodiscard]] Reals or_where(Value* condition, double other) const {
    return or_where(condition, constant(other));
  }
  [[nodiscard]] Reals magnitude() const { return with(b->unary(llvm::Intrinsic::fabs, v)); }
  [[nodiscard]] Reals truncated() const { return with(b->unary(llvm::Intrinsic::trunc, v)); }
  [[nodiscard]] Reals with_sign_of(const Reals& o) const {
    return with(b->CreateBinaryIntrinsic(llvm::Intrinsic::copysign, v, o.v));
  }
  // NaN stays NaN.
  [[nodiscard]] Reals at_least(double low) const;
  [[nodiscard]] Reals at_most(double high) const;
  [[nodiscard]] Integers bits() const;

  Builder* b;
  Value* v;
};

// Two's complement integers as wide as the floats they come from.
class Integers {
 public:
  Integers(Builder& builder, Value* value) : b(&builder), v(value) {}

  [[nodiscard]] Integers with(Value* value) const { return {*b, value}; }
  [[nodiscard]] Integers constant(int64_t number) const {
    return with(Builder::integer(v->getType(), number));
  }
  Integers operator+(const Integers& o) const { return with(b->CreateAdd(v, o.v)); }
  Integers operator-(const Integers& o) const { return with(b->CreateSub(v, o.v)); }
  Integers operator^(const Integers& o) const { return with(b->CreateXor(v, o.v)); }
  Integers operator+(int64_t o) const { return *this + constant(o); }
  Integers operator-(int64_t o) const { return *this - constant(o); }
  Integers operator&(int64_t o) const { return with(b->CreateAnd(v, constant(o).v)); }
  Integers operator<<(int64_t o) const { return with(b->CreateShl(v, constant(o).v)); }
  Integers operator>>(int64_t o) const { return with(b->CreateAShr(v, constant(o).v)); }
  [[nodiscard]] Value* is(int64_t o) const { return b->CreateICmpEQ(v, constant(o).v); }
  [[nodiscard]] Reals as_float(const Reals& like) const {
    return like.with(b->CreateBitCast(v, like.v->getType()));
  }
  [[nodiscard]] Reals to_float(const Reals& like) const {
    return like.with(b->CreateSIToFP(v, like.v->getType()));
  }

  Builder* b;
  Value* v;
};

// x * y + z, fused where the target can.
inline Reals fma(const Reals& x, const Reals& y, const Reals& z) {
  return x.with(x.b->fused(x.v, y.v, z.v));
}
inline Reals fma(const Reals& x, double y, const Reals& z) { return fma(x, x.constant(y), z); }
inline Reals fma(const Reals& x, double y, double z) {
  return fma(x, x.constant(y), x.constant(z));
}

// c[0] + c[1] x + c[2] x^2 + ...
template <typename T>
Reals polynomial(const Reals& x, std::span<const T> coefficients) {
  Reals sum = x.constant(static_cast<double>(coefficients.back()));
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    sum = fma(sum, x, x.constant(static_cast<double>(coefficients[i])));
  return sum;
}
template <typename T, size_t N>
Reals polynomial(const Reals& x, const T (&coefficients)[N]) {
  return polynomial(x, std::span<const T>(coefficients));
}

}  // namespace hone
