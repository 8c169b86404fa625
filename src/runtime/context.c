#define _GNU_SOURCE
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/program.h"

/* A pointer that each run sets anew. */
typedef struct caller_place {
  void** pointer;
  const hone_place* place;
} caller_place;

struct hone_context {
  const hone_program* program;
  hone_pool* pool; /* null: nothing is shared among threads */
  int threads;
  char* arena;
  char* scratch; /* of all threads, thread_scratch bytes each */
  size_t thread_scratch;
  void** pointers;       /* the buffers of all steps, one after the other */
  void*** step_pointers; /* where each step's begin */
  caller_place* caller_places;
  int64_t caller_place_count;
  atomic_flag busy;
  char message[160];
};

static int64_t count_places(const hone_program* program, int of_caller) {
  int64_t count = 0;
  for (int64_t s = 0; s < program->step_count; ++s) {
    const hone_step* step = &program->steps[s];
    for (int32_t i = 0; i < step->place_count; ++i) {
      const int32_t kind = step->places[i].kind;
      count += !of_caller || kind == HONE_IN_INPUT || kind == HONE_IN_OUTPUT;
    }
  }
  return count;
}

static int64_t most_tasks(const hone_program* program) {
  int64_t most = 1;
  for (int64_t s = 0; s < program->step_count; ++s) {
    const hone_step* step = &program->steps[s];
    if (step->kernel != NULL && step->tasks > most) most = step->tasks;
  }
  return most;
}

/* The constants are never written: no place of theirs is an output of a kernel. */
static void* fixed_pointer(const hone_context* context, const hone_place* place) {
  const char* constants = context->program->constants;
  return place->kind == HONE_IN_ARENA ? context->arena + place->offset
                                      : (char*)(uintptr_t)(constants + place->offset);
}

static void resolve_places(hone_context* context) {
  const hone_program* program = context->program;
  void** next = context->pointers;
  for (int64_t s = 0; s < program->step_count; ++s) {
    const hone_step* step = &program->steps[s];
    context->step_pointers[s] = next;
    for (int32_t i = 0; i < step->place_count; ++i, ++next) {
      const hone_place* place = &step->places[i];
      if (place->kind == HONE_IN_INPUT || place->kind == HONE_IN_OUTPUT)
        context->caller_places[context->caller_place_count++] = (caller_place){next, place};
      else
        *next = fixed_pointer(context, place);
    }
  }
}

/* calloc may give null for nothing. */
static void* table_of(int64_t count, size_t size) { return calloc((size_t)count + 1, size); }

/* Never nothing: empty tensors have a place, too. */
static size_t arena_size(const hone_program* program) {
  return (size_t)program->arena_bytes + HONE_ALIGNMENT;
}

static int get_memory(hone_context* context) {
  const hone_program* program = context->program;
  const size_t page = 4096;
  context->thread_scratch = ((size_t)program->scratch_bytes / page + 1) * page;
  const size_t scratch = context->thread_scratch * (size_t)context->threads;
  context->arena = hone_memory_get(arena_size(program));
  context->scratch = hone_memory_get(scratch);
  context->pointers = table_of(count_places(program, 0), sizeof *context->pointers);
  context->caller_places = table_of(count_places(program, 1), sizeof *context->caller_places);
  context->step_pointers = table_of(program->step_count, sizeof *context->step_pointers);
  return context->arena != NULL && context->scratch != NULL && context->pointers != NULL &&
         context->caller_places != NULL && context->step_pointers != NULL;
}

hone_context* hone_context_create(const hone_program* program, int threads) {
  hone_context* context = calloc(1, sizeof *context);
  if (context == NULL) return NULL;
  const int64_t tasks = most_tasks(program);
  context->program = program;
  context->threads = threads < 1 ? 1 : threads > tasks ? (int)tasks : threads;
  atomic_flag_clear(&context->busy);
  int ready = get_memory(context);
  if (ready && context->threads > 1) {
    context->pool = hone_pool_create(context->threads);
    ready = context->pool != NULL;
  }
  if (!ready) {
    hone_context_destroy(context);
    return NULL;
  }
  resolve_places(context);
  return context;
}

void hone_context_destroy(hone_context* context) {
  if (context == NULL) return;
  hone_pool_destroy(context->pool);
  hone_memory_put(context->arena, arena_size(context->program));
  hone_memory_put(context->scratch, context->thread_scratch * (size_t)context->threads);
  free(context->pointers);
  free(context->caller_places);
  free(context->step_pointers);
  free(context);
}

/* What a thread of the pool needs to know. */
typedef struct shared_step {
  const hone_context* context;
  const hone_step* step;
  void* const* buffers;
} shared_step;

static void run_share(void* data, int64_t begin, int64_t end, int thread) {
  const shared_step* shared = data;
  const hone_context* context = shared->context;
  shared->step->kernel(shared->buffers, shared->step->extents, begin, end,
                       context->scratch + context->thread_scratch * (size_t)thread);
}

static const char* run_step(const hone_context* context, int64_t index) {
  const hone_step* step = &context->program->steps[index];
  void* const* buffers = context->step_pointers[index];
  if (step->kernel == NULL) return step->host(step->host_data, buffers);
  if (context->pool == NULL || step->tasks <= 1) {
    step->kernel(buffers, step->extents, 0, step->tasks, context->scratch);
  } else {
    shared_step shared = {context, step, buffers};
    hone_pool_run(context->pool, step->tasks, run_share, &shared);
  }
  return NULL;
}

static const char* check_pointers(hone_context* context, const char* what,
                                  const hone_tensor_info* infos, int64_t count,
                                  const void* const* given) {
  for (int64_t i = 0; i < count; ++i) {
    if (infos[i].bytes == 0 || (given != NULL && given[i] != NULL)) continue;
    snprintf(context->message, sizeof context->message,
             "%s %" PRId64 " ('%.80s') is a null pointer", what, i, infos[i].name);
    return context->message;
  }
  return NULL;
}

static const char* set_caller_places(hone_context* context, const void* const* inputs,
                                     void* const* outputs) {
  const hone_program* program = context->program;
  const char* error =
      check_pointers(context, "input", program->inputs, program->input_count, inputs);
  if (error == NULL)
    error = check_pointers(context, "output", program->outputs, program->output_count,
                           (const void* const*)outputs);
  if (error != NULL) return error;
  for (int64_t i = 0; i < context->caller_place_count; ++i) {
    const hone_place* place = context->caller_places[i].place;
    const void* base = place->kind == HONE_IN_INPUT ? inputs[place->index] : outputs[place->index];
    *context->caller_places[i].pointer = (char*)(uintptr_t)base + place->offset;
  }
  return NULL;
}

static double seconds_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const char* run_all(hone_context* context, const void* const* inputs, void* const* outputs,
                           double* seconds) {
  const char* error = set_caller_places(context, inputs, outputs);
  double start = seconds != NULL ? seconds_now() : 0;
  for (int64_t s = 0; s < context->program->step_count && error == NULL; ++s) {
    error = run_step(context, s);
    if (seconds == NULL) continue;
    const double end = seconds_now();
    seconds[s] += end - start;
    start = end;
  }
  return error;
}

const char* hone_context_profile(hone_context* context, const void* const* inputs,
                                 void* const* outputs, double* seconds) {
  if (atomic_flag_test_and_set_explicit(&context->busy, memory_order_acquire))
    return "the context is running already; each thread needs its own";
  const char* error = run_all(context, inputs, outputs, seconds);
  atomic_flag_clear_explicit(&context->busy, memory_order_release);
  return error;
}

const char* hone_context_run(hone_context* context, const void* const* inputs,
                             void* const* outputs) {
  return hone_context_profile(context, inputs, outputs, NULL);
}
