// LLVM's IR builder with what hone's emitters add: the target, and values of any number of lanes.
#pragma once

#include <cstdint>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/target.h"
#include "tensor/element_type.h"

namespace hone {

using llvm::Value;

class Builder : public llvm::IRBuilder<> {
 public:
  Builder(llvm::Module& into, const TargetFacts& facts)
      : IRBuilder(into.getContext()), module(into), target(facts) {}

  llvm::Module& module;
  const TargetFacts target;

  [[nodiscard]] static int lanes_of(const Value* value);
  // A vector of `lanes` elements; the element itself for one lane.
  [[nodiscard]] static llvm::Type* vector_of(llvm::Type* element, int lanes);
  // The element type with as many lanes as `value`.
  [[nodiscard]] static llvm::Type* like(const Value* value, llvm::Type* element) {
    return vector_of(element, lanes_of(value));
  }
  [[nodiscard]] llvm::Type* integers_like(const Value* value, unsigned bits) {
    return like(value, getIntNTy(bits));
  }

  // The same constant in all lanes of `type`.
  [[nodiscard]] static llvm::Constant* real(llvm::Type* type, double value);
  [[nodiscard]] static llvm::Constant* integer(llvm::Type* type, int64_t value);

  // a * b + c, fused where the target can.
  Value* fused(Value* a, Value* b, Value* c);
  Value* unary(llvm::Intrinsic::ID id, Value* a) { return CreateUnaryIntrinsic(id, a); }
  Value* splat(Value* scalar, int lanes);
  Value* lane(Value* vector, int i);
  // The value in the first lanes of a wider vector; the others hold anything.
  Value* widened(Value* value, int lanes);
  // Calls the C function `name`, of as many arguments of one element type, for each lane.
  Value* call_per_lane(const char* name, llvm::ArrayRef<Value*> args);
};

}  // namespace hone
