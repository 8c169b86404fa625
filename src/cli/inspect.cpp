#include "driver/inspect.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/common.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path;
  ModelOptions model;
  bool json = false;
};

// A number, or the polynomial where shapes are symbolic.
nlohmann::ordered_json number(const Dim& dim) {
  if (dim.is_const()) return dim.value();
  return dim.to_string();
}

std::string flops_text(const Dim& flops) {
  return flops.is_const() ? with_unit(static_cast<double>(flops.value())) : flops.to_string();
}

nlohmann::ordered_json to_json(const Model& model, const Inspection& facts) {
  nlohmann::ordered_json out;
  out["ir_version"] = model.ir_version;
  out["opsets"] = model.opsets;
  out["inputs"] = facts.inputs;
  out["outputs"] = facts.outputs;
  out["nodes"] = facts.nodes;
  out["flops"] = number(facts.flops);
  out["parameters"] = facts.parameters;
  out["parameter_bytes"] = facts.parameter_bytes;
  for (const OperatorCount& op : facts.operators)
    out["operators"].push_back({{"op", op.op}, {"count", op.count}, {"flops", number(op.flops)}});
  out["opaque"] = nlohmann::ordered_json::array();
  for (const OpaqueNode& node : facts.opaque)
    out["opaque"].push_back({{"node", node.node}, {"op", node.op}, {"reason", node.reason}});
  return out;
}

void print_opaque(const Inspection& facts) {
  if (facts.opaque.empty()) {
    fmt::print("\nopaque: nothing; every operator has a meaning\n");
    return;
  }
  fmt::print("\nopaque ({} of {} nodes, carried through untouched)\n", facts.opaque.size(),
             facts.nodes);
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> grouped;
  for (const OpaqueNode& node : facts.opaque) grouped[{node.op, node.reason}].push_back(node.node);
  for (const auto& [key, nodes] : grouped)
    fmt::print("  {} x {}: {}{}\n", nodes.size(), key.first, key.second,
               nodes[0].empty() ? "" : " (first: " + nodes[0] + ")");
}

std::string share(const OperatorCount& op, const Inspection& facts) {
  if (!facts.flops.is_const() || facts.flops.value() == 0) return {};
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(op.flops.value()) /
                                     static_cast<double>(facts.flops.value()));
}

void print(const std::string& path, const Model& model, const Inspection& facts) {
  fmt::print("{}: {} nodes, {} parameters ({}), {}FLOP\n", path, facts.nodes,
             with_unit(static_cast<double>(facts.parameters)),
             bytes_text(static_cast<double>(facts.parameter_bytes)), flops_text(facts.flops) + " ");
  std::string opsets;
  for (const auto& [domain, version] : model.opsets)
    opsets += fmt::format("{}{} {}", opsets.empty() ? "" : ", ",
                          domain.empty() ? "ai.onnx" : domain, version);
  fmt::print("opset {}; IR version {}\n\ninputs\n", opsets, model.ir_version);
  for (const std::string& input : facts.inputs) fmt::print("  {}\n", input);
  fmt::print("outputs\n");
  for (const std::string& output : facts.outputs) fmt::print("  {}\n", output);
  std::vector<std::vector<std::string>> rows = {{"operator", "count", "FLOP", "share"}};
  for (const OperatorCount& op : facts.operators)
    rows.push_back({op.op, std::to_string(op.count), flops_text(op.flops), share(op, facts)});
  fmt::print("\n{}", table_text(rows));
  print_opaque(facts);
}

int run(const Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  const Results<Model> model = load_model(options.path, *table, true);
  if (!model) return report(model.error());
  const Inspection facts = inspect(*model);
  if (options.json)
    fmt::print("{}\n", to_json(*model, facts).dump(2));
  else
    print(options.path, *model, facts);
  return kOk;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Shows inputs, outputs, operators, work and parameters of a model, and what is "
      "opaque to hone and why.");
  app.footer(
      "Examples:\n  hone inspect model.onnx\n  hone inspect model.onnx --json | jq .flops\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  options->model.add_to(app);
  app.add_flag("--json", options->json, "Machine-readable output");
  return [options] { return run(*options); };
}

}  // namespace hone::cli
