// LLVM IR from loop IR. One kernel becomes one function with the signature of hone_kernel_fn.
#pragma once

#include <llvm/IR/Module.h>

#include "codegen/target.h"
#include "loop/ir.h"

namespace hone {

// Adds `function` to `module`. It must be verified.
void emit(const loop::Function& function, llvm::Module& module, const TargetFacts& target);

}  // namespace hone
