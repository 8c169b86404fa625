#include "machine/cpu.h"

#include <algorithm>
#include <map>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include "machine/cpu_table.h"
#include "machine/host_caches.h"
#include "machine/llvm_targets.h"

namespace hone {
namespace {

bool is_arm(const std::string& triple) { return triple == kArmTriple; }

// The host's features in order of name, so that equal hosts give equal code.
std::string host_features() {
  std::map<std::string, bool> sorted;
  for (const auto& entry : llvm::sys::getHostCPUFeatures())
    sorted.emplace(entry.getKey().str(), entry.getValue());
  std::string features;
  for (const auto& [name, has] : sorted)
    features += (features.empty() ? "" : ",") + std::string(has ? "+" : "-") + name;
  return features;
}

// The widest vectors that the instruction set has. SVE is not used.
void describe_vectors(Cpu& cpu) {
  cpu.vector_bytes = 16;
  cpu.vector_registers = is_arm(cpu.triple) ? 32 : 16;
  if (is_arm(cpu.triple)) return;
  const auto subtarget = subtarget_of(cpu.triple, cpu.name, cpu.features);
  if (subtarget->checkFeatures("+avx2")) cpu.vector_bytes = 32;
  if (subtarget->checkFeatures("+avx512f,+avx512vl,+avx512bw,+avx512dq")) {
    cpu.vector_bytes = 64;
    cpu.vector_registers = 32;
  }
}

void take_facts(Cpu& cpu, const CpuFacts& facts) {
  cpu.fma_per_cycle = facts.fma_per_cycle;
  cpu.fma_latency = facts.fma_latency;
  cpu.ghz = facts.ghz;
  cpu.l1_bytes = facts.l1_bytes;
  cpu.l2_bytes = facts.l2_bytes;
  cpu.l3_bytes = facts.l3_bytes;
  cpu.l2_gbps = facts.l2_gbps;
  cpu.l3_gbps = facts.l3_gbps;
  cpu.memory_gbps = facts.memory_gbps;
}

// A CPU that stands for those of the same class that the table does not have.
std::string_view typical_of(const Cpu& cpu) {
  if (is_arm(cpu.triple)) return "neoverse-n1";
  return cpu.vector_bytes == 64 ? "skylake-avx512" : "znver3";
}

void describe_costs(Cpu& cpu) {
  const auto find = [](std::string_view name) {
    return std::ranges::find(cpu_table(), name, &CpuFacts::name);
  };
  auto at = find(cpu.name);
  if (at == cpu_table().end()) at = find(typical_of(cpu));
  take_facts(cpu, *at);
}

// Whether every instruction set that the CPU has is here, too.
bool runs_here(const Cpu& cpu) {
  const llvm::Triple host(llvm::sys::getProcessTriple());
  if (is_arm(cpu.triple)) return host.isAArch64() && cpu.name == llvm::sys::getHostCPUName();
  if (host.getArch() != llvm::Triple::x86_64) return false;
  const auto has = llvm::sys::getHostCPUFeatures();
  llvm::SmallVector<llvm::StringRef, 64> needed;
  llvm::X86::getFeaturesForCPU(cpu.name, needed);
  return std::ranges::all_of(needed, [&](llvm::StringRef feature) {
    const auto at = has.find(feature);
    return at == has.end() || at->second;
  });
}

Cpu described(std::string name, std::string triple, std::string features) {
  Cpu cpu;
  cpu.name = std::move(name);
  cpu.triple = std::move(triple);
  cpu.features = std::move(features);
  describe_vectors(cpu);
  describe_costs(cpu);
  return cpu;
}

}  // namespace

Cpu host_cpu() {
  const llvm::Triple host(llvm::sys::getProcessTriple());
  Cpu cpu = described(llvm::sys::getHostCPUName().str(), host.isAArch64() ? kArmTriple : kX86Triple,
                      host_features());
  const HostCaches caches = host_caches();
  if (caches.l1_bytes > 0) cpu.l1_bytes = caches.l1_bytes;
  if (caches.l2_bytes > 0) cpu.l2_bytes = caches.l2_bytes;
  if (caches.l3_bytes > 0) cpu.l3_bytes = caches.l3_bytes;
  cpu.is_host = true;
  return cpu;
}

Result<Cpu> cpu_named(const std::string& name) {
  if (name == "host") return host_cpu();
  for (const char* triple : {kX86Triple, kArmTriple}) {
    // LLVM's AArch64 takes "generic", its x86 an empty name, which means nothing to people.
    if (name.empty() || !subtarget_of(triple, "", "")->isCPUStringValid(name)) continue;
    const bool has_64_bits =
        is_arm(triple) || subtarget_of(triple, name, "")->checkFeatures("+64bit");
    if (!has_64_bits) continue;
    Cpu cpu = described(name, triple, "");
    cpu.is_host = runs_here(cpu);
    return cpu;
  }
  return fail(ErrorKind::kInvalid, "target", "no CPU is called '" + name + "'",
              "for example host, x86-64-v3, x86-64-v4, znver3, skylake-avx512, sapphirerapids, "
              "neoverse-n1, neoverse-v1, cortex-a76");
}

}  // namespace hone
