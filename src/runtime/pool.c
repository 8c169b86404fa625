#define _GNU_SOURCE
#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/wait.h"

enum {
  kCacheLines = 128, /* x86 fetches pairs of lines */
  kMostTickets = 1 << 30,
  kStackBytes = 1 << 20,
};
static const uint32_t kNothing = UINT32_MAX;
/* Kernels follow each other within microseconds; waking a sleeping thread takes tens of them. */
static const int64_t kSpinNanoseconds = 60000;

/* A thread's share of the running job: the job's number in the high half, its next ticket in the
 * low half. Who takes tickets exchanges the word, which fails when the job is over. */
typedef struct share {
  _Alignas(kCacheLines) _Atomic uint64_t state;
} share;

typedef struct worker {
  hone_pool* pool;
  pthread_t thread;
  int index;
} worker;

struct hone_pool {
  /* The job. A ticket stands for `group` tasks. All but `tickets` are read only by holders of a
   * ticket, and written only when there are none. */
  hone_task_fn run;
  void* data;
  int64_t tasks, group;
  _Atomic uint32_t tickets;
  uint32_t job; /* its number */
  int threads;
  int started; /* workers that exist */
  int64_t spin_nanoseconds;
  worker* workers;
  share* shares;

  _Alignas(kCacheLines) hone_word epoch; /* changes with each job, and at the end */
  _Atomic uint32_t sleepers;
  _Atomic uint32_t stop;
  _Alignas(kCacheLines) hone_word left; /* tickets that are not done */
  _Atomic uint32_t caller_sleeps;
};

/* First ticket of a thread's share; that of the next thread ends it. */
static uint32_t share_begin(int thread, uint32_t tickets, int threads) {
  return (uint32_t)((uint64_t)tickets * (uint64_t)thread / (uint64_t)threads);
}

/* Takes a quarter of what is left of a share: large pieces first, small ones at the end, where they
 * balance the threads. False when nothing is left.
 *
 * The caller of hone_pool_run voids every share before it changes `tickets`. So if this sees the
 * `tickets` of a later job, it also sees that the share has changed, and the exchange fails. */
static int take(hone_pool* pool, int thread, uint32_t* begin, uint32_t* end) {
  _Atomic uint64_t* word = &pool->shares[thread].state;
  uint64_t state = atomic_load_explicit(word, memory_order_acquire);
  for (;;) {
    const uint32_t next = (uint32_t)state;
    const uint32_t tickets = atomic_load_explicit(&pool->tickets, memory_order_acquire);
    const uint32_t last = share_begin(thread + 1, tickets, pool->threads);
    if (next >= last) return 0;
    const uint32_t count = (last - next + 3) / 4;
    if (atomic_compare_exchange_weak_explicit(word, &state, state + count, memory_order_acq_rel,
                                              memory_order_acquire)) {
      *begin = next;
      *end = next + count;
      return 1;
    }
  }
}

static void finish(hone_pool* pool, uint32_t count) {
  if (atomic_fetch_sub(&pool->left, count) != count) return;
  if (atomic_load(&pool->caller_sleeps) != 0) hone_word_wake(&pool->left, 1);
}

static void work(hone_pool* pool, int self) {
  for (int k = 0; k < pool->threads; ++k) {
    const int owner = (self + k) % pool->threads;
    uint32_t begin, end;
    while (take(pool, owner, &begin, &end)) {
      const int64_t last = (int64_t)end * pool->group;
      pool->run(pool->data, (int64_t)begin * pool->group, last < pool->tasks ? last : pool->tasks,
                self);
      finish(pool, end - begin);
    }
  }
}

static uint32_t wait_for_job(hone_pool* pool, uint32_t seen) {
  uint32_t epoch = hone_word_spin(&pool->epoch, seen, pool->spin_nanoseconds);
  if (epoch != seen) return epoch;
  atomic_fetch_add(&pool->sleepers, 1);
  while ((epoch = atomic_load(&pool->epoch)) == seen) hone_word_sleep(&pool->epoch, seen);
  atomic_fetch_sub(&pool->sleepers, 1);
  return epoch;
}

static void* worker_main(void* argument) {
  const worker* me = argument;
  hone_pool* pool = me->pool;
  uint32_t epoch = 0;
  for (;;) {
    epoch = wait_for_job(pool, epoch);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire) != 0) return NULL;
    work(pool, me->index);
  }
}

static void publish(hone_pool* pool, int64_t tasks, hone_task_fn run, void* data) {
  const uint64_t job = (uint64_t)++pool->job << 32;
  for (int i = 0; i < pool->threads; ++i)
    atomic_store_explicit(&pool->shares[i].state, job | kNothing, memory_order_relaxed);
  const int64_t group = (tasks - 1) / kMostTickets + 1;
  const uint32_t tickets = (uint32_t)((tasks + group - 1) / group);
  atomic_store_explicit(&pool->tickets, tickets, memory_order_release);
  pool->run = run;
  pool->data = data;
  pool->tasks = tasks;
  pool->group = group;
  atomic_store_explicit(&pool->left, tickets, memory_order_relaxed);
  for (int i = 0; i < pool->threads; ++i)
    atomic_store_explicit(&pool->shares[i].state, job | share_begin(i, tickets, pool->threads),
                          memory_order_release);
  atomic_fetch_add(&pool->epoch, 1);
  const uint32_t sleepers = atomic_load(&pool->sleepers);
  const uint32_t wanted = tickets - 1; /* the caller takes one */
  if (sleepers != 0) hone_word_wake(&pool->epoch, (int)(wanted < sleepers ? wanted : sleepers));
}

/* Asleep only when nothing has been done for a while. */
static void wait_until_done(hone_pool* pool) {
  uint32_t left;
  while ((left = atomic_load_explicit(&pool->left, memory_order_acquire)) != 0) {
    if (hone_word_spin(&pool->left, left, pool->spin_nanoseconds) != left) continue;
    atomic_store(&pool->caller_sleeps, 1);
    left = atomic_load(&pool->left);
    if (left != 0) hone_word_sleep(&pool->left, left);
    atomic_store(&pool->caller_sleeps, 0);
  }
}

void hone_pool_run(hone_pool* pool, int64_t tasks, hone_task_fn run, void* data) {
  if (tasks <= 0) return;
  publish(pool, tasks, run, data);
  work(pool, 0);
  wait_until_done(pool);
}

/* With more threads than cores, staying awake keeps others from their work. */
static int64_t spin_time(int threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  return CPU_COUNT(&allowed) >= threads ? kSpinNanoseconds : 0;
}

/* Signals are for the host's own threads. */
static int start_workers(hone_pool* pool) {
  sigset_t all, before;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int index = 1;
  for (; index < pool->threads; ++index) {
    worker* one = &pool->workers[index];
    one->pool = pool;
    one->index = index;
    if (pthread_create(&one->thread, &attributes, worker_main, one) != 0) break;
    ++pool->started;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return index == pool->threads;
}

static void* zeroed(size_t count, size_t size) {
  const size_t bytes = (count * size + kCacheLines - 1) / kCacheLines * kCacheLines;
  void* memory = aligned_alloc(kCacheLines, bytes);
  if (memory != NULL) memset(memory, 0, bytes);
  return memory;
}

hone_pool* hone_pool_create(int threads) {
  if (threads < 1) threads = 1;
  hone_pool* pool = zeroed(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->threads = threads;
  pool->spin_nanoseconds = spin_time(threads);
  pool->workers = zeroed((size_t)threads, sizeof *pool->workers);
  pool->shares = zeroed((size_t)threads, sizeof *pool->shares);
  if (pool->workers != NULL && pool->shares != NULL && start_workers(pool)) return pool;
  hone_pool_destroy(pool);
  return NULL;
}

void hone_pool_destroy(hone_pool* pool) {
  if (pool == NULL) return;
  atomic_store(&pool->stop, 1);
  atomic_fetch_add(&pool->epoch, 1);
  hone_word_wake(&pool->epoch, pool->threads);
  for (int i = 1; i <= pool->started; ++i) pthread_join(pool->workers[i].thread, NULL);
  free(pool->workers);
  free(pool->shares);
  free(pool);
}
