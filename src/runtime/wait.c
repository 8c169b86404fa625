#define _GNU_SOURCE
#include "runtime/wait.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void hone_word_sleep(hone_word* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void hone_word_wake(hone_word* word, int threads) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__clang__)
  __builtin_arm_isb(15);
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

uint32_t hone_word_spin(hone_word* word, uint32_t value, int64_t nanoseconds) {
  uint32_t seen = atomic_load_explicit(word, memory_order_acquire);
  if (seen != value || nanoseconds <= 0) return seen;
  const int64_t end = now() + nanoseconds;
  do {
    for (int i = 0; i < 32; ++i) {
      relax();
      seen = atomic_load_explicit(word, memory_order_acquire);
      if (seen != value) return seen;
    }
  } while (now() < end);
  return seen;
}
