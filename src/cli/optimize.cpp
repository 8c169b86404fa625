#include <map>
#include <set>

#include <fmt/format.h>

#include "cli/common.h"
#include "driver/compare.h"
#include "driver/pipeline.h"
#include "graph/text.h"
#include "onnx/export.h"
#include "support/file.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path, output;
  ModelOptions model;
  std::vector<std::string> disabled;
  std::string dump;
  size_t fold_limit = FoldOptions{}.max_bytes;
  bool external_data = false;
  bool check = false;
  bool check_text = false;
};

std::map<std::string, size_t> count_operators(const Graph& graph) {
  std::map<std::string, size_t> counts;
  for (const NodeId id : graph.order()) ++counts[graph.node(id).full_op()];
  return counts;
}

size_t constant_bytes(const Graph& graph) {
  const std::vector<int> uses = graph.use_counts();
  size_t bytes = 0;
  for (const ValueId id : graph.constants())
    if (uses[id.index()] > 0) bytes += graph.value(id).constant.byte_size();
  return bytes;
}

struct Snapshot {
  std::map<std::string, size_t> operators;
  size_t nodes;
  size_t bytes;
  explicit Snapshot(const Graph& graph)
      : operators(count_operators(graph)),
        nodes(graph.order().size()),
        bytes(constant_bytes(graph)) {}
};

void print_table(const Snapshot& before, const Snapshot& after, const OptimizeReport& report) {
  std::vector<std::vector<std::string>> rows = {{"operator", "before", "after"}};
  std::set<std::string> names;
  for (const auto& [name, count] : before.operators) names.insert(name);
  for (const auto& [name, count] : after.operators) names.insert(name);
  const auto count_in = [](const Snapshot& s, const std::string& name) {
    const auto at = s.operators.find(name);
    return at == s.operators.end() ? size_t{0} : at->second;
  };
  for (const std::string& name : names) {
    const size_t x = count_in(before, name);
    const size_t y = count_in(after, name);
    rows.push_back({name, std::to_string(x), x == y ? "=" : std::to_string(y)});
  }
  rows.push_back({"all", std::to_string(before.nodes), std::to_string(after.nodes)});
  rows.push_back({"constants", bytes_text(static_cast<double>(before.bytes)),
                  bytes_text(static_cast<double>(after.bytes))});
  fmt::print("{}\n", table_text(rows));
  std::vector<std::vector<std::string>> steps = {{"pass", "changed", "time"}};
  for (const PassReport& pass : report.passes)
    steps.push_back(
        {pass.pass, std::to_string(pass.changed), fmt::format("{:.0f} ms", 1000 * pass.seconds)});
  fmt::print("{}", table_text(steps));
}

int check_result(const Options& options, const OperatorTable& table, const Model& optimized) {
  const Results<Model> original = load_model(options.path, table);
  if (!original) return report(original.error());
  Progress progress(progress_line());
  CompareOptions compare_options;
  compare_options.cancelled = interrupted;
  compare_options.progress = [&](const std::string& what, size_t done, size_t all) {
    progress.step("checking, " + what, done, all);
  };
  const Result<Comparison> comparison = compare(*original, optimized, compare_options);
  end_progress(progress);
  if (!comparison) return report(comparison.error());
  double worst = 0;
  for (const OutputDifference& d : comparison->outputs) worst = std::max(worst, d.max_relative);
  fmt::print("\nchecked in float64 on {} inputs: largest relative difference {:.3g}\n",
             comparison->trials, worst);
  if (comparison->interface.empty() && worst <= 1e-6) return kOk;
  fmt::print(stderr, "hone: the result differs from the original and was not written\n");
  return kDifferent;
}

// The text form must read back to the same model.
int check_text(const OperatorTable& table, const Model& model) {
  const ModelText text = to_text(model);
  const Results<Model> parsed = parse_model(text.text, text.blobs, table);
  if (!parsed) return report(parsed.error());
  if (equal(parsed->graph, model.graph)) return kOk;
  fmt::print(stderr, "hone: the text form does not read back to the same model\n");
  return kDifferent;
}

int run(const Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  Results<Model> model = load_model(options.path, *table);
  if (!model) return report(model.error());
  if (options.check_text)
    if (const int code = check_text(*table, *model); code != kOk) return code;
  const Snapshot before(model->graph);
  OptimizeOptions optimize_options;
  optimize_options.disabled.insert(options.disabled.begin(), options.disabled.end());
  optimize_options.fold.max_bytes = options.fold_limit;
  const Result<OptimizeReport> optimized = optimize(*model, optimize_options);
  if (!optimized) return report(optimized.error());
  const Snapshot after(model->graph);
  print_table(before, after, *optimized);
  if (before.operators == after.operators)
    fmt::print("\nnothing to clean: the model has the same operators as before\n");
  if (options.check)
    if (const int code = check_result(options, *table, *model); code != kOk) return code;
  if (options.check_text)
    if (const int code = check_text(*table, *model); code != kOk) return code;
  if (!options.dump.empty()) {
    const Result<void> dumped = write_file(options.dump, to_text(*model).text);
    if (!dumped) return report(dumped.error());
  }
  ExportOptions export_options;
  if (options.external_data) export_options.external = ExportOptions::ExternalData::kAlways;
  const Result<void> written = export_onnx(*model, options.output, export_options);
  if (!written) return report(written.error());
  fmt::print("\nwritten: {}\n", options.output);
  return kOk;
}

}  // namespace

Command add_optimize(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Gives back an equivalent model with less to do. Names, order and types of inputs and "
      "outputs, opset and metadata stay as they are.");
  std::string names;
  for (const std::string& name : pass_names()) names += (names.empty() ? "" : ", ") + name;
  app.footer("Passes: " + names +
             "\n\nExamples:\n  hone optimize model.onnx -o small.onnx\n"
             "  hone optimize model.onnx -o small.onnx --check --disable fold_constants\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  app.add_option("-o,--output", options->output, "Where the result goes")->required();
  options->model.add_to(app);
  app.add_option("--disable", options->disabled, "Leave a pass out, by name")->type_name("PASS");
  app.add_option("--fold-limit", options->fold_limit,
                 "Never make a constant of more bytes than this by folding")
      ->type_name("BYTES")
      ->capture_default_str();
  app.add_flag("--external-data", options->external_data,
               "Keep weights in a file beside the model");
  app.add_flag("--check", options->check,
               "Compare with the original in float64 on random and boundary inputs first");
  app.add_flag("--check-text", options->check_text,
               "Print model and result as text, parse that, and compare");
  app.add_option("--dump", options->dump, "Also write the result as text")->type_name("FILE");
  return [options] { return run(*options); };
}

}  // namespace hone::cli
