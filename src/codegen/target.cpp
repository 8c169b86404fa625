#include "codegen/target.h"

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Triple.h>

#include "machine/llvm_targets.h"
#include "support/check.h"

namespace hone {

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Cpu& cpu) {
  initialize_llvm_targets();
  const llvm::Triple triple(cpu.triple);
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  HONE_CHECK(target != nullptr, message);
  std::string features = cpu.features;
  // Kernels are written in vectors of full width; LLVM is not to halve them.
  if (cpu.vector_bytes == 64) features += features.empty() ? "-prefer-256-bit" : ",-prefer-256-bit";
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu.name, features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  HONE_CHECK(machine != nullptr, "LLVM has no target machine for " + cpu.name);
  return machine;
}

TargetFacts facts_of(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& subtarget = *machine.getMCSubtargetInfo();
  TargetFacts facts;
  facts.arm = machine.getTargetTriple().isAArch64();
  if (facts.arm) {
    facts.fma = facts.half = true;
    return facts;
  }
  facts.fma = subtarget.checkFeatures("+fma");
  facts.half = subtarget.checkFeatures("+f16c");
  facts.masked_words = subtarget.checkFeatures("+avx2");
  facts.avx512 = subtarget.checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq");
  facts.masked_stores = facts.avx512;
  return facts;
}

}  // namespace hone
