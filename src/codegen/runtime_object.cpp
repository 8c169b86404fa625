#include "codegen/runtime_object.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>

#include "codegen/target.h"
#include "runtime_bitcode.h"
#include "support/check.h"

namespace hone {
namespace {

constexpr llvm::StringRef kEntry = "hone_library";

llvm::StringRef bitcode_for(const llvm::Triple& triple) {
  const auto text = [](const auto& bytes) {
    return llvm::StringRef(reinterpret_cast<const char*>(bytes), sizeof bytes);
  };
  return triple.isAArch64() ? text(kRuntimeArm64) : text(kRuntimeX64);
}

// The interface takes the model's name; what only the runtime itself uses becomes local.
void rename(llvm::GlobalValue& value, const std::string& prefix) {
  const llvm::StringRef name = value.getName();
  if (name.starts_with(kEntry)) {
    value.setName(prefix + name.substr(kEntry.size()));
    if (!value.isDeclaration()) value.setVisibility(llvm::GlobalValue::DefaultVisibility);
  } else if (!value.isDeclaration()) {
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
  }
}

}  // namespace

Result<std::vector<char>> runtime_object(const Cpu& cpu, const std::string& prefix) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(cpu);
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode_for(machine->getTargetTriple()), "runtime"), context);
  HONE_CHECK(static_cast<bool>(module), "the embedded runtime cannot be read");
  (*module)->setTargetTriple(machine->getTargetTriple());
  for (llvm::Function& function : **module)
    if (!function.isIntrinsic()) rename(function, prefix);
  for (llvm::GlobalVariable& variable : (*module)->globals())
    if (!variable.hasLocalLinkage()) rename(variable, prefix);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile))
    return fail(ErrorKind::kUnsupported, "code generation",
                "LLVM cannot write objects for " + cpu.name);
  passes.run(**module);
  return std::vector<char>(bytes.begin(), bytes.end());
}

}  // namespace hone
