/* stream.c - read / write / copy / triad bandwidth over a range of working sets.
 *
 * Build: cc -O2 -mavx2 -mfma -pthread stream.c -o stream
 * Use:   stream [threads] [rounds]
 *
 * Each thread has its own arrays; the size column is the working set of ONE
 * thread (all arrays of the kernel together). Bytes counted are the bytes the
 * kernel names (no write-allocate traffic is added). Best and median of rounds, by
 * wall time and by the threads' CPU time (cpu_*, robust when others use the cores).
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
static volatile float sink;
enum { RD, WR, CP, TR, NT, NK };
static const char* names[NK] = {"read", "write", "copy", "triad", "copy_nt"};
static const int narr[NK] = {1, 1, 2, 3, 2};

static __attribute__((noinline)) void k_read(const float* a, size_t n) {
  __m256 s0 = _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
  for (size_t i = 0; i < n; i += 32) {
    s0 = _mm256_add_ps(s0, _mm256_load_ps(a + i));
    s1 = _mm256_add_ps(s1, _mm256_load_ps(a + i + 8));
    s2 = _mm256_add_ps(s2, _mm256_load_ps(a + i + 16));
    s3 = _mm256_add_ps(s3, _mm256_load_ps(a + i + 24));
  }
  s0 = _mm256_add_ps(_mm256_add_ps(s0, s1), _mm256_add_ps(s2, s3));
  float o[8];
  _mm256_storeu_ps(o, s0);
  sink = o[0];
}
static __attribute__((noinline)) void k_write(float* a, size_t n) {
  __m256 v = _mm256_set1_ps(1.5f);
  for (size_t i = 0; i < n; i += 32) {
    _mm256_store_ps(a + i, v);
    _mm256_store_ps(a + i + 8, v);
    _mm256_store_ps(a + i + 16, v);
    _mm256_store_ps(a + i + 24, v);
  }
}
static __attribute__((noinline)) void k_copy(float* d, const float* a, size_t n) {
  for (size_t i = 0; i < n; i += 16) {
    __m256 x = _mm256_load_ps(a + i), y = _mm256_load_ps(a + i + 8);
    _mm256_store_ps(d + i, x);
    _mm256_store_ps(d + i + 8, y);
  }
}
static __attribute__((noinline)) void k_copy_nt(float* d, const float* a, size_t n) {
  for (size_t i = 0; i < n; i += 16) {
    __m256 x = _mm256_load_ps(a + i), y = _mm256_load_ps(a + i + 8);
    _mm256_stream_ps(d + i, x);
    _mm256_stream_ps(d + i + 8, y);
  }
  _mm_sfence();
}
static __attribute__((noinline)) void k_triad(float* d, const float* a, const float* b, size_t n) {
  __m256 s = _mm256_set1_ps(0.3f);
  for (size_t i = 0; i < n; i += 16) {
    _mm256_store_ps(d + i, _mm256_fmadd_ps(s, _mm256_load_ps(b + i), _mm256_load_ps(a + i)));
    _mm256_store_ps(d + i + 8,
                    _mm256_fmadd_ps(s, _mm256_load_ps(b + i + 8), _mm256_load_ps(a + i + 8)));
  }
}

struct job {
  int kind;
  size_t n;
  double secs, gbs, cgbs;
  float *a, *b, *c;
  pthread_barrier_t* bar;
};
static void* worker(void* p) {
  struct job* j = p;
  pthread_barrier_wait(j->bar);
  double t0 = now(), t1, c0 = cpu(), bytes = 0;
  size_t per = j->n * sizeof(float) * narr[j->kind];
  long inner = (long)((size_t)(8 << 20) / per) + 1;
  do {
    for (long r = 0; r < inner; r++) switch (j->kind) {
        case RD:
          k_read(j->a, j->n);
          break;
        case WR:
          k_write(j->a, j->n);
          break;
        case CP:
          k_copy(j->b, j->a, j->n);
          break;
        case TR:
          k_triad(j->c, j->a, j->b, j->n);
          break;
        case NT:
          k_copy_nt(j->b, j->a, j->n);
          break;
      }
    bytes += (double)per * inner;
    t1 = now();
  } while (t1 - t0 < j->secs);
  j->cgbs = bytes / (cpu() - c0) * 1e-9;
  j->gbs = bytes / (t1 - t0) * 1e-9;
  return NULL;
}
static int cmp(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}
int main(int argc, char** argv) {
  int nt = argc > 1 ? atoi(argv[1]) : 1;
  int rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (nt < 1 || nt > 64 || rounds < 1 || rounds > 100) return 2;
  static const size_t kib[] = {16, 24, 128, 256, 384, 2048, 4096, 8192, 16384, 131072, 393216};
  float* buf[64][3];
  size_t maxn = (size_t)393216 * 1024 / 4;
  for (int t = 0; t < nt; t++)
    for (int i = 0; i < 3; i++) {
      size_t bytes = maxn * 4 / (i + 1) + 4096;
      if (posix_memalign((void**)&buf[t][i], 4096, bytes)) return 1;
      memset(buf[t][i], 1, bytes);
    }
  for (size_t z = 0; z < sizeof kib / sizeof *kib; z++)
    for (int kd = 0; kd < NK; kd++) {
      double r[100], w[100];
      size_t n = kib[z] * 1024 / 4 / narr[kd] / 64 * 64;
      for (int q = 0; q < rounds; q++) {
        pthread_t th[64];
        struct job jb[64];
        pthread_barrier_t bar;
        pthread_barrier_init(&bar, NULL, nt);
        for (int t = 0; t < nt; t++) {
          jb[t] = (struct job){kd, n, 0.03, 0, 0, buf[t][0], buf[t][1], buf[t][2], &bar};
          pthread_create(&th[t], NULL, worker, &jb[t]);
        }
        double s = 0, c = 0;
        for (int t = 0; t < nt; t++) {
          pthread_join(th[t], NULL);
          s += jb[t].gbs;
          c += jb[t].cgbs;
        }
        pthread_barrier_destroy(&bar);
        r[q] = s;
        w[q] = c;
      }
      qsort(r, rounds, sizeof(double), cmp);
      qsort(w, rounds, sizeof(double), cmp);
      printf(
          "{\"test\":\"%s\",\"threads\":%d,\"kib_per_thread\":%zu,\"best_gbs\":%.1f,\"median_gbs\":"
          "%.1f,"
          "\"cpu_best_gbs\":%.1f,\"cpu_median_gbs\":%.1f}\n",
          names[kd], nt, kib[z], r[rounds - 1], r[rounds / 2], w[rounds - 1], w[rounds / 2]);
      fflush(stdout);
    }
  return 0;
}
