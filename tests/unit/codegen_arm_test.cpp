// Generated code for AArch64, run by qemu, against the same kernels on this machine.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "helpers/kernels.h"
#include "helpers/map_kernels.h"
#include "helpers/random_loops.h"
#include "machine/element_support.h"

namespace hone::testing {
namespace {

using enum ElementType;
using loop::Expr;

// A kernel with the contents of its arguments.
struct Job {
  loop::Function kernel;
  std::vector<Buffer> arguments;
  int64_t tasks = 1;
};

constexpr int64_t kExtent = 3;

std::vector<Buffer> run_here(const Job& job, const JitModule& module) {
  std::vector<Buffer> results;
  std::vector<void*> pointers;
  for (const Buffer& argument : job.arguments) {
    results.push_back(Buffer::allocate(argument.type(), argument.dims()));
    std::ranges::copy(argument.bytes(), results.back().mutable_data());
    pointers.push_back(results.back().mutable_data());
  }
  Aligned<std::byte> scratch(static_cast<size_t>(loop::scratch_bytes(job.kernel)));
  module.find(job.kernel.name)(pointers.data(), &kExtent, 0, job.tasks, scratch.data());
  return results;
}

// A program that reads the arguments of each kernel from a file, runs it and writes them to
// another.
std::string harness(const std::vector<Job>& jobs) {
  std::string text = R"(#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef void kernel(void* const*, const int64_t*, int64_t, int64_t, void*);
static void run(kernel* k, int count, const long* bytes, long tasks, FILE* in, FILE* out) {
  void* buffers[16];
  const int64_t extent = 3;
  void* scratch = aligned_alloc(64, 1 << 20);
  for (int i = 0; i < count; ++i) {
    buffers[i] = aligned_alloc(64, (bytes[i] + 63) / 64 * 64);
    if (fread(buffers[i], 1, bytes[i], in) != bytes[i]) exit(1);
  }
  k(buffers, &extent, 0, tasks, scratch);
  for (int i = 0; i < count; ++i) fwrite(buffers[i], 1, bytes[i], out);
}
)";
  for (const Job& job : jobs) text += "kernel " + job.kernel.name + ";\n";
  text += "int main(int argc, char** argv) {\n";
  text += "  FILE *in = fopen(argv[1], \"rb\"), *out = fopen(argv[2], \"wb\");\n";
  for (const Job& job : jobs) {
    std::string sizes;
    for (const Buffer& argument : job.arguments)
      sizes += std::to_string(argument.byte_size()) + ",";
    text += "  run(" + job.kernel.name + ", " + std::to_string(job.arguments.size()) +
            ", (const long[]){" + sizes + "}, " + std::to_string(job.tasks) + ", in, out);\n";
  }
  return text + "  return fclose(out);\n}\n";
}

// "clang-22", of the version that tools/versions.env names.
std::string clang() {
  std::ifstream file(HONE_SOURCE_DIR "/tools/versions.env");
  const std::string key = "CLANG_VERSION=";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return "clang-" + line.substr(key.size());
  throw std::runtime_error("no " + key);
}

class ArmRunner {
 public:
  ArmRunner() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone-arm-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ArmRunner() { std::filesystem::remove_all(folder_); }

  // The arguments after the run, in order.
  std::vector<Buffer> run(const std::vector<Job>& jobs, const Cpu& cpu) {
    std::vector<loop::Function> kernels;
    for (const Job& job : jobs) kernels.push_back(job.kernel);
    const auto object = compile_object(kernels, cpu);
    if (!object) throw std::runtime_error(object.error().to_string());
    write("kernels.o", *object);
    write("main.c", harness(jobs));
    std::string input;
    for (const Job& job : jobs)
      for (const Buffer& argument : job.arguments)
        input.append(reinterpret_cast<const char*>(argument.data()), argument.byte_size());
    write("in", input);
    const std::string root = "/usr/aarch64-linux-gnu", lib = root + "/lib";
    command(clang() + " --target=aarch64-linux-gnu -w -O1 -nostdlib -fuse-ld=lld -isystem " + root +
            "/include -Wl,-dynamic-linker," + lib + "/ld-linux-aarch64.so.1 main.c kernels.o " +
            lib + "/crt1.o " + lib + "/crti.o " + lib + "/crtn.o -L" + lib + " -lc -lm -o main");
    command("qemu-aarch64 -L " + root + " ./main in out");
    return read_results(jobs);
  }

 private:
  template <typename Bytes>
  void write(const char* name, const Bytes& bytes) {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void command(const std::string& text) {
    const std::string whole = "cd " + folder_.string() + " && " + text;
    if (std::system(whole.c_str()) != 0) throw std::runtime_error("failed: " + text);
  }
  std::vector<Buffer> read_results(const std::vector<Job>& jobs) {
    std::ifstream file(folder_ / "out", std::ios::binary);
    std::vector<Buffer> results;
    for (const Job& job : jobs) {
      for (const Buffer& argument : job.arguments) {
        results.push_back(Buffer::allocate(argument.type(), argument.dims()));
        file.read(reinterpret_cast<char*>(results.back().mutable_data()),
                  static_cast<std::streamsize>(argument.byte_size()));
      }
    }
    return results;
  }

  std::filesystem::path folder_;
};

void compare(const std::vector<Job>& jobs, double tolerance) {
  std::vector<loop::Function> kernels;
  for (const Job& job : jobs) kernels.push_back(job.kernel);
  const auto here = JitModule::compile(kernels, host_cpu());
  ASSERT_TRUE(here) << here.error().to_string();
  const auto there = ArmRunner().run(jobs, *cpu_named("neoverse-n1"));
  size_t at = 0;
  for (const Job& job : jobs)
    for (const Buffer& wanted : run_here(job, **here))
      expect_same(there[at++], wanted, {}, job.kernel.name, tolerance);
}

Job map_job(const std::string& name, ElementType result, const std::vector<ElementType>& types,
            const std::function<Expr(std::vector<Expr>)>& body) {
  Job job{map_kernel(name, result, 8, types, body), {}};
  for (size_t i = 0; i < types.size(); ++i) job.arguments.push_back(inputs_of(types[i], i));
  job.arguments.push_back(Buffer::allocate(result, {kMapElements}));
  return job;
}

TEST(CodegenArm, FunctionsAgree) {
  std::vector<Job> jobs;
  for (const ElementType type : {kF32, kF64, kI32, kI64, kU8}) {
    for (int k = 0; k < kFnCount; ++k) {
      const auto fn = static_cast<Fn>(k);
      const FnInfo& info = info_of(fn);
      const bool on_bools = fn >= Fn::kAnd && fn <= Fn::kNot;
      const bool on_integers = fn >= Fn::kBitAnd && fn <= Fn::kShiftRight;
      const bool on_floats =
          (fn >= Fn::kExp && fn <= Fn::kAtanh) || fn == Fn::kIsNan || fn == Fn::kIsInf;
      if (on_bools || fn >= Fn::kSelect || (is_float(type) ? on_integers : on_floats)) continue;
      const std::vector<ElementType> types(static_cast<size_t>(info.arity), type);
      jobs.push_back(map_job("f" + std::to_string(k) + "_" + std::string(name_of(type)),
                             info.boolean_result ? kBool : type, types,
                             [&](std::vector<Expr> args) { return Expr::apply(fn, args); }));
    }
  }
  compare(jobs, 1e-6);
}

TEST(CodegenArm, CastsAgree) {
  std::vector<Job> jobs;
  for (const ElementType from : {kF32, kF64, kF16, kI64, kU8, kF8E4M3FN}) {
    for (int t = 0; t < kElementTypeCount; ++t) {
      const auto to = static_cast<ElementType>(t);
      if (!can_emit(to) || to == from) continue;
      jobs.push_back(map_job("c_" + std::string(name_of(from)) + "_" + std::string(name_of(to)), to,
                             {from},
                             [&](std::vector<Expr> args) { return Expr::cast(to, args[0]); }));
    }
  }
  compare(jobs, 0);
}

TEST(CodegenArm, RandomKernelsAgree) {
  std::vector<Job> jobs;
  for (uint64_t seed = 100; seed < 112; ++seed) {
    Job job{random_loops(seed), {}, kRandomLoopTasks};
    job.kernel.name = "k" + std::to_string(seed);
    for (int i = 0; i < job.kernel.argument_count; ++i) {
      const loop::BufferDecl& decl = job.kernel.buffers[static_cast<size_t>(i)];
      Buffer argument = Buffer::allocate(kF64, {decl.size});
      for (int64_t e = 0; e < decl.size; ++e)
        argument.as_mutable<double>()[size_t(e)] = double((e * 37 + i * 11) % 91) / 4 - 8;
      job.arguments.push_back(convert(argument, decl.element));
    }
    jobs.push_back(std::move(job));
  }
  compare(jobs, 1e-3);
}

}  // namespace
}  // namespace hone::testing
