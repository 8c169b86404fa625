#include "helpers/node_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/interpreter.h"
#include "onnx/import.h"
#include "onnx/tensor_file.h"

namespace hone::test {
namespace {

namespace fs = std::filesystem;
using Kind = CaseResult::Kind;

constexpr int kSecondsPerCase = 120;

Kind kind_of(const Error& error) {
  const bool honest = error.kind == ErrorKind::kUnsupported || error.kind == ErrorKind::kUnknown;
  return honest ? Kind::kUnsupported : Kind::kError;
}

// Reads prefix_0.pb, prefix_1.pb, ...; missing numbers are absent. False: a file is no tensor.
bool read_all(const fs::path& folder, const std::string& prefix, size_t count,
              std::vector<Buffer>& out, std::string& problem) {
  for (size_t i = 0; i < count; ++i) {
    const std::string stem = prefix + "_" + std::to_string(i);
    if (fs::exists(folder / (stem + ".seq.pb")) || fs::exists(folder / (stem + ".opt.pb"))) {
      problem = "test data is a sequence or an optional, not a tensor";
      return false;
    }
    const fs::path path = folder / (stem + ".pb");
    if (!fs::exists(path)) {
      out.emplace_back();
      continue;
    }
    Result<Buffer> tensor = read_tensor_file(path.string());
    if (!tensor) {
      problem = tensor.error().to_string();
      return false;
    }
    out.push_back(*std::move(tensor));
  }
  return true;
}

std::string at_index(const Buffer& buffer, int64_t flat) {
  std::string text = "]";
  for (size_t axis = buffer.dims().size(); axis-- > 0;) {
    const int64_t extent = buffer.dims()[axis];
    text = (axis == 0 ? "" : ", ") + std::to_string(flat % extent) + text;
    flat /= extent;
  }
  return "[" + text;
}

bool close(double expected, double actual, double rtol, double atol) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(expected - actual) <= atol + rtol * std::abs(expected);
}

// The expected values of half-precision cases were rounded after every step of a chain, ours after
// every operator: two units in the last place may lie between.
double last_places(ElementType type) {
  if (type == ElementType::kBF16) return 2 * 0x1p-7;
  return type == ElementType::kF16 ? 2 * 0x1p-10 : 0;
}

// Sums that cancel leave noise of the size of a float's rounding at the output's magnitude; ONNX's
// expected values have it too (an inverse FFT of real data expects 1.9e-7 beside 49.5).
double rounding_noise(const Buffer& expected) {
  double largest = 0;
  for (int64_t i = 0; i < expected.count(); ++i)
    if (std::isfinite(expected.as_double(i)))
      largest = std::max(largest, std::abs(expected.as_double(i)));
  return 2 * 0x1p-23 * largest;
}

std::string float_difference(const Buffer& expected, const Buffer& actual, double rtol,
                             double atol) {
  int64_t bad = 0, first = -1;
  if (expected.type() != ElementType::kF64) atol += rounding_noise(expected);
  rtol = std::max(rtol, last_places(expected.type()));
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (close(expected.as_double(i), actual.as_double(i), rtol, atol)) continue;
    if (bad++ == 0) first = i;
  }
  if (bad == 0) return {};
  std::ostringstream text;
  text.precision(9);
  text << bad << " of " << expected.count() << " elements differ, first at "
       << at_index(expected, first) << ": expected " << expected.as_double(first) << ", got "
       << actual.as_double(first);
  return text.str();
}

std::string exact_difference(const Buffer& expected, const Buffer& actual) {
  for (int64_t i = 0; i < expected.count(); ++i) {
    if (expected.as_int(i) == actual.as_int(i)) continue;
    return "at " + at_index(expected, i) + ": expected " + std::to_string(expected.as_int(i)) +
           ", got " + std::to_string(actual.as_int(i));
  }
  return {};
}

bool draws_random_numbers(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const OperatorDef* def = graph.node(id).def;
    return def != nullptr && !def->deterministic;
  });
}

CaseResult run_data_set(const fs::path& folder, const std::string& name, const Model& model,
                        double rtol, double atol, const CaseEngine& engine) {
  const Graph& graph = model.graph;
  std::vector<Buffer> inputs, expected;
  std::string problem;
  if (!read_all(folder, "input", graph.inputs().size(), inputs, problem) ||
      !read_all(folder, "output", graph.outputs().size(), expected, problem))
    return {Kind::kUnsupported, name, problem};
  if (draws_random_numbers(graph))
    return {Kind::kUnsupported, name, "expects the random numbers of another generator"};
  const Result<std::vector<Buffer>> outputs =
      engine ? engine(model, inputs) : interpret(graph, inputs);
  if (!outputs) return {kind_of(outputs.error()), name, outputs.error().to_string()};
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].empty_handle()) continue;
    const std::string text = difference(expected[i], outputs->at(i), rtol, atol);
    const std::string& output = graph.value(graph.outputs()[i]).name;
    if (!text.empty()) return {Kind::kWrong, name, "output " + output + " " + text};
  }
  return {Kind::kPass, name, {}};
}

// Runs names from `first` on in this process, a line each to `fd`.
[[noreturn]] void child(const std::vector<std::string>& names, size_t first,
                        const OperatorTable& table, const CaseEngine& engine, int fd) {
  for (size_t i = first; i < names.size(); ++i) {
    CaseResult result = run_case(names[i], table, engine);
    for (char& c : result.detail)
      if (c == '\n') c = ' ';
    const std::string line = std::to_string(static_cast<int>(result.kind)) + result.detail + "\n";
    if (::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(3);
  }
  ::_exit(0);
}

// A line from the child, or none when it ended or took too long.
bool read_line(int fd, std::string& line) {
  line.clear();
  for (char c = 0;;) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, kSecondsPerCase * 1000) <= 0 || ::read(fd, &c, 1) != 1) return false;
    if (c == '\n') return true;
    line.push_back(c);
  }
}

}  // namespace

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::kPass:
      return "PASS";
    case Kind::kUnsupported:
      return "UNSUPPORTED";
    case Kind::kWrong:
      return "WRONG";
    case Kind::kError:
      return "ERROR";
    case Kind::kCrash:
      return "CRASH";
  }
  return "?";
}

std::string cases_folder() { return HONE_CACHE_DIR "/onnx-cases-" HONE_ONNX_VERSION; }

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  std::ifstream file(cases_folder() + "/cases.txt");
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) names.push_back(line);
  return names;
}

std::string difference(const Buffer& expected, const Buffer& actual, double rtol, double atol) {
  if (actual.empty_handle()) return "is absent";
  if (expected.type() != actual.type() || expected.dims() != actual.dims())
    return "has type " + actual.tensor_type().to_string() + ", expected " +
           expected.tensor_type().to_string();
  const Buffer a = expected.aligned(), b = actual.aligned();
  if (expected.type() == ElementType::kString || expected.type() == ElementType::kC64 ||
      expected.type() == ElementType::kC128)
    return a == b ? "" : "differs";
  return is_float(expected.type()) ? float_difference(a, b, rtol, atol) : exact_difference(a, b);
}

CaseResult run_case(const std::string& name, const OperatorTable& table, const CaseEngine& engine) {
  const fs::path folder = fs::path(cases_folder()) / name;
  double rtol = 1e-3, atol = 1e-7;
  std::ifstream(folder / "tolerance.txt") >> rtol >> atol;
  try {
    const Results<Model> model = import_onnx((folder / "model.onnx").string(), table);
    if (!model) {
      const Error& first = model.error().front();
      return {kind_of(first), name, "import: " + first.reason};
    }
    CaseResult result{Kind::kPass, name, {}};
    for (int k = 0; result.kind == Kind::kPass; ++k) {
      const fs::path data = folder / ("test_data_set_" + std::to_string(k));
      if (!fs::exists(data)) {
        if (k == 0) return {Kind::kError, name, "has no test data"};
        break;
      }
      result = run_data_set(data, name, *model, rtol, atol, engine);
    }
    return result;
  } catch (const Failure& failure) {
    return {Kind::kError, name, "escaped: " + failure.error.to_string()};
  } catch (const std::exception& problem) {
    return {Kind::kError, name, std::string("exception: ") + problem.what()};
  }
}

void run_cases(const std::vector<std::string>& names, const OperatorTable& table,
               const std::function<void(const CaseResult&)>& report, const CaseEngine& engine) {
  for (size_t next = 0; next < names.size();) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    const pid_t process = ::fork();
    if (process == 0) {
      ::close(ends[0]);
      child(names, next, table, engine, ends[1]);
    }
    ::close(ends[1]);
    std::string line;
    while (next < names.size() && read_line(ends[0], line))
      report({static_cast<Kind>(line[0] - '0'), names[next++], line.substr(1)});
    if (next < names.size()) ::kill(process, SIGKILL);
    int status = 0;
    ::waitpid(process, &status, 0);
    ::close(ends[0]);
    if (next < names.size()) report({Kind::kCrash, names[next++], "the process died or hung"});
  }
}

}  // namespace hone::test
