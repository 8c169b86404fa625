// The machine that code is generated for, as LLVM sees it.
#pragma once

#include <memory>

#include <llvm/Target/TargetMachine.h>

#include "machine/cpu.h"

namespace hone {

// What the choice between sequences of instructions depends on.
struct TargetFacts {
  bool arm = false;
  bool fma = false;            // in hardware
  bool half = false;           // converts f16 in hardware
  bool masked_words = false;   // loads and stores 4- and 8-byte lanes under a mask
  bool masked_stores = false;  // ... and stores so fast enough to prefer it to several stores
  bool avx512 = false;
};

[[nodiscard]] std::unique_ptr<llvm::TargetMachine> make_target_machine(const Cpu& cpu);
[[nodiscard]] TargetFacts facts_of(const llvm::TargetMachine& machine);

}  // namespace hone
