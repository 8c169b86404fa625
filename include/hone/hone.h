/* hone: compiles ONNX models to native code and runs them.
 *
 *   hone_options* options = hone_options_create();
 *   hone_options_set(options, "threads", "2");
 *   hone_model* model = NULL;
 *   hone_error* error = hone_compile_file("model.onnx", options, &model);
 *   if (error != NULL) { puts(hone_error_message(error)); hone_error_destroy(error); }
 *   hone_tensor x = {HONE_F32, 4, dims, data}, y = {HONE_F32, 2, out_dims, out_data};
 *   error = hone_model_run(model, &x, 1, &y, 1);
 *
 * Functions that can fail return NULL when all went well, or an error, which the caller destroys.
 * Models may be run from several threads at once; options belong to one thread. Nothing is printed,
 * and nothing ends the process. */
#ifndef HONE_HONE_H
#define HONE_HONE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HONE_API __attribute__((visibility("default")))
#else
#define HONE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "1.2.3" */
HONE_API const char* hone_version(void);

/* --- errors */
typedef struct hone_error hone_error;

enum {
  HONE_ERROR_INVALID = 1,     /* broken model, wrong option, wrong input */
  HONE_ERROR_UNSUPPORTED = 2, /* valid, but hone cannot compile it */
  HONE_ERROR_SYSTEM = 3,      /* files, memory, threads */
  HONE_ERROR_INTERNAL = 4     /* a bug in hone */
};

HONE_API int hone_error_kind(const hone_error* error);
/* All problems, one a line. */
HONE_API const char* hone_error_message(const hone_error* error);
HONE_API void hone_error_destroy(hone_error* error);

/* --- options, by name
 *   threads        of one run, the caller included (1)
 *   target         "host" or the name of a CPU whose code runs here (host)
 *   shape:INPUT    "1,3,224,224": shape of an input whose dimensions are open
 *   symbol:NAME    "8": value of a symbolic dimension
 *   cache_size     shapes for which compiled code is kept (8)
 *   directory      where external data of a model from memory lies
 *   engine         "native", or "reference": slow and simple (native) */
typedef struct hone_options hone_options;

HONE_API hone_options* hone_options_create(void);
HONE_API hone_error* hone_options_set(hone_options* options, const char* key, const char* value);
HONE_API void hone_options_destroy(hone_options* options);

/* --- models */
typedef struct hone_model hone_model;

/* Element types have ONNX's numbers (TensorProto.DataType); the most frequent ones: */
enum { HONE_F32 = 1, HONE_U8 = 2, HONE_I8 = 3, HONE_I32 = 6, HONE_I64 = 7, HONE_BOOL = 9 };

/* `options` may be NULL. A model all of whose shapes are known is compiled now, others when they
 * run with a shape for the first time. */
HONE_API hone_error* hone_compile_file(const char* path, const hone_options* options,
                                       hone_model** model);
/* The bytes are borrowed: they must stay until the model is destroyed. */
HONE_API hone_error* hone_compile_memory(const void* bytes, size_t size,
                                         const hone_options* options, hone_model** model);
HONE_API void hone_model_destroy(hone_model* model);

typedef struct hone_value_info {
  const char* name;
  const char* type; /* "f32[N, 3, 224, 224]" */
  int32_t element_type;
  int32_t rank;                 /* -1: not known */
  const int64_t* dims;          /* -1: not known before a run */
  const char* const* dim_names; /* "N", "3", "2*N + 1" */
  int32_t has_default;          /* an input that may be left out */
} hone_value_info;

/* These live as long as the model. NULL beyond the last. */
HONE_API size_t hone_model_input_count(const hone_model* model);
HONE_API size_t hone_model_output_count(const hone_model* model);
HONE_API const hone_value_info* hone_model_input(const hone_model* model, size_t index);
HONE_API const hone_value_info* hone_model_output(const hone_model* model, size_t index);

/* --- runs */

/* Dense, row-major, at any address. An input with element_type 0 takes its default. */
typedef struct hone_tensor {
  int32_t element_type;
  int32_t rank;
  const int64_t* dims;
  void* data;
} hone_tensor;

typedef struct hone_result hone_result;

/* Writes into memory of the caller, which must not overlap with the inputs. Types and shapes must
 * be exactly the results'. */
HONE_API hone_error* hone_model_run(hone_model* model, const hone_tensor* inputs,
                                    size_t input_count, const hone_tensor* outputs,
                                    size_t output_count);
/* Allocates the outputs. */
HONE_API hone_error* hone_model_run_new(hone_model* model, const hone_tensor* inputs,
                                        size_t input_count, hone_result** result);
/* The outputs' types and shapes for such inputs; their data is NULL. Compiles, if need be. */
HONE_API hone_error* hone_model_plan(hone_model* model, const hone_tensor* inputs,
                                     size_t input_count, hone_result** result);

HONE_API size_t hone_result_count(const hone_result* result);
/* Lives as long as the result. NULL beyond the last. */
HONE_API const hone_tensor* hone_result_tensor(const hone_result* result, size_t index);
HONE_API void hone_result_destroy(hone_result* result);

/* --- what happened. Both give JSON, to be freed by hone_string_destroy. */

/* Runs some times and tells the least seconds of each step. */
HONE_API hone_error* hone_model_profile(hone_model* model, const hone_tensor* inputs,
                                        size_t input_count, int runs, char** json);
/* Kernels, memory, and how often compiled code was reused. */
HONE_API hone_error* hone_model_report(const hone_model* model, char** json);
HONE_API void hone_string_destroy(char* text);

#ifdef __cplusplus
}
#endif

#endif
