#include <fmt/format.h>

#include "cli/common.h"
#include "ops/document.h"

namespace hone::cli {
namespace {

struct Options {
  std::string name;
  ModelOptions model;
};

int run(const Options& options) {
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  if (options.name.empty()) {
    for (const OperatorDef* def : table->all())
      fmt::print("{:<32} {}\n", def->full_name(), def->doc);
    return kOk;
  }
  const size_t colons = options.name.rfind("::");
  const bool with_domain = colons != std::string::npos;
  const OperatorDef* def =
      table->find(with_domain ? options.name.substr(0, colons) : "",
                  with_domain ? options.name.substr(colons + 2) : options.name);
  if (def == nullptr)
    return report(Error{ErrorKind::kInvalid, options.name, "hone defines no such operator",
                        "`hone ops` lists them"});
  fmt::print("{}\n", document(*def));
  return kOk;
}

}  // namespace

Command add_ops(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description("Lists the operators that hone defines, or shows the meaning of one.");
  app.footer(
      "Examples:\n  hone ops\n  hone ops Softmax\n  hone ops --ops my.ops my.domain::Swish\n");
  app.add_option("NAME", options->name, "Operator to show");
  options->model.add_to(app);
  return [options] { return run(*options); };
}

}  // namespace hone::cli
