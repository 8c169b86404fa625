/* The interface of a library that `hone compile` writes. It is compiled into each of them, where
 * its functions get the model's own name in place of hone_library: resnet18_create() and so on. */
#define _GNU_SOURCE
#include "runtime/library.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct hone_library {
  hone_context* context;
  hone_program program; /* with the weights in place */
  void* weights;        /* mapped; null where they are part of the library */
  size_t weights_size;
};

/* Null unless the file holds exactly the weights that belong to this library. */
static void* map_weights(const char* path, size_t* size) {
  const hone_weights* wanted = &hone_library_weights;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  void* map = MAP_FAILED;
  *size = sizeof(hone_weights) + (size_t)wanted->bytes;
  if (lseek(file, 0, SEEK_END) == (off_t)*size)
    map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (map == MAP_FAILED) return NULL;
  if (memcmp(map, wanted, sizeof *wanted) == 0) return map;
  munmap(map, *size);
  return NULL;
}

static int find_weights(hone_library* library, const char* path) {
  if (library->program.constants != NULL) return 1;
  if (path == NULL) return 0;
  library->weights = map_weights(path, &library->weights_size);
  if (library->weights == NULL) return 0;
  library->program.constants = (const char*)library->weights + sizeof(hone_weights);
  return 1;
}

hone_library* hone_library_create(const char* weights_path, int threads) {
  hone_library* library = calloc(1, sizeof *library);
  if (library == NULL) return NULL;
  library->program = hone_library_program;
  if (find_weights(library, weights_path))
    library->context = hone_context_create(&library->program, threads);
  if (library->context != NULL) return library;
  hone_library_destroy(library);
  return NULL;
}

void hone_library_destroy(hone_library* library) {
  if (library == NULL) return;
  hone_context_destroy(library->context);
  if (library->weights != NULL) munmap(library->weights, library->weights_size);
  free(library);
}

const char* hone_library_run(hone_library* library, const void* const* inputs,
                             void* const* outputs) {
  return hone_context_run(library->context, inputs, outputs);
}

static const hone_tensor_info* info_at(const hone_tensor_info* infos, int64_t count, int index) {
  return index >= 0 && index < count ? &infos[index] : NULL;
}

int hone_library_input_count(void) { return (int)hone_library_program.input_count; }
int hone_library_output_count(void) { return (int)hone_library_program.output_count; }
const hone_tensor_info* hone_library_input(int index) {
  return info_at(hone_library_program.inputs, hone_library_program.input_count, index);
}
const hone_tensor_info* hone_library_output(int index) {
  return info_at(hone_library_program.outputs, hone_library_program.output_count, index);
}
