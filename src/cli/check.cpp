#include <fmt/format.h>

#include "cli/common.h"
#include "driver/compare.h"

namespace hone::cli {
namespace {

struct Options {
  std::string first, second;
  ModelOptions model;
  ShapeOptions shapes;
  CompareOptions compare;
  double tolerance = 1e-4;
  bool native = false;
};

int print(const Options& options, const Comparison& comparison) {
  if (!comparison.interface.empty()) {
    fmt::print("the interfaces differ:\n");
    for (const Error& e : comparison.interface) fmt::print("  {}\n", e.to_string());
    return kDifferent;
  }
  bool same = true;
  std::vector<std::vector<std::string>> rows = {{"output", "max abs", "max rel", ""}};
  for (const OutputDifference& d : comparison.outputs) {
    const bool good = d.max_relative <= options.tolerance && !d.non_finite;
    same = same && good;
    rows.push_back({d.output, fmt::format("{:.3g}", d.max_absolute),
                    fmt::format("{:.3g}", d.max_relative), good ? "same" : "DIFFERENT"});
  }
  fmt::print("{}", table_text(rows));
  for (const OutputDifference& d : comparison.outputs)
    if (d.max_relative > options.tolerance || d.non_finite)
      fmt::print("  {}: {}\n", d.output, d.worst);
  fmt::print("{} on {} inputs, tolerance {:g} of each output's magnitude, computed in {}\n",
             same ? "the same" : "different", comparison.trials, options.tolerance,
             options.native ? "native types" : "float64");
  return same ? kOk : kDifferent;
}

int run(Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  const Results<Model> a = load_model(options.first, *table);
  if (!a) return report(a.error());
  const Results<Model> b = load_model(options.second, *table);
  if (!b) return report(b.error());
  auto shapes = options.shapes.parsed_shapes();
  if (!shapes) return report(shapes.error());
  auto dims = options.shapes.parsed_dims();
  if (!dims) return report(dims.error());
  options.compare.inputs.shapes = *std::move(shapes);
  options.compare.inputs.symbols = *std::move(dims);
  options.compare.domain = options.native ? Domain::kNative : Domain::kDouble;
  options.compare.cancelled = interrupted;
  Progress progress(progress_line());
  options.compare.progress = [&](const std::string& what, size_t done, size_t all) {
    progress.step(what, done, all);
  };
  const Result<Comparison> comparison = compare(*a, *b, options.compare);
  end_progress(progress);
  if (!comparison) return report(comparison.error());
  return print(options, *comparison);
}

}  // namespace

Command add_check(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Compares two models: the same interface, and the same outputs on random and boundary "
      "inputs, computed in float64.");
  app.footer(
      "Exit code 0: the same. 1: different.\n\nExamples:\n"
      "  hone check model.onnx optimized.onnx\n"
      "  hone check a.onnx b.onnx --trials 5 --tolerance 1e-6 --dim batch=2\n");
  app.add_option("A", options->first, "ONNX file, the reference")->required();
  app.add_option("B", options->second, "ONNX file")->required();
  app.add_option("--trials", options->compare.random_trials, "How many random inputs")
      ->capture_default_str();
  app.add_flag("!--no-boundary", options->compare.boundary_trials,
               "Leave out zeros, ones, large and tiny inputs");
  app.add_option("--tolerance", options->tolerance,
                 "Largest difference, relative to the output's magnitude")
      ->capture_default_str();
  app.add_option("--seed", options->compare.seed, "Seed of random inputs")->capture_default_str();
  app.add_flag("--native", options->native, "Compute in the models' own types instead");
  options->shapes.add_to(app);
  options->model.add_to(app);
  return [options] { return run(*options); };
}

}  // namespace hone::cli
