/* What a library that `hone compile` writes consists of, beside its kernels. */
#ifndef HONE_RUNTIME_LIBRARY_H
#define HONE_RUNTIME_LIBRARY_H

#include "runtime/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Start of a file of weights; the constants follow. */
typedef struct hone_weights {
  char magic[16];     /* "hone weights 1" */
  int64_t bytes;      /* of the constants */
  uint64_t digest[5]; /* of the constants */
} hone_weights;

/* Data that the compiler writes. */
extern const hone_program hone_library_program; /* its constants may be null */
extern const hone_weights hone_library_weights;

typedef struct hone_library hone_library;

/* Null when memory or threads cannot be had, or when the weights are not those of this library.
 * `weights_path` is for libraries whose weights lie beside them, else null. */
hone_library* hone_library_create(const char* weights_path, int threads);
void hone_library_destroy(hone_library* library);
/* Null, or what went wrong. */
const char* hone_library_run(hone_library* library, const void* const* inputs,
                             void* const* outputs);
int hone_library_input_count(void);
int hone_library_output_count(void);
const hone_tensor_info* hone_library_input(int index);
const hone_tensor_info* hone_library_output(int index);

#ifdef __cplusplus
}
#endif

#endif
