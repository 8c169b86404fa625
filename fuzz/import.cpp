// Any bytes as a model. What is imported must be sound, print as text that parses back to the same,
// survive cleaning, and export to a file that can be imported again.
#include "onnx/import.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>

#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include "driver/inspect.h"
#include "driver/pipeline.h"
#include "graph/text.h"
#include "mutate_model.h"
#include "onnx/export.h"

namespace hone {
namespace {

const OperatorTable& table() {
  static const OperatorTable kTable = OperatorTable::standard();
  return kTable;
}

const std::vector<std::string>& words() {
  static const std::vector<std::string> kWords = [] {
    std::vector<std::string> result = {
        "axis",     "axes",    "perm",   "keepdims", "shape",    "to",          "value",
        "pads",     "strides", "group",  "mode",     "body",     "then_branch", "else_branch",
        "location", "offset",  "length", "data.bin", "link.bin", "com.example", ""};
    for (const OperatorDef* def : table().all()) result.push_back(def->name);
    return result;
  }();
  return kWords;
}

// One folder for the process, in memory where there is such a place.
const std::string& output_path() {
  static const std::string kPath = [] {
    const bool shared = std::filesystem::is_directory("/dev/shm");
    std::string folder = std::string(shared ? "/dev/shm" : "/tmp") + "/hone_fuzz.XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    static const std::string kFolder = folder;
    std::atexit([] { std::filesystem::remove_all(kFolder); });
    return folder + "/model.onnx";
  }();
  return kPath;
}

[[noreturn]] void fail_with(const char* what, const std::string& why, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n%s\n", what, why.c_str(), text.c_str());
  std::abort();
}

void check_sound(const Model& model) {
  const Errors errors = verify(model.graph);
  if (!errors.empty()) fail_with("verifier", errors[0].to_string(), to_text(model).text);
}

void check_text(const Model& model) {
  const ModelText printed = to_text(model);
  const Results<Model> parsed = parse_model(printed.text, printed.blobs, table());
  if (!parsed)
    fail_with("printed text does not parse", parsed.error()[0].to_string(), printed.text);
  const std::string again = to_text(*parsed).text;
  if (again != printed.text) fail_with("text is another after parsing", again, printed.text);
  if (!equal(parsed->graph, model.graph)) fail_with("graph differs", "after parsing", printed.text);
}

void check_export(const Model& model) {
  const Result<void> written = export_onnx(model, output_path());
  if (!written) fail_with("export", written.error().to_string(), to_text(model).text);
  const Results<Model> again = import_onnx(output_path(), table());
  if (!again)
    fail_with("exported file is not read", again.error()[0].to_string(), to_text(model).text);
}

void try_model(std::span<const std::byte> bytes) {
  // Borrowed data must lie in memory that ends where the file ends.
  const auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  copy->shrink_to_fit();
  ImportOptions options;
  options.max_inlined_nodes = 2000;
  Results<Model> model =
      import_onnx_bytes(*copy, copy, HONE_SOURCE_DIR "/fuzz/data", table(), options);
  if (!model) {
    if (model.error().empty()) std::abort();
    for (const Error& error : model.error())
      if (error.reason.empty()) fail_with("an error", "without a reason", error.where);
    return;
  }
  check_sound(*model);
  check_text(*model);
  check_export(*model);
  std::ignore = inspect(*model);
  OptimizeOptions cleaning;
  cleaning.fold.max_bytes = 1 << 16;
  cleaning.fold.max_steps = 1e6;
  const Result<OptimizeReport> cleaned = optimize(*model, cleaning);
  if (!cleaned) fail_with("cleaning", cleaned.error().to_string(), to_text(*model).text);
  check_export(*model);
}

}  // namespace
}  // namespace hone

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hone::try_model(std::as_bytes(std::span(data, size)));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  onnx::ModelProto model;
  const bool parsed = model.ParseFromArray(data, static_cast<int>(size));
  if (!parsed || seed % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  hone::ModelMutator(seed, hone::words()).mutate(model);
  const std::string bytes = model.SerializeAsString();
  if (bytes.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
