// Machine code from loop IR, by LLVM: in this process, or as an object file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loop/ir.h"
#include "machine/cpu.h"
#include "runtime/program.h"
#include "support/error.h"

namespace hone {

// Kernels as machine code in this process. The code lives as long as the object.
class JitModule {
 public:
  // Functions must be verified and have distinct names.
  static Result<std::shared_ptr<const JitModule>> compile(
      const std::vector<loop::Function>& functions, const Cpu& cpu);
  [[nodiscard]] hone_kernel_fn find(const std::string& name) const;
  virtual ~JitModule() = default;

 protected:
  JitModule() = default;
};

// One relocatable object with all functions.
[[nodiscard]] Result<std::vector<char>> compile_object(const std::vector<loop::Function>& functions,
                                                       const Cpu& cpu);
// Assembly, for people and for the tests that look for spills.
[[nodiscard]] Result<std::string> compile_assembly(const std::vector<loop::Function>& functions,
                                                   const Cpu& cpu);
// LLVM IR before (optimised = false) or after optimisation.
[[nodiscard]] Result<std::string> print_llvm(const std::vector<loop::Function>& functions,
                                             const Cpu& cpu, bool optimised);

}  // namespace hone
