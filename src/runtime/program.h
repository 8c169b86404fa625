/* A compiled program as data, and how it is run. Plain C: the same code runs programs that were
 * compiled in this process and those inside a library that `hone compile` wrote.
 *
 * A program is immutable. A run happens in a context, which owns the arena, the scratch memory
 * of each thread and the threads; one context runs one program at a time. */
#ifndef HONE_RUNTIME_PROGRAM_H
#define HONE_RUNTIME_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs tasks begin .. end-1 of a kernel. `scratch` belongs to the calling thread. */
typedef void (*hone_kernel_fn)(void* const* buffers, const int64_t* extents, int64_t begin,
                               int64_t end, void* scratch);

enum { HONE_IN_ARENA, HONE_IN_CONSTANTS, HONE_IN_INPUT, HONE_IN_OUTPUT };

/* Where a buffer of a step lies: an offset in bytes into the arena, the constants, or the
 * index-th input or output. */
typedef struct hone_place {
  int32_t kind;
  int32_t index;
  int64_t offset;
} hone_place;

/* Something the host process does itself, between kernels (no native code for it). Returns null,
 * or a message that lives as long as the program. */
typedef const char* (*hone_host_fn)(void* data, void* const* buffers);

typedef struct hone_step {
  hone_kernel_fn kernel; /* null: `host` is called instead, by one thread */
  hone_host_fn host;
  void* host_data;
  const hone_place* places; /* one per buffer argument */
  const int64_t* extents;   /* integer arguments */
  int32_t place_count;
  int32_t kernel_index; /* into kernel_names */
  int64_t tasks;        /* to be shared among the threads */
  const char* label;    /* the nodes it stands for */
  double flops;         /* of one run, for reports */
  double bytes;         /* read and written once, for reports */
} hone_step;

typedef struct hone_tensor_info {
  const char* name;
  int32_t element_type; /* ONNX TensorProto.DataType */
  int32_t rank;
  const int64_t* dims;
  int64_t bytes;
} hone_tensor_info;

typedef struct hone_program {
  const hone_step* steps;
  int64_t step_count;
  const char* const* kernel_names;
  int64_t kernel_count;
  const hone_tensor_info* inputs;
  const hone_tensor_info* outputs;
  int64_t input_count, output_count;
  const void* constants; /* aligned to 64 bytes */
  int64_t constant_bytes;
  int64_t arena_bytes;
  int64_t scratch_bytes; /* per thread */
} hone_program;

typedef struct hone_context hone_context;

/* Null when memory or threads cannot be had. `threads` counts the caller. */
hone_context* hone_context_create(const hone_program* program, int threads);
void hone_context_destroy(hone_context* context);
/* Null, or what went wrong. Pointers in the program's order; sizes are the caller's duty. */
const char* hone_context_run(hone_context* context, const void* const* inputs,
                             void* const* outputs);
/* The same; adds the seconds of each step to seconds[step]. */
const char* hone_context_profile(hone_context* context, const void* const* inputs,
                                 void* const* outputs, double* seconds);

#ifdef __cplusplus
}
#endif

#endif
