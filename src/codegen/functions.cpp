#include "codegen/functions.h"

#include <vector>

#include <llvm/IR/Constants.h>

#include "codegen/storage.h"
#include "support/check.h"

namespace hone {
namespace {

Value* combine(Builder& b, Fn fn, ElementType type, Value* x, Value* y) {
  Value* const args[] = {x, y};
  return emit_function(b, fn, type, args);
}

Value* take_lanes(Builder& b, Value* vector, int first, int count) {
  if (count == 1) return b.lane(vector, first);
  std::vector<int> lanes;
  for (int i = 0; i < count; ++i) lanes.push_back(first + i);
  return b.CreateShuffleVector(vector, lanes);
}

}  // namespace

Value* emit_function(Builder& b, Fn fn, ElementType type, std::span<Value* const> args) {
  if (fn == Fn::kSelect) return b.CreateSelect(args[0], args[1], args[2]);
  const ElementType compute = compute_element(type);
  if (compute == ElementType::kBool) return emit_bool_function(b, fn, args);
  if (is_float(compute)) return emit_float_function(b, fn, args);
  return emit_integer_function(b, fn, is_signed_int(compute), args);
}

Value* emit_bool_function(Builder& b, Fn fn, std::span<Value* const> args) {
  switch (fn) {
    case Fn::kEq:
      return b.CreateICmpEQ(args[0], args[1]);
    case Fn::kAnd:
    case Fn::kMin:
      return b.CreateAnd(args[0], args[1]);
    case Fn::kOr:
    case Fn::kMax:
      return b.CreateOr(args[0], args[1]);
    case Fn::kXor:
      return b.CreateXor(args[0], args[1]);
    case Fn::kNot:
      return b.CreateNot(args[0]);
    default:
      break;
  }
  check_failed(__FILE__, __LINE__, "emit_bool_function", "not defined on bool");
}

// Halves on halves, so that the chain of operations is short; an odd lane joins at the end.
Value* emit_fold(Builder& b, Fn fn, ElementType type, Value* vector) {
  const int lanes = Builder::lanes_of(vector);
  if (lanes == 1) return vector;
  const int half = lanes / 2;
  Value* folded =
      combine(b, fn, type, take_lanes(b, vector, 0, half), take_lanes(b, vector, half, half));
  folded = emit_fold(b, fn, type, folded);
  return lanes % 2 == 0 ? folded : combine(b, fn, type, folded, b.lane(vector, lanes - 1));
}

const llvm::APFloat* constant_real(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && constant->getType()->isVectorTy())
    constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number == nullptr ? nullptr : &number->getValueAPF();
}

const llvm::APInt* constant_integer(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && constant->getType()->isVectorTy())
    constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return number == nullptr ? nullptr : &number->getValue();
}

}  // namespace hone
