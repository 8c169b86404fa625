#include "driver/compile.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "cli/common.h"
#include "driver/interface.h"
#include "driver/library.h"
#include "loop/text.h"
#include "support/file.h"

namespace hone::cli {
namespace {

struct Options {
  std::string path;
  ModelOptions model;
  ShapeOptions shapes;
  std::string target = "host";
  int threads = 1;
  LibraryOptions library;
  bool no_header = false;
  std::string dump;
};

Result<InputShapes> shapes_of(const Options& options, const Graph& graph) {
  const auto shapes = options.shapes.parsed_shapes();
  if (!shapes) return std::unexpected(shapes.error());
  const auto symbols = options.shapes.parsed_dims();
  if (!symbols) return std::unexpected(symbols.error());
  const auto inputs = fixed_inputs(graph, *shapes, *symbols);
  if (!inputs) return std::unexpected(inputs.error());
  return concrete_shapes(*inputs);
}

// Problems that would show only after all the work.
Result<LibraryOptions> library_options(const Options& options) {
  LibraryOptions library = options.library;
  Result<Cpu> cpu = cpu_named(options.target);
  if (!cpu) return std::unexpected(std::move(cpu.error()));
  library.cpu = *std::move(cpu);
  if (!library.output.ends_with(".so") && !library.output.ends_with(".o"))
    return fail(ErrorKind::kInvalid, "--output " + library.output, "must end in .so or .o");
  if (library.name.empty()) library.name = library_name(library.output);
  if (library_name(library.name) != library.name)
    return fail(ErrorKind::kInvalid, "--name " + library.name, "is not a name of a C function");
  if (library.header.empty() && !options.no_header)
    library.header = std::filesystem::path(library.output).replace_extension(".h").string();
  if (options.no_header) library.header.clear();
  return library;
}

void print_result(const LibraryOptions& library, const Plan& plan, double seconds) {
  std::error_code ignored;
  const auto size = static_cast<double>(std::filesystem::file_size(library.output, ignored));
  fmt::print("{}: {} for {}, {} kernels in {} steps, {:.2f} s\n", library.output, bytes_text(size),
             library.cpu.name, plan.kernels.size(), plan.steps.size(), seconds);
  fmt::print("  weights {}{}, memory of a run {} and {} per thread\n",
             bytes_text(static_cast<double>(plan.constants.byte_size())),
             library.weights.empty() ? "" : " in " + library.weights,
             bytes_text(static_cast<double>(plan.arena_bytes)),
             bytes_text(static_cast<double>(plan.scratch_bytes)));
  if (!library.header.empty())
    fmt::print("  {}: {}_create() and so on\n", library.header, library.name);
  if (!library.cpu.is_host) fmt::print("  this machine cannot run it: not executed\n");
}

// What each stage of compiling makes of the model, for people.
class Stages {
 public:
  std::function<void(const std::string&, const std::string&)> collect() {
    return [this](const std::string& stage, const std::string& text) { add(stage, text); };
  }
  void add(const std::string& stage, const std::string& text) {
    if (stage != last_) text_ += "=== " + stage + "\n";
    last_ = stage;
    text_ += text + "\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string last_, text_;
};

int compile(const Options& options) {
  const Result<LibraryOptions> library = library_options(options);
  if (!library) return report(library.error());
  Results<OperatorTable> table = load_operators(options.model);
  if (!table) return report(table.error());
  const Results<Model> model = load_model(options.path, *table);
  if (!model) return report(model.error());
  const Result<InputShapes> shapes = shapes_of(options, model->graph);
  if (!shapes) return report(shapes.error());
  const auto start = std::chrono::steady_clock::now();
  CompileOptions compile_options;
  compile_options.cpu = library->cpu;
  compile_options.threads = options.threads;
  Stages stages;
  if (!options.dump.empty()) compile_options.dump = stages.collect();
  const auto plan = plan_model(*model, *shapes, compile_options);
  if (!plan) return report(plan.error());
  if (!options.dump.empty()) {
    for (const loop::Function& kernel : (*plan)->kernels)
      stages.add("loops", loop::to_text(kernel));
    const Result<void> dumped = write_file(options.dump, stages.text());
    if (!dumped) return report(dumped.error());
  }
  if (const Result<void> written = write_library(**plan, *library); !written)
    return report(written.error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  print_result(*library, **plan, took.count());
  return kOk;
}

}  // namespace

Command add_compile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.description(
      "Compiles a model to a shared library (.so) or an object (.o) that needs only the C library, "
      "and a C header for it.");
  app.footer(
      "Targets: host, x86-64, x86-64-v2, -v3 and -v4, or the name of a CPU: skylake-avx512, "
      "znver3,\n"
      "neoverse-n1, ...\n\nExamples:\n"
      "  hone compile model.onnx -o model.so\n"
      "  hone compile model.onnx -o model.so --target neoverse-n1 --shape x=1,3,224,224\n"
      "  hone compile model.onnx -o model.o --name resnet --weights model.weights\n"
      "  hone compile model.onnx -o model.so --dim batch=8 --dump stages.txt\n");
  app.add_option("MODEL", options->path, "ONNX file")->required();
  app.add_option("-o,--output", options->library.output, "Library (.so) or object (.o) to write")
      ->required();
  app.add_option("--target", options->target, "CPU to compile for")->capture_default_str();
  app.add_option("--threads", options->threads, "Threads that runs will most likely have")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--name", options->library.name,
                 "Start of the functions' names; default: name of the output");
  app.add_option("--header", options->library.header,
                 "C header to write; default: the output's name with .h");
  app.add_flag("--no-header", options->no_header, "Write no header");
  app.add_option("--weights", options->library.weights,
                 "Write the weights to this file instead of the library");
  app.add_option(
         "--dump", options->dump,
         "Also write the program, its kernels with their schedules, and their loops as text")
      ->type_name("FILE");
  options->shapes.add_to(app, "");
  options->model.add_to(app);
  return [options] { return compile(*options); };
}

}  // namespace hone::cli
