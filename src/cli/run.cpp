#include <filesystem>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/inputs.h"
#include "driver/npy.h"
#include "driver/open.h"
#include "graph/interpreter.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path, output_dir;
  ModelOptions model;
  InputArguments inputs;
  std::string engine = "reference";
  int threads = 1;
  bool float64 = false;
};

// A file name that every system takes.
std::string file_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  return name + ".npy";
}

void summarize(const std::string& name, const Buffer& buffer) {
  if (buffer.type() == ElementType::kString) {
    fmt::print("  {}: {}\n", name, buffer.tensor_type().to_string());
    return;
  }
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  double sum = 0;
  for (int64_t i = 0; i < buffer.count(); ++i) {
    const double v = buffer.as_double(i);
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
  }
  const double mean = buffer.count() > 0 ? sum / static_cast<double>(buffer.count()) : 0;
  fmt::print("  {}: {}  min {:.6g}  mean {:.6g}  max {:.6g}\n", name,
             buffer.tensor_type().to_string(), low, mean, high);
}

Result<std::vector<Buffer>> run_reference(const Options& options, const Graph& graph,
                                          std::span<const Buffer> inputs) {
  Progress progress(progress_line());
  InterpretOptions interpret_options;
  interpret_options.cancelled = interrupted;
  interpret_options.evaluate.domain = options.float64 ? Domain::kDouble : Domain::kNative;
  interpret_options.progress = [&](size_t done, size_t all) {
    progress.step("running, nodes", done, all);
  };
  auto outputs = interpret(graph, inputs, interpret_options);
  end_progress(progress);
  return outputs;
}

Result<std::vector<Buffer>> run_native(const Options& options, const Model& model,
                                       std::span<const Buffer> inputs) {
  OpenOptions open;
  open.session.threads = options.threads;
  auto session = open_session_model(model, nullptr, open);
  if (!session) return std::unexpected(std::move(session.error()));
  std::vector<TensorView> views;
  for (const Buffer& input : inputs)
    views.push_back(input.empty_handle() ? TensorView{} : view_of(input));
  return (*session)->run(views);
}

int run(const Options& options) {
  if (options.float64 && options.engine == "native")
    return report(Error{ErrorKind::kInvalid, "--float64", "only the reference engine has it", {}});
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  const Results<Model> model = load_model(options.path, *table);
  if (!model) return report(model.error());
  const Graph& graph = model->graph;
  const Result<std::vector<Buffer>> inputs = options.inputs.gather(graph);
  if (!inputs) return report(inputs.error());
  // Before the work: its results must not be lost for want of a folder.
  if (!options.output_dir.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.output_dir, code);
    if (code) return report(Error{ErrorKind::kSystem, options.output_dir, code.message(), {}});
  }
  const auto start = std::chrono::steady_clock::now();
  const Result<std::vector<Buffer>> outputs = options.engine == "native"
                                                  ? run_native(options, *model, *inputs)
                                                  : run_reference(options, graph, *inputs);
  if (!outputs) return report(outputs.error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {} engine, {:.3f} s\n", options.path, options.engine, took.count());
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string& name = graph.value(graph.outputs()[i]).name;
    summarize(name, (*outputs)[i]);
    if (options.output_dir.empty()) continue;
    const std::string path = options.output_dir + "/" + std::to_string(i) + "_" + file_name(name);
    const Result<void> written = write_npy(path, (*outputs)[i]);
    if (!written) return report(written.error());
    fmt::print("    {}\n", path);
  }
  return kOk;
}

}  // namespace

Command add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Runs a model once, on the reference engine or as native code (whose time includes "
      "compiling). "
      "Inputs that are not given are seeded random.");
  app.footer(
      "Outputs are written as DIR/<number>_<name>.npy.\n\nExamples:\n"
      "  hone run model.onnx\n"
      "  hone run model.onnx --input x=x.npy --output-dir out\n"
      "  hone run model.onnx --engine native --threads 2\n"
      "  hone run model.onnx --dim batch=8 --seed 3\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  options->inputs.add_to(app);
  app.add_option("--output-dir", options->output_dir, "Write the outputs here, as .npy")
      ->type_name("DIR");
  app.add_option("--engine", options->engine, "What runs it")
      ->check(CLI::IsMember({"reference", "native"}))
      ->capture_default_str();
  app.add_option("--threads", options->threads, "Threads of the native engine")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_flag("--float64", options->float64, "Compute every float in double precision");
  options->model.add_to(app);
  return [options] { return run(*options); };
}

}  // namespace hone::cli
