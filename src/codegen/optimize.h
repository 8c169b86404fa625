// LLVM's passes over a module of kernels.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace hone {

// Promotes register buffers, removes what is computed twice and moves what does not change out of
// loops. Loops are left as the schedule wrote them.
void optimize(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace hone
