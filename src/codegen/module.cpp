#include "codegen/module.h"

#include <set>

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/accumulate_in_place.h"
#include "codegen/emit.h"
#include "codegen/optimize.h"
#include "support/check.h"

namespace hone {
namespace {

void describe_target(llvm::Module& module, const llvm::TargetMachine& machine, const Cpu& cpu) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    if (cpu.vector_bytes < 64) continue;
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
}

void check_module(const llvm::Module& module) {
  std::string message;
  llvm::raw_string_ostream out(message);
  HONE_CHECK(!llvm::verifyModule(module, &out), "LLVM refuses the emitted code: " + message);
}

// As TargetMachine::addPassesToEmitFile, with passes of ours. False when the target cannot do it.
bool add_code_generation(llvm::legacy::PassManager& passes, llvm::TargetMachine& machine,
                         llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type) {
  auto* machine_info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  if (machine.getTargetTriple().isX86()) add_accumulate_in_place(*config);
  passes.add(config);
  passes.add(machine_info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, type, machine_info->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

KernelModule::KernelModule(const Cpu& cpu, bool keep_names)
    : machine_(make_target_machine(cpu)), module_("hone", context_) {
  context_.setDiscardValueNames(!keep_names);
  module_.setTargetTriple(machine_->getTargetTriple());
  module_.setDataLayout(machine_->createDataLayout());
  module_.setPICLevel(llvm::PICLevel::BigPIC);
}

Result<std::unique_ptr<KernelModule>> KernelModule::emit(
    const std::vector<loop::Function>& functions, const Cpu& cpu, bool keep_names) {
  std::unique_ptr<KernelModule> result(new KernelModule(cpu, keep_names));
  const TargetFacts facts = facts_of(*result->machine_);
  std::set<std::string> names;
  for (const loop::Function& function : functions) {
    HONE_CHECK(names.insert(function.name).second, "two kernels are called " + function.name);
    hone::emit(function, result->module_, facts);
  }
  describe_target(result->module_, *result->machine_, cpu);
  check_module(result->module_);
  return result;
}

void KernelModule::optimize() { hone::optimize(module_, *machine_); }

std::string KernelModule::print() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  module_.print(out, nullptr);
  return text;
}

Result<llvm::SmallVector<char, 0>> KernelModule::generate(llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (!add_code_generation(passes, *machine_, out, type))
    return fail(ErrorKind::kUnsupported, "code generation",
                "LLVM cannot write code for " + machine_->getTargetCPU().str());
  passes.run(module_);
  return bytes;
}

}  // namespace hone
