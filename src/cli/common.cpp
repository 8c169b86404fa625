#include "cli/common.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "onnx/import.h"
#include "ops/user_ops.h"
#include "support/file.h"

namespace hone::cli {

int exit_code(const Error& error) {
  // A problem with an option is one of the command line.
  if (error.kind == ErrorKind::kInvalid && error.where.starts_with("--")) return kUsage;
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return kInvalidInput;
    case ErrorKind::kUnsupported:
    case ErrorKind::kUnknown:
      return kUnsupported;
    case ErrorKind::kSystem:
      return kSystemError;
    case ErrorKind::kInterrupted:
      return kInterrupted;
  }
  return kInternal;
}

int report(const Errors& errors) {
  constexpr size_t kMost = 20;
  for (size_t i = 0; i < errors.size() && i < kMost; ++i)
    fmt::print(stderr, "hone: {}\n", errors[i].to_string());
  if (errors.size() > kMost) fmt::print(stderr, "hone: and {} more\n", errors.size() - kMost);
  return errors.empty() ? static_cast<int>(kInternal) : exit_code(errors[0]);
}

int report(const Error& error) { return report(Errors{error}); }

void ModelOptions::add_to(CLI::App& app) {
  app.add_option("--ops", operator_files,
                 "Operators of your own, as text (see docs/adding-an-operator.md)")
      ->type_name("FILE");
}

Results<OperatorTable> load_operators(const ModelOptions& options) {
  OperatorTable table = OperatorTable::standard();
  for (const std::string& path : options.operator_files) {
    const Result<std::string> text = read_text_file(path);
    if (!text) return std::unexpected(Errors{text.error()});
    Result<std::vector<OperatorDef>> defs = parse_operators(*text, path);
    if (!defs) return std::unexpected(Errors{defs.error()});
    for (OperatorDef& def : *defs) {
      if (table.find(def.domain, def.name) != nullptr)
        return std::unexpected(
            Errors{{ErrorKind::kInvalid, path, def.full_name() + " is already defined",
                    "give it a domain of your own"}});
      table.add(std::move(def));
    }
  }
  return table;
}

Results<Model> load_model(const std::string& path, const OperatorTable& table,
                          bool allow_missing_data) {
  ImportOptions options;
  options.allow_missing_data = allow_missing_data;
  return import_onnx(path, table, options);
}

void ShapeOptions::add_to(CLI::App& app, const std::string& otherwise) {
  app.add_option("--shape", shapes, "Shape of an input whose dimensions are open: NAME=1,3,224,224")
      ->type_name("NAME=DIMS");
  app.add_option("--dim", dims, "Value of a symbolic dimension: batch=8" + otherwise)
      ->type_name("NAME=N");
}

namespace {

Result<int64_t> parse_extent(const std::string& option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return fail(ErrorKind::kInvalid, option, "'" + text + "' is not a dimension");
  return value;
}

}  // namespace

Result<std::map<std::string, std::vector<int64_t>>> ShapeOptions::parsed_shapes() const {
  std::map<std::string, std::vector<int64_t>> result;
  for (const std::string& text : shapes) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return fail(ErrorKind::kInvalid, "--shape " + text, "is not NAME=1,3,224,224");
    std::vector<int64_t>& parsed = result[text.substr(0, equals)];
    // Nothing after "=" is the shape of a scalar.
    for (size_t begin = equals + 1, end = 0; begin < text.size(); begin = end + 1) {
      end = std::min(text.find(',', begin), text.size());
      const Result<int64_t> dim = parse_extent("--shape " + text, text.substr(begin, end - begin));
      if (!dim) return std::unexpected(dim.error());
      parsed.push_back(*dim);
    }
  }
  return result;
}

Result<std::map<std::string, int64_t>> ShapeOptions::parsed_dims() const {
  std::map<std::string, int64_t> result;
  for (const std::string& text : dims) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      return fail(ErrorKind::kInvalid, "--dim " + text, "is not NAME=8");
    const Result<int64_t> value = parse_extent("--dim " + text, text.substr(equals + 1));
    if (!value) return std::unexpected(value.error());
    result[text.substr(0, equals)] = *value;
  }
  return result;
}

namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int) {
  // The second one does not wait for the work to notice.
  interrupt_count = interrupt_count + 1;
  if (interrupt_count > 1) ::_exit(kInterrupted);
}

}  // namespace

void catch_interrupts() { std::signal(SIGINT, on_interrupt); }
bool interrupted() { return interrupt_count > 0; }

Progress::Print progress_line() {
  if (::isatty(STDERR_FILENO) == 0) return [](const std::string&) {};
  return [](const std::string& line) { fmt::print(stderr, "\r\x1b[K{}", line); };
}

void end_progress(const Progress& progress) {
  if (progress.shown() && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

std::string with_unit(double value) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [unit, name] : kUnits)
    if (value >= unit) return fmt::format("{:.2f} {}", value / unit, name);
  return fmt::format("{:.0f}", value);
}

std::string bytes_text(double bytes) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}};
  for (const auto& [unit, name] : kUnits)
    if (bytes >= unit) return fmt::format("{:.1f} {}", bytes / unit, name);
  return fmt::format("{:.0f} B", bytes);
}

std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format(" {:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace hone::cli
