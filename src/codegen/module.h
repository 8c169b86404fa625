// A module of kernels on its way from loop IR to machine code.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "codegen/target.h"
#include "loop/ir.h"
#include "support/error.h"

namespace hone {

class KernelModule {
 public:
  // `keep_names`: values keep readable names, for printing.
  static Result<std::unique_ptr<KernelModule>> emit(const std::vector<loop::Function>& functions,
                                                    const Cpu& cpu, bool keep_names = false);
  void optimize();
  [[nodiscard]] std::string print() const;
  // The module is used up.
  [[nodiscard]] Result<llvm::SmallVector<char, 0>> generate(llvm::CodeGenFileType type);

 private:
  KernelModule(const Cpu& cpu, bool keep_names);

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::Module module_;
};

}  // namespace hone
