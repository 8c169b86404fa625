#include "driver/bench.h"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/common.h"
#include "cli/inputs.h"
#include "driver/open.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path;
  ModelOptions model;
  InputArguments inputs;
  OpenOptions open;
  BenchOptions bench;
  size_t rows = 20;
  bool json = false;
};

std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.0f}%", 100 * part / whole) : "";
}

std::string shortened(const std::string& label) {
  constexpr size_t kMost = 56;
  return label.size() <= kMost ? label : label.substr(0, kMost - 3) + "...";
}

void print_kernels(const BenchResult& result, size_t most) {
  std::vector<std::vector<std::string>> rows = {
      {"nodes", "ms", "share", "GFLOP/s", "of peak", "GB/s", "of memory", "steps", "kernel"}};
  const std::vector<KernelTime> kernels = by_kernel(result.profile);
  double all = 0;
  for (const KernelTime& kernel : kernels) all += kernel.seconds;
  for (size_t i = 0; i < kernels.size() && i < most; ++i) {
    const KernelTime& kernel = kernels[i];
    const double gflops = kernel.flops / kernel.seconds * 1e-9;
    const double gbps = kernel.bytes / kernel.seconds * 1e-9;
    rows.push_back({shortened(kernel.label), fmt::format("{:.3f}", kernel.seconds * 1e3),
                    percent(kernel.seconds, all), fmt::format("{:.1f}", gflops),
                    percent(gflops, result.limits.gflops), fmt::format("{:.1f}", gbps),
                    percent(gbps, result.limits.read_gbps), std::to_string(kernel.steps),
                    kernel.kernel});
  }
  fmt::print("\n{}", table_text(rows));
  if (kernels.size() > most)
    fmt::print("  and {} more (--rows, or --json for all)\n", kernels.size() - most);
}

void print_result(const Options& options, const BenchResult& result, double compile_seconds) {
  const double best = result.percentile(0);
  fmt::print("{}: {} engine, {} thread{}, {} runs after {} to warm up; compiled in {:.2f} s\n",
             options.path, options.open.engine, options.bench.threads,
             options.bench.threads == 1 ? "" : "s", result.seconds.size(), result.warm_up_runs,
             compile_seconds);
  fmt::print("  ms: min {:.3f}  median {:.3f}  90% {:.3f}  99% {:.3f}  max {:.3f}  CPU {:.3f}\n",
             best * 1e3, result.percentile(50) * 1e3, result.percentile(90) * 1e3,
             result.percentile(99) * 1e3, result.percentile(100) * 1e3, result.cpu_seconds * 1e3);
  fmt::print(
      "  {:.2f} GFLOP, {:.1f} GFLOP/s: {} of the {:.1f} measured in registers; memory reads "
      "{:.1f} GB/s\n",
      result.flops() * 1e-9, result.flops() / best * 1e-9,
      percent(result.flops() / best * 1e-9, result.limits.gflops), result.limits.gflops,
      result.limits.read_gbps);
  print_kernels(result, options.rows);
}

int bench(const Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  Results<Model> model = load_model(options.path, *table);
  if (!model) return report(model.error());
  const Result<std::vector<Buffer>> inputs = options.inputs.gather(model->graph);
  if (!inputs) return report(inputs.error());
  OpenOptions open = options.open;
  open.session.threads = options.bench.threads;
  // Shapes are known now, so that compiling is not a part of the first run.
  for (size_t i = 0; i < inputs->size(); ++i)
    if (!(*inputs)[i].empty_handle())
      open.session.shapes[model->graph.value(model->graph.inputs()[i]).name] = (*inputs)[i].dims();
  const auto start = std::chrono::steady_clock::now();
  auto session = open_session_model(*std::move(model), nullptr, open);
  if (!session) return report(session.error());
  const std::chrono::duration<double> compile = std::chrono::steady_clock::now() - start;
  BenchOptions bench_options = options.bench;
  bench_options.cancelled = interrupted;
  const Result<BenchResult> result = hone::bench(**session, *inputs, bench_options);
  if (!result) return report(result.error());
  if (options.json) {
    auto json = nlohmann::ordered_json::parse(to_json(*result));
    json["model"] = options.path;
    json["threads"] = options.bench.threads;
    json["compile_s"] = compile.count();
    json["report"] = nlohmann::ordered_json::parse((*session)->report());
    fmt::print("{}\n", json.dump(1));
  } else {
    print_result(options, *result, compile.count());
  }
  return kOk;
}

}  // namespace

Command add_bench(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Measures a model as native code: time of a run, and of each kernel beside what the machine "
      "can do, which is measured too.");
  app.footer(
      "Kernels: share of the time, GFLOP/s and GB/s, and how much that is of the multiply-adds and "
      "of\nthe reads from memory that this machine was just seen to do. Data in caches can be read "
      "faster.\n\nExamples:\n"
      "  hone bench model.onnx\n"
      "  hone bench model.onnx --threads 2 --seconds 5\n"
      "  hone bench model.onnx --dim batch=8 --json\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  app.add_option("--threads", options->bench.threads, "Threads of a run")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--seconds", options->bench.seconds, "How long to measure")->capture_default_str();
  app.add_option("--rows", options->rows, "Kernels to list")->capture_default_str();
  app.add_option("--target", options->open.target, "CPU to compile for")->capture_default_str();
  app.add_option("--engine", options->open.engine, "What runs it")
      ->check(CLI::IsMember({"reference", "native"}))
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print everything as JSON");
  options->inputs.add_to(app);
  options->model.add_to(app);
  return [options] { return bench(*options); };
}

}  // namespace hone::cli
