#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include "codegen/codegen.h"
#include "codegen/library_symbols.h"

namespace hone {
namespace {

class LlvmJitModule final : public JitModule {
 public:
  explicit LlvmJitModule(std::unique_ptr<llvm::orc::LLJIT> jit) : jit_(std::move(jit)) {}

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::map<std::string, hone_kernel_fn> kernels_;
};

std::unexpected<Error> failed(llvm::Error error) {
  return fail(ErrorKind::kSystem, "code generation", llvm::toString(std::move(error)));
}

// The C functions that kernels call, by address: the process may hide its own symbols.
llvm::Error add_library(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
  for (const LibrarySymbol& symbol : library_symbols())
    symbols[jit.mangleAndIntern(symbol.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(symbol.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
}

}  // namespace

Result<std::shared_ptr<const JitModule>> JitModule::compile(
    const std::vector<loop::Function>& functions, const Cpu& cpu) {
  if (!cpu.is_host)
    return fail(ErrorKind::kUnsupported, "code generation",
                "this machine cannot run code for " + cpu.name, "compile for the target 'host'");
  auto object = compile_object(functions, cpu);
  if (!object) return std::unexpected(object.error());
  auto jit =
      llvm::orc::LLJITBuilder()
          .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(cpu.triple)))
          .setLinkProcessSymbolsByDefault(false)
          .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
          .create();
  if (!jit) return failed(jit.takeError());
  // Errors also come back from the calls below; a library prints nothing.
  (*jit)->getExecutionSession().setErrorReporter(llvm::consumeError);
  if (llvm::Error error = add_library(**jit)) return failed(std::move(error));
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
      llvm::SmallVector<char, 0>(object->begin(), object->end()), "hone", false);
  if (llvm::Error error = (*jit)->addObjectFile(std::move(buffer))) return failed(std::move(error));
  auto result = std::make_shared<LlvmJitModule>(std::move(*jit));
  for (const loop::Function& function : functions) {
    auto address = result->jit_->lookup(function.name);
    if (!address) return failed(address.takeError());
    result->kernels_[function.name] = address->toPtr<hone_kernel_fn>();
  }
  return result;
}

hone_kernel_fn JitModule::find(const std::string& name) const {
  const auto& kernels = static_cast<const LlvmJitModule*>(this)->kernels_;
  const auto at = kernels.find(name);
  return at == kernels.end() ? nullptr : at->second;
}

}  // namespace hone
