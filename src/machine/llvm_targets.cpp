#include "machine/llvm_targets.h"

#include <mutex>

#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>

#include "support/check.h"

namespace hone {

void initialize_llvm_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

std::unique_ptr<llvm::MCSubtargetInfo> subtarget_of(const std::string& triple,
                                                    const std::string& cpu,
                                                    const std::string& features) {
  initialize_llvm_targets();
  const llvm::Triple parsed(triple);
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(parsed, message);
  HONE_CHECK(target != nullptr, message);
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target->createMCSubtargetInfo(parsed, cpu, features));
}

}  // namespace hone
