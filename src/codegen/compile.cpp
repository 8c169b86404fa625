#include "codegen/codegen.h"
#include "codegen/module.h"

namespace hone {
namespace {

Result<llvm::SmallVector<char, 0>> compile(const std::vector<loop::Function>& functions,
                                           const Cpu& cpu, llvm::CodeGenFileType type) {
  auto module = KernelModule::emit(functions, cpu);
  if (!module) return std::unexpected(module.error());
  (*module)->optimize();
  return (*module)->generate(type);
}

}  // namespace

Result<std::vector<char>> compile_object(const std::vector<loop::Function>& functions,
                                         const Cpu& cpu) {
  auto bytes = compile(functions, cpu, llvm::CodeGenFileType::ObjectFile);
  if (!bytes) return std::unexpected(bytes.error());
  return std::vector<char>(bytes->begin(), bytes->end());
}

Result<std::string> compile_assembly(const std::vector<loop::Function>& functions, const Cpu& cpu) {
  auto text = compile(functions, cpu, llvm::CodeGenFileType::AssemblyFile);
  if (!text) return std::unexpected(text.error());
  return std::string(text->begin(), text->end());
}

Result<std::string> print_llvm(const std::vector<loop::Function>& functions, const Cpu& cpu,
                               bool optimised) {
  auto module = KernelModule::emit(functions, cpu, true);
  if (!module) return std::unexpected(module.error());
  if (optimised) (*module)->optimize();
  return (*module)->print();
}

}  // namespace hone
