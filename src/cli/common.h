// What the commands of the program share: options, loading, messages, exit codes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "graph/model.h"
#include "ops/table.h"
#include "support/error.h"
#include "support/progress.h"

namespace hone::cli {

// Exit codes, also printed by `hone --help`.
enum ExitCode : int {
  kOk = 0,
  kDifferent = 1,     // `check`: the models differ; a result failed its check
  kUsage = 2,         // wrong command line
  kInvalidInput = 3,  // broken file, model or text
  kUnsupported = 4,   // hone cannot run something that this command needs
  kSystemError = 5,   // files, memory, operating system
  kInternal = 70,     // a bug in hone
  kInterrupted = 130,
};

[[nodiscard]] int exit_code(const Error& error);
// Prints every problem to the error stream; gives the exit code of the first.
int report(const Errors& errors);
int report(const Error& error);

// A model, and the table that its nodes point into.
struct Loaded {
  OperatorTable table;
  Model model;
};

// Options that name a model and the operators it may use.
struct ModelOptions {
  std::vector<std::string> operator_files;  // --ops
  void add_to(CLI::App& app);
};
[[nodiscard]] Results<OperatorTable> load_operators(const ModelOptions& options);
[[nodiscard]] Results<Model> load_model(const std::string& path, const OperatorTable& table,
                                        bool allow_missing_data = false);

// --shape NAME=1,3,224,224 and --dim N=4
struct ShapeOptions {
  std::vector<std::string> shapes, dims;
  // `otherwise` says what a dimension is that nobody names.
  void add_to(CLI::App& app, const std::string& otherwise = " (default 1)");
  [[nodiscard]] Result<std::map<std::string, std::vector<int64_t>>> parsed_shapes() const;
  [[nodiscard]] Result<std::map<std::string, int64_t>> parsed_dims() const;
};

// Ctrl-C sets a flag that long work looks at.
void catch_interrupts();
[[nodiscard]] bool interrupted();

// Writes over one line of the error stream when that is a terminal.
[[nodiscard]] Progress::Print progress_line();
void end_progress(const Progress& progress);

// "1.82 G", "46.8 MB"
[[nodiscard]] std::string with_unit(double value);
[[nodiscard]] std::string bytes_text(double bytes);
// Rows of cells as aligned columns; the first column left, the others right.
[[nodiscard]] std::string table_text(const std::vector<std::vector<std::string>>& rows);

// Commands register themselves with the app; the function returned runs the command.
using Command = std::function<int()>;
Command add_inspect(CLI::App& app);
Command add_optimize(CLI::App& app);
Command add_run(CLI::App& app);
Command add_check(CLI::App& app);
Command add_ops(CLI::App& app);
Command add_bench(CLI::App& app);
Command add_compile(CLI::App& app);

}  // namespace hone::cli
