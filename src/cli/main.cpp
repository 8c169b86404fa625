#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "cli/common.h"
#include "support/version.h"

namespace {

using namespace hone::cli;

int run(int argc, char** argv) {
  CLI::App app("hone makes neural networks in ONNX files faster, with the same answers.", "hone");
  app.set_version_flag("--version", std::string(hone::kVersion));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine; 1 models differ or a check failed; 2 wrong command line; 3 broken\n"
      "input; 4 not supported; 5 files or memory; 70 a bug in hone; 130 interrupted.\n\n"
      "Examples:\n  hone inspect model.onnx\n  hone optimize model.onnx -o fast.onnx\n"
      "  hone check model.onnx fast.onnx\n  hone run fast.onnx --input x=x.npy --output-dir out\n"
      "  hone bench model.onnx --threads 2\n  hone compile model.onnx -o model.so\n");
  std::vector<std::pair<CLI::App*, Command>> commands;
  const auto add = [&](const char* name, Command (*make)(CLI::App&)) {
    CLI::App* sub = app.add_subcommand(name);
    Command command = make(*sub);
    commands.emplace_back(sub, std::move(command));
  };
  add("inspect", add_inspect);
  add("optimize", add_optimize);
  add("run", add_run);
  add("check", add_check);
  add("compile", add_compile);
  add("bench", add_bench);
  add("ops", add_ops);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const std::string first = argc > 1 ? argv[1] : "-";
    const bool known = std::any_of(commands.begin(), commands.end(), [&](const auto& entry) {
      return entry.first->get_name() == first;
    });
    if (!first.starts_with("-") && !known) {
      fmt::print(stderr, "hone: there is no command '{}' (`hone --help` lists them)\n", first);
      return kUsage;
    }
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  catch_interrupts();
  for (const auto& [sub, command] : commands)
    if (sub->parsed()) return command();
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const hone::Failure& failure) {
    return report(failure.error);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "hone: out of memory\n");
    return kSystemError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "hone: {}\nThis is a bug in hone; please report it with the model.\n",
               error.what());
    return kInternal;
  }
}
