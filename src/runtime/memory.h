/* Memory of a context: aligned, and in huge pages where it is big. */
#ifndef HONE_RUNTIME_MEMORY_H
#define HONE_RUNTIME_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A multiple of every vector and cache line that kernels assume. */
#define HONE_ALIGNMENT 64

/* Not initialised; aligned to HONE_ALIGNMENT, and to 2 MiB from there on. Null when there is no
 * memory, or when nothing is asked for. */
void* hone_memory_get(size_t bytes);
/* `bytes` as it was asked for. */
void hone_memory_put(void* memory, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
