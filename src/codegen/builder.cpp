#include "codegen/builder.h"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

namespace hone {

int Builder::lanes_of(const Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::Type* Builder::vector_of(llvm::Type* element, int lanes) {
  if (lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

llvm::Constant* Builder::real(llvm::Type* type, double value) {
  return llvm::ConstantFP::get(type, value);
}

llvm::Constant* Builder::integer(llvm::Type* type, int64_t value) {
  const unsigned bits = type->getScalarSizeInBits();
  return llvm::ConstantInt::get(
      type, llvm::APInt(bits, static_cast<uint64_t>(value), true, /*implicitTrunc=*/true));
}

Value* Builder::fused(Value* a, Value* b, Value* c) {
  if (target.fma) return CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return CreateFAdd(CreateFMul(a, b), c);
}

Value* Builder::splat(Value* scalar, int lanes) {
  return lanes == 1 ? scalar : CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
}

Value* Builder::lane(Value* vector, int i) {
  if (!vector->getType()->isVectorTy()) return vector;
  return CreateExtractElement(vector, static_cast<uint64_t>(i));
}

Value* Builder::widened(Value* value, int lanes) {
  const int count = lanes_of(value);
  if (count == lanes) return value;
  if (count == 1) {
    llvm::Type* type = vector_of(value->getType(), lanes);
    return CreateInsertElement(llvm::PoisonValue::get(type), value, uint64_t{0});
  }
  std::vector<int> from;
  for (int i = 0; i < lanes; ++i) from.push_back(i < count ? i : -1);
  return CreateShuffleVector(value, from);
}

Value* Builder::call_per_lane(const char* name, llvm::ArrayRef<Value*> args) {
  llvm::Type* element = args[0]->getType()->getScalarType();
  const std::vector<llvm::Type*> types(args.size(), element);
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, llvm::FunctionType::get(element, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  const int lanes = lanes_of(args[0]);
  Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (int i = 0; i < lanes; ++i) {
    std::vector<Value*> scalars;
    for (Value* arg : args) scalars.push_back(lane(arg, i));
    Value* one = CreateCall(callee, scalars);
    result = lanes == 1 ? one : CreateInsertElement(result, one, static_cast<uint64_t>(i));
  }
  return result;
}

}  // namespace hone
