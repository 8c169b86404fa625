/* Threads that share the tasks of one kernel after the other.
 *
 * Each thread has a contiguous share of the tasks, the same in every call, so that it finds in its
 * caches what it wrote before; who has done his share helps the others. A call ends when every task
 * is done, whether or not every thread has woken up for it. */
#ifndef HONE_RUNTIME_POOL_H
#define HONE_RUNTIME_POOL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hone_pool hone_pool;

/* Does tasks begin .. end-1. Thread 0 is the caller of hone_pool_run. */
typedef void (*hone_task_fn)(void* data, int64_t begin, int64_t end, int thread);

/* `threads` counts the caller. Null when memory or threads cannot be had. */
hone_pool* hone_pool_create(int threads);
void hone_pool_destroy(hone_pool* pool);
/* One caller at a time. */
void hone_pool_run(hone_pool* pool, int64_t tasks, hone_task_fn run, void* data);

#ifdef __cplusplus
}
#endif

#endif
