#include "codegen/integer_power.h"

#include <string>

#include "codegen/functions.h"

namespace hone {
namespace {

// base^exponent by squaring, for a small constant.
Value* power_chain(Builder& b, Value* base, uint64_t exponent) {
  Value* result = nullptr;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result == nullptr ? base : b.CreateMul(result, base);
    if (exponent > 1) base = b.CreateMul(base, base);
  }
  return result == nullptr ? Builder::integer(base->getType(), 1) : result;
}

Value* negative_power(Builder& b, Value* base, Value* exponent) {
  llvm::Type* real = b.getDoubleTy();
  Value* power =
      b.call_per_lane("pow", {b.CreateSIToFP(base, real), b.CreateSIToFP(exponent, real)});
  const ElementType wide = ElementType::kI64;
  return b.CreateTrunc(emit_cast(b, ElementType::kF64, wide, true, power), base->getType());
}

// while (e != 0) { if (e & 1) result *= base; e >>= 1; base *= base; }
void emit_squaring(Builder& b, llvm::Function* function, llvm::BasicBlock* from) {
  llvm::LLVMContext& context = b.getContext();
  llvm::Type* type = function->getReturnType();
  auto* loop = llvm::BasicBlock::Create(context, "loop", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* result = b.CreatePHI(type, 2);
  auto* base = b.CreatePHI(type, 2);
  auto* exponent = b.CreatePHI(type, 2);
  llvm::Constant* one = Builder::integer(type, 1);
  Value* odd = b.CreateTrunc(exponent, b.getInt1Ty());
  Value* next = b.CreateSelect(odd, b.CreateMul(result, base), result);
  Value* rest = b.CreateLShr(exponent, one);
  const auto feed = [&](llvm::PHINode* phi, Value* first, Value* later) {
    phi->addIncoming(first, from);
    phi->addIncoming(later, loop);
  };
  feed(result, one, next);
  feed(base, function->getArg(0), b.CreateMul(base, base));
  feed(exponent, function->getArg(1), rest);
  b.CreateCondBr(b.CreateICmpEQ(rest, Builder::integer(type, 0)), done, loop);
  b.SetInsertPoint(done);
  b.CreateRet(next);
}

// One function per type in the module.
llvm::Function* power_function(Builder& b, bool is_signed, llvm::Type* type) {
  const std::string name = std::string("hone.power.") + (is_signed ? "i" : "u") +
                           std::to_string(type->getIntegerBitWidth());
  if (llvm::Function* known = b.module.getFunction(name)) return known;
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                          llvm::Function::PrivateLinkage, name, b.module);
  function->setDoesNotThrow();
  const llvm::IRBuilderBase::InsertPointGuard guard(b);
  auto* entry = llvm::BasicBlock::Create(b.getContext(), "entry", function);
  b.SetInsertPoint(entry);
  if (is_signed) {
    auto* negative = llvm::BasicBlock::Create(b.getContext(), "negative", function);
    auto* natural = llvm::BasicBlock::Create(b.getContext(), "natural", function);
    b.CreateCondBr(b.CreateICmpSLT(function->getArg(1), Builder::integer(type, 0)), negative,
                   natural);
    b.SetInsertPoint(negative);
    b.CreateRet(negative_power(b, function->getArg(0), function->getArg(1)));
    b.SetInsertPoint(natural);
  }
  emit_squaring(b, function, b.GetInsertBlock());
  return function;
}

}  // namespace

Value* emit_integer_power(Builder& b, bool is_signed, Value* base, Value* exponent) {
  constexpr uint64_t kLargestChain = 64;
  if (const llvm::APInt* known = constant_integer(exponent);
      known != nullptr && known->ule(kLargestChain))
    return power_chain(b, base, known->getZExtValue());
  llvm::Function* power = power_function(b, is_signed, base->getType()->getScalarType());
  const int lanes = Builder::lanes_of(base);
  Value* result = llvm::PoisonValue::get(base->getType());
  for (int i = 0; i < lanes; ++i) {
    Value* one = b.CreateCall(power, {b.lane(base, i), b.lane(exponent, i)});
    result = lanes == 1 ? one : b.CreateInsertElement(result, one, static_cast<uint64_t>(i));
  }
  return result;
}

}  // namespace hone
