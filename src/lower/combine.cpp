#include "lower/combine.h"

#include "support/check.h"

namespace hone {
namespace {

using loop::Expr;

Literal extreme(ElementType type, bool least) {
  if (is_float(type)) return Literal::infinity(least);
  const int bits = static_cast<int>(size_of(type)) * 8;
  if (is_signed_int(type)) {
    const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    return least ? Literal(low) : Literal(-(low + 1));
  }
  if (least) return {0};
  return bits == 64 ? Literal::of_unsigned(UINT64_MAX) : Literal((int64_t{1} << bits) - 1);
}

}  // namespace

bool is_arg(Combiner combiner) { return combiner >= Combiner::kArgMaxFirst; }

Fn fold_function(Combiner combiner) {
  switch (combiner) {
    case Combiner::kProduct:
      return Fn::kMul;
    case Combiner::kMax:
      return Fn::kMax;
    case Combiner::kMin:
      return Fn::kMin;
    case Combiner::kAnd:
      return Fn::kAnd;
    case Combiner::kOr:
      return Fn::kOr;
    default:
      return Fn::kAdd;
  }
}

Expr combine(Combiner combiner, const Expr& a, const Expr& b) {
  Fn fn = fold_function(combiner);
  if (a.type().element == ElementType::kBool && fn == Fn::kMax) fn = Fn::kOr;
  if (a.type().element == ElementType::kBool && fn == Fn::kMin) fn = Fn::kAnd;
  return Expr::apply(fn, {a, b});
}

Literal identity_of(Combiner combiner, ElementType type) {
  const bool boolean = type == ElementType::kBool;
  switch (combiner) {
    case Combiner::kProduct:
    case Combiner::kAnd:
      return {1};
    case Combiner::kMax:
      return boolean ? Literal(0) : extreme(type, true);
    case Combiner::kMin:
      return boolean ? Literal(1) : extreme(type, false);
    default:
      return {0};
  }
}

Expr is_better(Combiner combiner, const Expr& value, const Expr& best) {
  const bool max = combiner == Combiner::kArgMaxFirst || combiner == Combiner::kArgMaxLast;
  const bool last = combiner == Combiner::kArgMaxLast || combiner == Combiner::kArgMinLast;
  const auto fn = [](Fn f, const Expr& a, const Expr& b) { return Expr::apply(f, {a, b}); };
  Expr better = max ? fn(Fn::kLt, best, value) : fn(Fn::kLt, value, best);
  if (last) better = fn(Fn::kOr, better, fn(Fn::kEq, value, best));
  if (!is_float(value.type().element)) return better;
  const Expr value_nan = Expr::apply(Fn::kIsNan, {value});
  const Expr best_nan = Expr::apply(Fn::kIsNan, {best});
  if (last) return fn(Fn::kOr, better, value_nan);
  return fn(Fn::kAnd, Expr::apply(Fn::kNot, {best_nan}), fn(Fn::kOr, better, value_nan));
}

}  // namespace hone
