#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/cpu.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

TEST(Machine, HostRunsItsOwnCode) {
  const Cpu cpu = host_cpu();
  EXPECT_TRUE(cpu.is_host);
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_GE(cpu.vector_bytes, 16);
  EXPECT_GE(cpu.l1_bytes, 8 << 10);
  EXPECT_GE(cpu.l2_bytes, cpu.l1_bytes);
  EXPECT_EQ(cpu_named("host")->features, cpu.features);
}

TEST(Machine, NamedCpusHaveTheirVectors) {
  const struct {
    const char* name;
    int bytes, registers;
  } expected[] = {{"x86-64", 16, 16},         {"x86-64-v2", 16, 16},     {"x86-64-v3", 32, 16},
                  {"x86-64-v4", 64, 32},      {"znver3", 32, 16},        {"znver4", 64, 32},
                  {"skylake-avx512", 64, 32}, {"haswell", 32, 16},       {"sapphirerapids", 64, 32},
                  {"neoverse-n1", 16, 32},    {"cortex-a53", 16, 32},    {"neoverse-v1", 16, 32},
                  {"alderlake", 32, 16},      {"icelake-server", 64, 32}};
  for (const auto& [name, bytes, registers] : expected) {
    const auto cpu = cpu_named(name);
    ASSERT_TRUE(cpu) << name;
    EXPECT_EQ(cpu->name, name);
    EXPECT_EQ(cpu->vector_bytes, bytes) << name;
    EXPECT_EQ(cpu->vector_registers, registers) << name;
    EXPECT_EQ(cpu->lanes(4), bytes / 4);
    EXPECT_GT(cpu->fma_per_cycle, 0);
  }
}

TEST(Machine, OnlyCpusOfThisKindRunHere) {
  const bool is_x86 = host_cpu().triple.starts_with("x86_64");
  EXPECT_EQ(cpu_named("x86-64")->is_host, is_x86);
  EXPECT_EQ(cpu_named("cortex-a53")->is_host, host_cpu().name == "cortex-a53");
  if (host_cpu().vector_bytes < 64) {
    EXPECT_FALSE(cpu_named("x86-64-v4")->is_host);
  }
}

TEST(Machine, UnknownNamesAreErrors) {
  // i386 is a CPU that LLVM knows, but not one of 64 bits.
  for (const char* name : {"", "pentium9", "i386", "x86-64-v9"}) {
    const auto cpu = cpu_named(name);
    ASSERT_FALSE(cpu) << name;
    EXPECT_THAT(cpu.error().to_string(), HasSubstr("x86-64-v3"));
  }
}

}  // namespace
}  // namespace hone
