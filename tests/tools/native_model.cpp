// native_model MODEL [THREADS] [-d STAGE]...: compiles a model, compares it with the float64
// reference, times it and lists its slowest steps. For whoever works on the compiler.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "driver/compare.h"
#include "driver/compile.h"
#include "driver/inputs.h"
#include "graph/interpreter.h"
#include "onnx/import.h"

namespace hone {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int run(const std::string& path, int threads, const std::set<std::string>& stages, bool check) {
  const OperatorTable table = OperatorTable::standard();
  Results<Model> model = import_onnx(path, table);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error()[0].to_string().c_str());
    return 1;
  }
  Result<std::vector<Buffer>> inputs = make_inputs(model->graph, {});
  if (!inputs) {
    std::fprintf(stderr, "%s\n", inputs.error().to_string().c_str());
    return 1;
  }
  InputShapes shapes;
  for (size_t i = 0; i < inputs->size(); ++i)
    if (!(*inputs)[i].empty_handle())
      shapes[model->graph.value(model->graph.inputs()[i]).name] = (*inputs)[i].dims();
  CompileOptions options;
  options.threads = threads;
  if (!stages.empty())
    options.dump = [&](const std::string& stage, const std::string& text) {
      if (stages.contains(stage)) std::printf("%s\n", text.c_str());
    };
  const auto start = Clock::now();
  Result<Compiled> compiled = compile_native(*model, shapes, options);
  if (!compiled) {
    std::fprintf(stderr, "%s\n", compiled.error().to_string().c_str());
    return 1;
  }
  std::printf("compiled in %.2f s: %s\n", since(start), compiled->report.c_str());
  const hone_program& program = *compiled->program;
  std::vector<const void*> in;
  for (const Buffer& input : *inputs) in.push_back(input.data());
  std::vector<Buffer> outputs;
  std::vector<void*> out;
  for (int64_t i = 0; i < program.output_count; ++i) {
    const auto dims = dims_of(program.outputs[i]);
    outputs.push_back(Buffer::allocate(element_of(program.outputs[i]), {dims.begin(), dims.end()}));
    out.push_back(outputs.back().mutable_data());
  }
  hone_context* context = hone_context_create(&program, threads);
  if (const char* problem = hone_context_run(context, in.data(), out.data())) {
    std::fprintf(stderr, "%s\n", problem);
    return 1;
  }
  if (check) {
    InterpretOptions wide;
    wide.evaluate.domain = Domain::kDouble;
    const Result<std::vector<Buffer>> reference = interpret(model->graph, *inputs, wide);
    if (!reference) {
      std::fprintf(stderr, "%s\n", reference.error().to_string().c_str());
      return 1;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      OutputDifference difference;
      add_difference((*reference)[i], outputs[i], "run", difference);
      std::printf("output %s: relative %.2e %s %s\n", program.outputs[i].name,
                  difference.max_relative, difference.non_finite ? "NON-FINITE" : "",
                  difference.max_relative > 1e-4 ? difference.worst.c_str() : "");
    }
  }
  std::vector<double> seconds(static_cast<size_t>(program.step_count), 1e9);
  double best = 1e9;
  const auto begin = Clock::now();
  for (int i = 0; i < 200 && (i < 3 || since(begin) < 1.5); ++i) {
    std::vector<double> once(seconds.size(), 0);
    const auto t = Clock::now();
    hone_context_profile(context, in.data(), out.data(), once.data());
    best = std::min(best, since(t));
    for (size_t k = 0; k < once.size(); ++k) seconds[k] = std::min(seconds[k], once[k]);
  }
  std::vector<size_t> order(seconds.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](size_t a, size_t b) { return seconds[a] > seconds[b]; });
  double sum = 0;
  double flops = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    sum += seconds[i];
    flops += program.steps[i].flops;
  }
  std::printf("best run %.3f ms (%.3f ms in %zu steps), %.1f GFLOP/s\n", best * 1e3, sum * 1e3,
              seconds.size(), flops / best * 1e-9);
  const size_t shown = std::getenv("ALL") != nullptr ? order.size() : 25;
  for (size_t i = 0; i < order.size() && i < shown; ++i) {
    const hone_step& step = program.steps[order[i]];
    std::printf("%8.3f ms %5.1f%% %7.1f GF/s %6.1f GB/s  k%d t%ld %s\n", seconds[order[i]] * 1e3,
                100 * seconds[order[i]] / sum, step.flops / seconds[order[i]] * 1e-9,
                step.bytes / seconds[order[i]] * 1e-9, step.kernel_index,
                static_cast<long>(step.tasks), std::string(step.label).substr(0, 110).c_str());
  }
  hone_context_destroy(context);
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  std::set<std::string> stages;
  std::string path;
  int threads = 1;
  bool check = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-d" && i + 1 < argc)
      stages.insert(argv[++i]);
    else if (word == "-n")
      check = false;
    else if (path.empty())
      path = word;
    else
      threads = std::atoi(word.c_str());
  }
  if (path.empty()) {
    std::fprintf(stderr, "usage: native_model MODEL [THREADS] [-n] [-d STAGE]...\n");
    return 2;
  }
  return hone::run(path, threads, stages, check);
}
