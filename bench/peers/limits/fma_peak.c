/* fma_peak.c - fp32 FMA peak of one or more threads (AVX2 + FMA3).
 *
 * Build: cc -O2 -mavx2 -mfma -pthread fma_peak.c -o fma_peak
 * Use:   fma_peak [threads] [seconds-per-round] [rounds]
 *
 * 12 independent accumulator chains of 8 lanes: enough to cover an FMA latency
 * of 4..5 cycles at two FMAs per cycle. Prints the best and the median round by
 * wall time, and by the CPU time of the threads (cpu_*: the rate while scheduled,
 * which is the number to use when other work competes for the cores).
 * One FMA of 8 lanes counts as 16 flop. A second kernel measures the same with
 * one memory operand per FMA from L1 (the shape of a gemm inner loop).
 */
#define _GNU_SOURCE
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double clk(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double now(void) { return clk(CLOCK_MONOTONIC); }
static double cpu(void) { return clk(CLOCK_THREAD_CPUTIME_ID); }

#define NACC 12
/* One call: iters * NACC FMAs on registers only (assembly, so that no compiler can
 * spill, merge or drop them). */
static __attribute__((noinline)) float kernel_reg(long iters) {
  float o = 0, one = 0.999999f;
  __asm__ volatile(
      "vbroadcastss %[x], %%ymm12\n\t"
      "vmovaps %%ymm12, %%ymm13\n\t"
      "vxorps %%ymm0, %%ymm0, %%ymm0\n\t vxorps %%ymm1, %%ymm1, %%ymm1\n\t"
      "vxorps %%ymm2, %%ymm2, %%ymm2\n\t vxorps %%ymm3, %%ymm3, %%ymm3\n\t"
      "vxorps %%ymm4, %%ymm4, %%ymm4\n\t vxorps %%ymm5, %%ymm5, %%ymm5\n\t"
      "vxorps %%ymm6, %%ymm6, %%ymm6\n\t vxorps %%ymm7, %%ymm7, %%ymm7\n\t"
      "vxorps %%ymm8, %%ymm8, %%ymm8\n\t vxorps %%ymm9, %%ymm9, %%ymm9\n\t"
      "vxorps %%ymm10, %%ymm10, %%ymm10\n\t vxorps %%ymm11, %%ymm11, %%ymm11\n\t"
      ".p2align 5\n"
      "1:\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm0\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm1\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm2\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm3\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm4\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm5\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm6\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm7\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm8\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm9\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm10\n\t vfmadd231ps %%ymm12, %%ymm13, %%ymm11\n\t"
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      "vaddps %%ymm0, %%ymm11, %%ymm0\n\t"
      "vmovss %%xmm0, %[o]\n\t"
      "vzeroupper\n\t"
      : [n] "+r"(iters), [o] "=m"(o)
      : [x] "m"(one)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13");
  return o;
}

/* gemm-like micro kernel: 6x16 outer product, A broadcast from L1, B from L1. */
#define ROW(i)                               \
  v = _mm256_broadcast_ss(a + i);            \
  c##i##0 = _mm256_fmadd_ps(v, b0, c##i##0); \
  c##i##1 = _mm256_fmadd_ps(v, b1, c##i##1);
static __attribute__((noinline)) float kernel_gemm(long iters, const float* A, const float* B,
                                                   int kc) {
  float s = 0;
  for (long it = 0; it < iters; it++) {
    __m256 z = _mm256_setzero_ps(), c00 = z, c01 = z, c10 = z, c11 = z, c20 = z, c21 = z, c30 = z,
           c31 = z, c40 = z, c41 = z, c50 = z, c51 = z;
    const float *a = A, *b = B;
    for (int k = 0; k < kc; k++, a += 6, b += 16) {
      __m256 b0 = _mm256_load_ps(b), b1 = _mm256_load_ps(b + 8), v;
      ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5)
    }
    c00 = _mm256_add_ps(_mm256_add_ps(_mm256_add_ps(c00, c01), _mm256_add_ps(c10, c11)),
                        _mm256_add_ps(_mm256_add_ps(c20, c21), _mm256_add_ps(c30, c31)));
    c00 = _mm256_add_ps(c00, _mm256_add_ps(_mm256_add_ps(c40, c41), _mm256_add_ps(c50, c51)));
    s += _mm256_cvtss_f32(c00);
    __asm__ volatile(""
                     : "+r"(A),
                       "+r"(B)); /* A and B could have changed: no hoisting out of the loop */
  }
  return s;
}

struct job {
  int mode;
  double secs, gflops, cgflops;
  pthread_barrier_t* bar;
};
static volatile float sink;

static void* worker(void* p) {
  struct job* j = p;
  const int kc = 128;
  float *A = NULL, *B = NULL;
  if (posix_memalign((void**)&A, 64, sizeof(float) * 6 * kc)) exit(1);
  if (posix_memalign((void**)&B, 64, sizeof(float) * 16 * kc)) exit(1);
  for (int i = 0; i < 6 * kc; i++) A[i] = 1e-3f * (i % 7);
  for (int i = 0; i < 16 * kc; i++) B[i] = 1e-3f * (i % 5);
  pthread_barrier_wait(j->bar);
  double t0 = now(), t1, c0 = cpu();
  double flop = 0;
  do {
    if (j->mode == 0) {
      sink = kernel_reg(20000);
      flop += 20000.0 * NACC * 16;
    } else {
      sink = kernel_gemm(200, A, B, kc);
      flop += 200.0 * kc * 12 * 16;
    }
    t1 = now();
  } while (t1 - t0 < j->secs);
  j->cgflops = flop / (cpu() - c0) * 1e-9;
  j->gflops = flop / (t1 - t0) * 1e-9;
  free(A);
  free(B);
  return NULL;
}

static int cmp(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argc, char** argv) {
  int nt = argc > 1 ? atoi(argv[1]) : 1;
  double secs = argc > 2 ? atof(argv[2]) : 0.3;
  int rounds = argc > 3 ? atoi(argv[3]) : 7;
  if (nt < 1 || nt > 256 || rounds < 1 || rounds > 1000) return 2;
  for (int mode = 0; mode < 2; mode++) {
    double r[1000], q[1000];
    for (int k = 0; k < rounds; k++) {
      pthread_t th[256];
      struct job jb[256];
      pthread_barrier_t bar;
      pthread_barrier_init(&bar, NULL, nt);
      for (int i = 0; i < nt; i++) {
        jb[i] = (struct job){mode, secs, 0, 0, &bar};
        pthread_create(&th[i], NULL, worker, &jb[i]);
      }
      double s = 0, c = 0;
      for (int i = 0; i < nt; i++) {
        pthread_join(th[i], NULL);
        s += jb[i].gflops;
        c += jb[i].cgflops;
      }
      pthread_barrier_destroy(&bar);
      r[k] = s;
      q[k] = c;
    }
    qsort(r, rounds, sizeof(double), cmp);
    qsort(q, rounds, sizeof(double), cmp);
    printf(
        "{\"test\":\"%s\",\"threads\":%d,\"best_gflops\":%.1f,\"median_gflops\":%.1f,"
        "\"cpu_best_gflops\":%.1f,\"cpu_median_gflops\":%.1f}\n",
        mode ? "fma_gemm6x16_L1" : "fma_registers", nt, r[rounds - 1], r[rounds / 2], q[rounds - 1],
        q[rounds / 2]);
    fflush(stdout);
  }
  return 0;
}
