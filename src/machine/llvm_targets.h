// LLVM's back ends that hone generates code for.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class MCSubtargetInfo;
}

namespace hone {

// Makes x86-64 and AArch64 known to LLVM; once per process, from any thread.
void initialize_llvm_targets();

inline constexpr const char* kX86Triple = "x86_64-unknown-linux-gnu";
inline constexpr const char* kArmTriple = "aarch64-unknown-linux-gnu";

// What LLVM knows of a CPU. The triple must be one of the above.
[[nodiscard]] std::unique_ptr<llvm::MCSubtargetInfo> subtarget_of(const std::string& triple,
                                                                  const std::string& cpu,
                                                                  const std::string& features);

}  // namespace hone
