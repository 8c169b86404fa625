#include "codegen/accumulate_in_place.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>

namespace hone {
namespace {

using llvm::MachineBasicBlock;
using llvm::MachineFunction;
using llvm::MachineInstr;
using llvm::MachineRegisterInfo;
using llvm::Register;
using llvm::TargetInstrInfo;

bool is_fma(const MachineInstr& instruction, const TargetInstrInfo& info) {
  const llvm::StringRef name = info.getName(instruction.getOpcode());
  return name.starts_with("VFMADD") || name.starts_with("VFNMADD");
}

// Before registers become two-address: picks the form that overwrites the sum. So that LLVM does
// not pick another one, both factors pretend to be used once more right after.
class ChooseSums final : public llvm::MachineFunctionPass {
 public:
  ChooseSums() : MachineFunctionPass(ID) {}
  [[nodiscard]] llvm::StringRef getPassName() const override { return "Overwrite sums"; }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesCFG();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction& function) override {
    const TargetInstrInfo& info = *function.getSubtarget().getInstrInfo();
    bool changed = false;
    for (MachineBasicBlock& block : function)
      for (MachineInstr& instruction : llvm::make_early_inc_range(block))
        changed |= overwrite_sum(instruction, info, function.getRegInfo());
    return changed;
  }

  inline static char ID = 0;

 private:
  // Operands of "first = second * first + sum", after the result.
  static constexpr unsigned kFirst = 1, kSecond = 2, kSum = 3;

  static bool overwrite_sum(MachineInstr& instruction, const TargetInstrInfo& info,
                            const MachineRegisterInfo& registers) {
    if (!overwrites_factor(instruction, info) || !is_sum(instruction, registers, info))
      return false;
    const Register factors[] = {instruction.getOperand(kFirst).getReg(),
                                instruction.getOperand(kSecond).getReg()};
    if (info.commuteInstruction(instruction, false, kFirst, kSum) == nullptr) return false;
    for (const Register factor : factors) {
      for (llvm::MachineOperand& operand : instruction.operands())
        if (operand.isReg() && operand.getReg() == factor) operand.setIsKill(false);
      llvm::BuildMI(*instruction.getParent(), std::next(instruction.getIterator()),
                    instruction.getDebugLoc(), info.get(llvm::TargetOpcode::FAKE_USE))
          .addReg(factor);
    }
    return true;
  }

  static bool overwrites_factor(const MachineInstr& instruction, const TargetInstrInfo& info) {
    return is_fma(instruction, info) && info.getName(instruction.getOpcode()).contains("213") &&
           instruction.getNumExplicitOperands() == 4 && instruction.getOperand(kSum).isReg();
  }

  static bool is_sum(const MachineInstr& instruction, const MachineRegisterInfo& registers,
                     const TargetInstrInfo& info) {
    const Register sum = instruction.getOperand(kSum).getReg();
    if (!sum.isVirtual() || !registers.hasOneNonDBGUse(sum)) return false;
    const MachineInstr* source = registers.getVRegDef(sum);
    return source != nullptr && (source->isPHI() || is_fma(*source, info));
  }
};

// Afterwards: removes the pretended uses.
class ForgetFactors final : public llvm::MachineFunctionPass {
 public:
  ForgetFactors() : MachineFunctionPass(ID) {}
  [[nodiscard]] llvm::StringRef getPassName() const override { return "Forget pretended uses"; }

  bool runOnMachineFunction(MachineFunction& function) override {
    bool changed = false;
    for (MachineBasicBlock& block : function) {
      for (MachineInstr& instruction : llvm::make_early_inc_range(block)) {
        if (instruction.getOpcode() != llvm::TargetOpcode::FAKE_USE) continue;
        instruction.eraseFromParent();
        changed = true;
      }
    }
    return changed;
  }

  inline static char ID = 0;
};

}  // namespace

void add_accumulate_in_place(llvm::TargetPassConfig& config) {
  config.insertPass(&llvm::PeepholeOptimizerLegacyID, new ChooseSums());
  config.insertPass(&llvm::TwoAddressInstructionPassID, new ForgetFactors());
}

}  // namespace hone
