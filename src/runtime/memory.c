#define _GNU_SOURCE
#include "runtime/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

static const size_t kHugePage = (size_t)2 << 20;

/* A mapping starts at a page: take a huge page more, and give back what lies around. */
static void* map_huge(size_t bytes) {
  const size_t mapped = bytes + kHugePage;
  char* start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  const size_t before = (kHugePage - (uintptr_t)start % kHugePage) % kHugePage;
  if (before != 0) munmap(start, before);
  if (before != kHugePage) munmap(start + before + bytes, kHugePage - before);
  madvise(start + before, bytes, MADV_HUGEPAGE); /* advice: nothing is lost when it is not taken */
  return start + before;
}

static size_t rounded(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

void* hone_memory_get(size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX / 2) return NULL;
  if (bytes >= kHugePage) return map_huge(rounded(bytes, 4096));
  return aligned_alloc(HONE_ALIGNMENT, rounded(bytes, HONE_ALIGNMENT));
}

void hone_memory_put(void* memory, size_t bytes) {
  if (memory == NULL) return;
  if (bytes >= kHugePage)
    munmap(memory, rounded(bytes, 4096));
  else
    free(memory);
}
