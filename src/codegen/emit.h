// LLVM IR from loop IR. One kernel becomes one function with the signature of KernelFunction.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "loop/ir.h"

namespace hone {

// void kernel(void* const* buffers, const int64_t* extents, int64_t begin, int64_t end,
//             void* scratch)
// runs iterations [begin, end) of the kernel's outermost parallel loop (0 and 1 where it has
// none); `scratch` is memory of the calling thread.
using KernelFunction = void (*)(void* const*, const int64_t*, int64_t, int64_t, void*);

// Adds `function` to `module`. It must be verified.
void emit(const loop::Function& function, llvm::Module& module);

// Bytes of scratch memory that a run of the kernel needs.
[[nodiscard]] int64_t scratch_bytes(const loop::Function& function);
// Iterations of the outermost parallel loop; 1 where there is none. Extents must be known.
[[nodiscard]] loop::Expr parallel_extent(const loop::Function& function);

}  // namespace hone
