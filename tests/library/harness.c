/* Runs a model that `hone compile` wrote, by its header alone:
 *
 *   harness THREADS CALLERS WEIGHTS|- FOLDER
 *
 * reads FOLDER/in<i>, runs twice from each of CALLERS threads at once, checks that all results
 * agree and writes FOLDER/out<i>. Compile with -DMODEL=name -DHEADER='"name.h"'. */
#include HEADER

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define F(name) JOIN(MODEL, name)

enum { kMostTensors = 16, kMostCallers = 8 };

static int threads;
static const char* weights;
static const void* inputs[kMostTensors];

static void fail(const char* what) {
  fprintf(stderr, "harness: %s\n", what);
  exit(1);
}

static void* file(const char* folder, const char* kind, int index, size_t size, const void* data) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s%d", folder, kind, index);
  FILE* f = fopen(path, data == NULL ? "rb" : "wb");
  if (f == NULL) fail(path);
  void* memory = malloc(size + 1);
  const size_t done = data == NULL ? fread(memory, 1, size, f) : fwrite(data, 1, size, f);
  if (done != size || fclose(f) != 0) fail(path);
  return memory;
}

static void* call(void* argument) {
  void** outputs = argument;
  MODEL* model = F(create)(weights, threads);
  if (model == NULL) fail("no model");
  for (int run = 0; run < 2; ++run) {
    const char* error = F(run)(model, inputs, outputs);
    if (error != NULL) fail(error);
  }
  F(destroy)(model);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 5) fail("arguments");
  threads = atoi(argv[1]);
  const int callers = atoi(argv[2]);
  weights = strcmp(argv[3], "-") == 0 ? NULL : argv[3];
  for (int i = 0; i < F(input_count)(); ++i)
    inputs[i] = file(argv[4], "in", i, (size_t)F(input)(i)->bytes, NULL);
  if (F(input)(F(input_count)()) != NULL || F(output)(-1) != NULL) fail("range");
  void* outputs[kMostCallers][kMostTensors];
  pthread_t ids[kMostCallers];
  for (int c = 0; c < callers; ++c) {
    for (int i = 0; i < F(output_count)(); ++i)
      outputs[c][i] = calloc(1, (size_t)F(output)(i)->bytes + 1);
    if (pthread_create(&ids[c], NULL, call, outputs[c]) != 0) fail("thread");
  }
  for (int c = 0; c < callers; ++c) pthread_join(ids[c], NULL);
  for (int i = 0; i < F(output_count)(); ++i) {
    const size_t size = (size_t)F(output)(i)->bytes;
    for (int c = 1; c < callers; ++c)
      if (memcmp(outputs[0][i], outputs[c][i], size) != 0) fail("callers differ");
    file(argv[4], "out", i, size, outputs[0][i]);
  }
  return 0;
}
