#include "driver/limits.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>
#include <vector>

namespace hone {
namespace {

constexpr int kRounds = 5;

// Independent chains of multiply-adds in registers, in assembly so that no compiler can spill,
// merge or drop them: 12 cover a latency of 4 or 5 cycles at two a cycle. Each function gives the
// operations that it has done.
#if defined(__x86_64__)

// The instruction once for each register whose number stands in the list.
#define HONE_FOR_EACH(numbers, instruction) ".irp r," numbers "\n\t" instruction "\n\t.endr\n\t"
#define HONE_ZERO \
  HONE_FOR_EACH("0,1,2,3,4,5,6,7,8,9,10,11,12,13", "vxorps %%xmm\\r, %%xmm\\r, %%xmm\\r")
#define HONE_CHAINS(instruction) HONE_FOR_EACH("0,1,2,3,4,5,6,7,8,9,10,11", instruction)
#define HONE_CLOBBERS                                                                            \
  "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13"

double multiply_add_avx2(int64_t iterations) {
  const double done = static_cast<double>(iterations) * 12 * 8 * 2;
  __asm__ volatile(HONE_ZERO ".p2align 5\n1:\n\t" HONE_CHAINS(
                       "vfmadd231ps %%ymm12, %%ymm13, %%ymm\\r") "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(iterations)
                   :
                   : HONE_CLOBBERS);
  return done;
}

double multiply_add_avx512(int64_t iterations) {
  const double done = static_cast<double>(iterations) * 12 * 16 * 2;
  __asm__ volatile(HONE_ZERO ".p2align 5\n1:\n\t" HONE_CHAINS(
                       "vfmadd231ps %%zmm12, %%zmm13, %%zmm\\r") "dec %0\n\tjnz 1b\n\tvzeroupper"
                   : "+r"(iterations)
                   :
                   : HONE_CLOBBERS);
  return done;
}

// Without fused multiply-adds, a multiplication and an addition at once are the most.
double multiply_add_sse(int64_t iterations) {
  const double done = static_cast<double>(iterations) * 8 * 4;
  __asm__ volatile(
      "xorps %%xmm12, %%xmm12\n\t.p2align 5\n1:\n\t"
      "mulps %%xmm12, %%xmm0\n\taddps %%xmm12, %%xmm1\n\tmulps %%xmm12, %%xmm2\n\t"
      "addps %%xmm12, %%xmm3\n\tmulps %%xmm12, %%xmm4\n\taddps %%xmm12, %%xmm5\n\t"
      "mulps %%xmm12, %%xmm6\n\taddps %%xmm12, %%xmm7\n\tdec %0\n\tjnz 1b"
      : "+r"(iterations)
      :
      : HONE_CLOBBERS);
  return done;
}

double multiply_add(int64_t iterations) {
  static const bool kAvx512 = __builtin_cpu_supports("avx512f") != 0;
  static const bool kAvx2 =
      __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (kAvx512) return multiply_add_avx512(iterations);
  return kAvx2 ? multiply_add_avx2(iterations) : multiply_add_sse(iterations);
}

#elif defined(__aarch64__)

double multiply_add(int64_t iterations) {
  const double done = static_cast<double>(iterations) * 16 * 4 * 2;
  __asm__ volatile(
      "movi v30.4s, #0\n\tmovi v31.4s, #0\n1:\n\t"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\tfmla v\\r\\().4s, v30.4s, "
      "v31.4s\n\t.endr\n\t"
      "subs %0, %0, #1\n\tb.ne 1b"
      : "+r"(iterations)
      :
      : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12",
        "v13", "v14", "v15", "v30", "v31");
  return done;
}

#endif

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Time that a thread was on a core: others on this machine do not count.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Work per second of all threads together; `work` does a piece and tells how much it was.
template <typename Work>
double rate_of(int threads, double seconds, Work work) {
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> rates(static_cast<size_t>(threads));
    std::barrier together(threads);
    const auto one = [&](int thread) {
      together.arrive_and_wait();
      const auto start = Clock::now();
      const double cpu_start = cpu_seconds();
      double done = 0;
      do done += work(thread);
      while (seconds_since(start) < seconds / kRounds);
      rates[static_cast<size_t>(thread)] = done / (cpu_seconds() - cpu_start);
    };
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(one, thread);
    one(0);
    others.clear();  // waits for them
    double sum = 0;
    for (const double rate : rates) sum += rate;
    best = std::max(best, sum);
  }
  return best;
}

// The sum keeps the loads alive; four vectors at once hide their latency.
double read_all(const std::vector<uint64_t>& memory) {
  typedef uint64_t Vector __attribute__((vector_size(32), aligned(8)));
  const auto* vectors = reinterpret_cast<const Vector*>(memory.data());
  Vector sums[4] = {};
  const size_t count = memory.size() / 4;
  for (size_t i = 0; i + 4 <= count; i += 4)
    for (size_t k = 0; k < 4; ++k) sums[k] ^= vectors[i + k];
  const Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  __asm__ volatile("" : : "m"(sum));
  return static_cast<double>(memory.size() * sizeof(uint64_t));
}

}  // namespace

MachineLimits measure_limits(int threads, double seconds) {
  MachineLimits limits;
  limits.gflops = rate_of(threads, seconds, [](int) { return multiply_add(20000); }) * 1e-9;
  constexpr size_t kBytes = size_t{128} << 20;  // of each thread; far beyond any cache
  std::vector<std::vector<uint64_t>> memory(static_cast<size_t>(threads));
  for (auto& one : memory) one.assign(kBytes / sizeof(uint64_t), 1);
  limits.read_gbps =
      rate_of(threads, seconds, [&](int t) { return read_all(memory[static_cast<size_t>(t)]); }) *
      1e-9;
  return limits;
}

}  // namespace hone
