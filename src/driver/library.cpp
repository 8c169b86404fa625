#include "driver/library.h"

#include <cctype>
#include <filesystem>

#include "codegen/codegen.h"
#include "codegen/link.h"
#include "codegen/runtime_object.h"
#include "driver/library_data.h"
#include "driver/library_header.h"
#include "support/check.h"
#include "support/file.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// A folder for intermediate files, beside the result so that it can be moved there.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& output) {
    const fs::path folder = fs::path(output).parent_path();
    path_ = ((folder.empty() ? fs::path(".") : folder) / ".hone-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) {
      const Error error{
          ErrorKind::kSystem, output,
          "cannot write there: " + std::error_code(errno, std::generic_category()).message(),
          "check the folder"};
      throw Failure{error};
    }
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

ElfObject::Machine machine_of(const Cpu& cpu) {
  return cpu.triple.starts_with("aarch64") ? ElfObject::Machine::kArm64 : ElfObject::Machine::kX64;
}

void write(const std::string& path, std::span<const char> bytes) {
  AtomicFile file(path);
  file.write(std::string_view(bytes.data(), bytes.size()));
  file.commit();
}

Result<void> write_objects(const Plan& plan, const LibraryOptions& options,
                           const WorkFolder& work) {
  std::vector<loop::Function> kernels = plan.kernels;
  for (loop::Function& kernel : kernels) kernel.name = options.name + "_" + kernel.name;
  const auto code = compile_object(kernels, options.cpu);
  if (!code) return std::unexpected(code.error());
  write(work.file("kernels.o"), *code);
  const auto runtime = runtime_object(options.cpu, options.name);
  if (!runtime) return std::unexpected(runtime.error());
  write(work.file("runtime.o"), *runtime);
  library_data(plan, machine_of(options.cpu), options.name, options.weights.empty())
      .write(work.file("data.o"));
  return {};
}

// The system's libraries are there when the result is loaded, not now: what is linked instead are
// empty ones of the same name.
Result<std::vector<std::string>> empty_libraries(const LibraryOptions& options,
                                                 const WorkFolder& work) {
  ElfObject(machine_of(options.cpu)).write(work.file("empty.o"));
  std::vector<std::string> paths;
  for (const std::string name : {"libm.so.6", "libpthread.so.0", "libc.so.6"}) {
    paths.push_back(work.file(name));
    if (auto linked =
            link_objects({"-shared", "-soname", name, "-o", paths.back(), work.file("empty.o")});
        !linked)
      return std::unexpected(std::move(linked.error()));
  }
  return paths;
}

Result<void> link_library(const LibraryOptions& options, const WorkFolder& work,
                          const std::string& result) {
  const std::vector<std::string> objects = {work.file("kernels.o"), work.file("runtime.o"),
                                            work.file("data.o")};
  std::vector<std::string> arguments;
  if (options.output.ends_with(".o")) {
    arguments = {"-r", "-o", result};
    arguments.insert(arguments.end(), objects.begin(), objects.end());
    return link_objects(arguments);
  }
  const std::string& name = options.name;
  std::string exports = "{ global: ";
  for (const char* function :
       {"create", "destroy", "run", "input_count", "output_count", "input", "output"})
    exports += name + "_" + function + "; ";
  write(work.file("exports.map"), exports + "local: *; };\n");
  const auto libraries = empty_libraries(options, work);
  if (!libraries) return std::unexpected(libraries.error());
  arguments = {"-shared",
               "-o",
               result,
               "-soname",
               fs::path(options.output).filename().string(),
               "--version-script=" + work.file("exports.map"),
               "--gc-sections",
               "--build-id=none",
               "--hash-style=gnu",
               "--no-as-needed",
               "-z",
               "now",
               "-z",
               "relro",
               "-z",
               "noexecstack"};
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  arguments.insert(arguments.end(), libraries->begin(), libraries->end());
  return link_objects(arguments);
}

void write_weights(const Plan& plan, const std::string& path) {
  const hone_weights header = weights_header(plan);
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&header, 1)));
  file.write(plan.constants.bytes());
  file.commit();
}

Result<void> check_native(const Plan& plan) {
  if (plan.host_notes.empty()) return {};
  std::string list = plan.host_notes[0];
  if (plan.host_notes.size() > 1)
    list += " and " + std::to_string(plan.host_notes.size() - 1) + " more";
  return fail(ErrorKind::kUnsupported, "",
              "a library holds native code only, but there is none for " + list,
              "`hone run` and Python can run the model");
}

}  // namespace

std::string library_name(const std::string& path) {
  std::string name = fs::path(path).stem().string();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0)
    name = "model_" + name;
  return name;
}

Result<void> write_library(const Plan& plan, const LibraryOptions& options) {
  HONE_CHECK(library_name(options.name) == options.name, "the name is an identifier");
  if (!options.output.ends_with(".so") && !options.output.ends_with(".o"))
    return fail(ErrorKind::kInvalid, "--output " + options.output, "must end in .so or .o");
  if (Result<void> native = check_native(plan); !native) return native;
  try {
    const WorkFolder work(options.output);
    if (Result<void> written = write_objects(plan, options, work); !written) return written;
    const std::string result = work.file("result");
    if (Result<void> linked = link_library(options, work, result); !linked) return linked;
    if (!options.weights.empty()) write_weights(plan, options.weights);
    if (!options.header.empty()) {
      const std::string text = library_header(plan, options);
      write(options.header, text);
    }
    std::error_code code;
    fs::rename(result, options.output, code);
    if (code)
      return fail(ErrorKind::kSystem, options.output, "cannot be written: " + code.message());
    return {};
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

}  // namespace hone
