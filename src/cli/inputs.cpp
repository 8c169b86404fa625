#include "cli/inputs.h"

#include <algorithm>

#include "driver/inputs.h"
#include "driver/npy.h"

namespace hone::cli {
namespace {

// NAME=FILE.npy
Result<void> read_inputs(const std::vector<std::string>& files, const Graph& graph,
                         std::vector<Buffer>& inputs) {
  for (const std::string& text : files) {
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

}  // namespace

void InputArguments::add_to(CLI::App& app) {
  app.add_option("--input", files, "An input as a NumPy file")->type_name("NAME=FILE.npy");
  shapes.add_to(app);
  app.add_option("--seed", seed, "Seed of random inputs")->capture_default_str();
}

Result<std::vector<Buffer>> InputArguments::gather(const Graph& graph) const {
  InputOptions random;
  random.seed = seed;
  auto fixed = shapes.parsed_shapes();
  if (!fixed) return std::unexpected(std::move(fixed.error()));
  auto dims = shapes.parsed_dims();
  if (!dims) return std::unexpected(std::move(dims.error()));
  random.shapes = *std::move(fixed);
  random.symbols = *std::move(dims);
  std::vector<Buffer> given(graph.inputs().size());
  const Result<void> read = read_inputs(files, graph, given);
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

}  // namespace hone::cli
