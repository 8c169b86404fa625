#include <filesystem>

#include <fmt/format.h>

#include "cli/common.h"
#include "driver/inputs.h"
#include "driver/npy.h"
#include "graph/interpreter.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path, output_dir;
  ModelOptions model;
  ShapeOptions shapes;
  std::vector<std::string> inputs;
  uint64_t seed = 0;
  bool float64 = false;
};

// NAME=FILE.npy
Result<void> read_inputs(const Options& options, const Graph& graph, std::vector<Buffer>& inputs) {
  for (const std::string& text : options.inputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      return fail(ErrorKind::kInvalid, "--input " + text, "is not NAME=FILE.npy");
    const std::string name = text.substr(0, equals);
    size_t at = 0;
    while (at < graph.inputs().size() && graph.value(graph.inputs()[at]).name != name) ++at;
    if (at == graph.inputs().size()) {
      std::string known;
      for (const ValueId id : graph.inputs()) known += " " + graph.value(id).name;
      return fail(ErrorKind::kInvalid, "--input " + name, "the model has no such input",
                  "its inputs are:" + known);
    }
    Result<Buffer> buffer = read_npy(text.substr(equals + 1));
    if (!buffer) return std::unexpected(std::move(buffer.error()));
    inputs[at] = *std::move(buffer);
  }
  return {};
}

Result<std::vector<Buffer>> gather_inputs(const Options& options, const Graph& graph) {
  InputOptions random;
  random.seed = options.seed;
  auto shapes = options.shapes.parsed_shapes();
  if (!shapes) return std::unexpected(std::move(shapes.error()));
  auto dims = options.shapes.parsed_dims();
  if (!dims) return std::unexpected(std::move(dims.error()));
  random.shapes = *std::move(shapes);
  random.symbols = *std::move(dims);
  std::vector<Buffer> given(graph.inputs().size());
  const Result<void> read = read_inputs(options, graph, given);
  if (!read) return std::unexpected(read.error());
  const bool all_given =
      std::none_of(given.begin(), given.end(), [](const Buffer& b) { return b.empty_handle(); });
  if (all_given) return given;
  Result<std::vector<Buffer>> drawn = make_inputs(graph, random);
  if (!drawn) return drawn;
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].empty_handle()) given[i] = (*drawn)[i];
  return given;
}

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

int run(const Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  const Results<Model> model = load_model(options.path, *table);
  if (!model) return report(model.error());
  const Graph& graph = model->graph;
  const Result<std::vector<Buffer>> inputs = gather_inputs(options, graph);
  if (!inputs) return report(inputs.error());
  // Before the work: its results must not be lost for want of a folder.
  if (!options.output_dir.empty()) {
    std::error_code code;
    std::filesystem::create_directories(options.output_dir, code);
    if (code) return report(Error{ErrorKind::kSystem, options.output_dir, code.message(), {}});
  }
  Progress progress(progress_line());
  InterpretOptions interpret_options;
  interpret_options.cancelled = interrupted;
  interpret_options.evaluate.domain = options.float64 ? Domain::kDouble : Domain::kNative;
  interpret_options.progress = [&](size_t done, size_t all) {
    progress.step("running, nodes", done, all);
  };
  const auto start = std::chrono::steady_clock::now();
  const Result<std::vector<Buffer>> outputs = interpret(graph, *inputs, interpret_options);
  end_progress(progress);
  if (!outputs) return report(outputs.error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{}: reference engine, {:.3f} s\n", options.path, took.count());
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
      "Runs a model once on the reference engine. Inputs that are not given are seeded random.");
  app.footer(
      "Outputs are written as DIR/<number>_<name>.npy.\n\nExamples:\n"
      "  hone run model.onnx\n"
      "  hone run model.onnx --input x=x.npy --output-dir out\n"
      "  hone run model.onnx --dim batch=8 --seed 3\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  app.add_option("--input", options->inputs, "An input as a NumPy file")
      ->type_name("NAME=FILE.npy");
  app.add_option("--output-dir", options->output_dir, "Write the outputs here, as .npy")
      ->type_name("DIR");
  options->shapes.add_to(app);
  app.add_option("--seed", options->seed, "Seed of random inputs")->capture_default_str();
  app.add_flag("--float64", options->float64, "Compute every float in double precision");
  options->model.add_to(app);
  return [options] { return run(*options); };
}

}  // namespace hone::cli
