#include "driver/open.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "driver/compile.h"
#include "driver/reference_program.h"
#include "machine/cpu.h"
#include "onnx/import.h"

namespace hone {
namespace {

Result<int64_t> number_of(const std::string& key, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return fail(ErrorKind::kInvalid, key, "'" + text + "' is not a number");
  return value;
}

Result<std::vector<int64_t>> dims_of_text(const std::string& key, const std::string& text) {
  std::vector<int64_t> dims;
  for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    const Result<int64_t> dim = number_of(key, text.substr(begin, end - begin));
    if (!dim) return std::unexpected(dim.error());
    dims.push_back(*dim);
  }
  return dims;
}

// What cannot be compiled (shapes that only a run knows, strings) runs on the reference engine, and
// the report says so.
Result<Compiled> compile_or_interpret(const Model& model, const InputShapes& shapes,
                                      const CompileOptions& options) {
  Result<Compiled> native = compile_native(model, shapes, options);
  if (native || native.error().kind != ErrorKind::kUnsupported) return native;
  Result<Compiled> reference = compile_reference(model, shapes);
  if (!reference) return native;
  const nlohmann::json report = {{"engine", "reference"},
                                 {"not_native", {native.error().to_string()}}};
  reference->report = report.dump();
  return reference;
}

Result<Compiler> compiler_of(const OpenOptions& options) {
  if (options.engine == "reference") return Compiler(compile_reference);
  if (options.engine == "native") {
    const Result<Cpu> cpu = cpu_named(options.target);
    if (!cpu) return std::unexpected(cpu.error());
    CompileOptions compile;
    compile.cpu = *cpu;
    compile.threads = options.session.threads;
    return Compiler([compile](const Model& model, const InputShapes& shapes) {
      return compile_or_interpret(model, shapes, compile);
    });
  }
  return fail(ErrorKind::kInvalid, "engine", "there is no engine '" + options.engine + "'",
              "native or reference");
}

// A model from memory is not in a file, but its problems are of the same kind.
Results<std::unique_ptr<Session>> session_of(Results<Model> model,
                                             std::shared_ptr<const void> table,
                                             const OpenOptions& options) {
  if (!model) return std::unexpected(std::move(model.error()));
  auto session = open_session_model(*std::move(model), std::move(table), options);
  if (!session) return std::unexpected(Errors{std::move(session.error())});
  return *std::move(session);
}

}  // namespace

Result<void> set_option(OpenOptions& options, const std::string& key, const std::string& value) {
  const auto set_number = [&](auto& into, int64_t most) -> Result<void> {
    const Result<int64_t> number = number_of(key, value);
    if (!number) return std::unexpected(number.error());
    if (*number > most) return fail(ErrorKind::kInvalid, key, value + " is too much");
    into = static_cast<std::remove_reference_t<decltype(into)>>(*number);
    return {};
  };
  if (key == "threads") return set_number(options.session.threads, 4096);
  if (key == "cache_size") return set_number(options.session.cache_size, 1 << 20);
  if (key == "engine") options.engine = value;
  if (key == "target") options.target = value;
  if (key == "directory") options.directory = value;
  if (key == "engine" || key == "target" || key == "directory") return {};
  if (key.starts_with("symbol:"))
    return set_number(options.session.symbols[key.substr(7)], INT64_MAX);
  if (key.starts_with("shape:")) {
    const Result<std::vector<int64_t>> dims = dims_of_text(key, value);
    if (!dims) return std::unexpected(dims.error());
    options.session.shapes[key.substr(6)] = *dims;
    return {};
  }
  return fail(ErrorKind::kInvalid, "option '" + key + "'", "is not known",
              "threads, engine, target, directory, cache_size, shape:INPUT, symbol:NAME");
}

Results<std::unique_ptr<Session>> open_session(const std::string& path,
                                               const OpenOptions& options) {
  const auto table = std::make_shared<const OperatorTable>(OperatorTable::standard());
  return session_of(import_onnx(path, *table), table, options);
}

Results<std::unique_ptr<Session>> open_session_bytes(std::span<const std::byte> bytes,
                                                     std::shared_ptr<const void> owner,
                                                     const OpenOptions& options) {
  const auto table = std::make_shared<const OperatorTable>(OperatorTable::standard());
  // Without an owner the importer would copy every weight.
  if (!owner) owner = table;
  return session_of(import_onnx_bytes(bytes, std::move(owner), options.directory, *table), table,
                    options);
}

Result<std::unique_ptr<Session>> open_session_model(Model model, std::shared_ptr<const void> owner,
                                                    const OpenOptions& options) {
  Result<Compiler> compiler = compiler_of(options);
  if (!compiler) return std::unexpected(std::move(compiler.error()));
  return Session::create(std::move(model), std::move(owner), *std::move(compiler), options.session);
}

}  // namespace hone
