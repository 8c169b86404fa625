// Passes over machine instructions that keep accumulators in their registers.
#pragma once

#include <llvm/CodeGen/TargetPassConfig.h>

namespace hone {

// x86's fused multiply-add overwrites one of its three inputs. LLVM prefers a factor that dies
// there, and in unrolled loops then moves the sums through other registers and the stack. This
// makes each instruction overwrite the sum, if that is a sum itself or comes around a loop.
void add_accumulate_in_place(llvm::TargetPassConfig& config);

}  // namespace hone
