// What the generated assembly looks like: no spills in micro-kernels, code for other machines.
#include <cstring>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/kernels.h"
#include "helpers/microkernel.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Cpu cpu(const std::string& name) {
  auto found = cpu_named(name);
  EXPECT_TRUE(found) << name;
  return *found;
}

std::string assembly_of(const loop::Function& function, const std::string& target) {
  auto text = compile_assembly({function}, cpu(target));
  EXPECT_TRUE(text) << text.error().to_string();
  return text.value_or("");
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The lines between a label and the jump back to it that hold the most of `instruction`.
std::string hottest_loop(const std::string& assembly, const std::string& instruction) {
  std::istringstream lines(assembly);
  std::string line, block, best;
  while (std::getline(lines, line)) {
    if (line.starts_with(".L")) block.clear();
    block += line + "\n";
    if (count(block, instruction) > count(best, instruction)) best = block;
  }
  return best;
}

TEST(CodegenAssembly, MicroKernelStaysInRegisters) {
  const std::string assembly = assembly_of(make_microkernel({}), "x86-64-v3");
  const std::string loop = hottest_loop(assembly, "vfmadd231ps");
  EXPECT_EQ(count(loop, "vfmadd231ps"), 12) << assembly;
  EXPECT_THAT(loop, Not(HasSubstr("rsp"))) << assembly;
  EXPECT_THAT(loop, Not(HasSubstr("rbp"))) << assembly;
  EXPECT_EQ(count(loop, "vbroadcastss"), 6) << assembly;
}

// Each factor is used once here, and LLVM alone would overwrite factors instead of sums.
TEST(CodegenAssembly, UnrolledSumsStayInTheirRegisters) {
  for (const int rows : {12, 14}) {
    const MicroKernelShape shape{rows, 1, 8, 256, 4};
    const std::string loop =
        hottest_loop(assembly_of(make_microkernel(shape), "x86-64-v3"), "vfmadd231ps");
    EXPECT_EQ(count(loop, "vfmadd231ps"), 4 * rows) << loop;
    EXPECT_THAT(loop, Not(HasSubstr("rsp"))) << loop;
  }
}

TEST(CodegenAssembly, MicroKernelUsesTheWidestVectors) {
  const std::string wide = assembly_of(make_microkernel({12, 2, 16, 256}), "skylake-avx512");
  EXPECT_EQ(count(hottest_loop(wide, "zmm"), "vfmadd231ps"), 24) << wide;
  EXPECT_THAT(hottest_loop(wide, "zmm"), Not(HasSubstr("rsp"))) << wide;
  const std::string arm = assembly_of(make_microkernel({8, 3, 4, 256}), "neoverse-n1");
  EXPECT_EQ(count(hottest_loop(arm, "fmla"), "fmla"), 24) << arm;
  EXPECT_THAT(hottest_loop(arm, "fmla"), Not(HasSubstr("sp,"))) << arm;
}

TEST(CodegenAssembly, MicroKernelMultiplies) {
  Aligned<float> a(256 * 6), b(256 * 16), c(6 * 16, 1.F);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(i % 7) - 3;
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(i % 5) - 2;
  run(make_microkernel({}), {a.data(), b.data(), c.data()});
  for (size_t i = 0; i < 6; ++i) {
    for (size_t j = 0; j < 16; ++j) {
      float wanted = 1;
      for (size_t k = 0; k < 256; ++k) wanted += a[k * 6 + i] * b[k * 16 + j];
      ASSERT_EQ(c[i * 16 + j], wanted);
    }
  }
}

TEST(CodegenAssembly, ObjectsForOtherMachines) {
  constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F'};
  for (const char* name : {"neoverse-n1", "cortex-a53", "x86-64-v2", "sapphirerapids"}) {
    const auto object = compile_object({make_microkernel({})}, cpu(name));
    ASSERT_TRUE(object) << object.error().to_string();
    ASSERT_GT(object->size(), 64U);
    EXPECT_EQ(std::memcmp(object->data(), kElf, sizeof(kElf)), 0);
    constexpr size_t kMachineField = 18;
    constexpr char kAArch64 = char(0xb7), kX86 = 0x3e;
    EXPECT_EQ((*object)[kMachineField], cpu(name).triple.starts_with("aarch64") ? kAArch64 : kX86);
  }
}

TEST(CodegenAssembly, SameInputGivesSameBytes) {
  const auto first = compile_object({make_microkernel({})}, host_cpu());
  const auto second = compile_object({make_microkernel({})}, host_cpu());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST(CodegenAssembly, LlvmIrCanBeRead) {
  const auto raw = print_llvm({make_microkernel({})}, host_cpu(), false);
  const auto optimised = print_llvm({make_microkernel({})}, host_cpu(), true);
  ASSERT_TRUE(raw && optimised);
  EXPECT_THAT(*raw, HasSubstr("alloca"));
  EXPECT_THAT(*optimised, Not(HasSubstr("alloca")));
}

TEST(CodegenAssembly, ForeignCodeIsNotRun) {
  const auto module = JitModule::compile({make_microkernel({})}, cpu("neoverse-n1"));
  ASSERT_FALSE(module);
  EXPECT_THAT(module.error().to_string(), HasSubstr("cannot run code for neoverse-n1"));
}

}  // namespace
}  // namespace hone::testing
