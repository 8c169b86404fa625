// ONNX's own backend node cases (tools/write_onnx_cases.py), run on the reference engine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/model.h"
#include "ops/table.h"

namespace hone::test {

struct CaseResult {
  enum class Kind {
    kPass,
    kUnsupported,  // hone says so, and why
    kWrong,        // another result than expected
    kError,        // a valid model was refused as invalid
    kCrash,        // the process died or hung
  } kind = Kind::kPass;
  std::string name;
  std::string detail;
};
[[nodiscard]] std::string_view word_of(CaseResult::Kind kind);

// The folder of all cases and their names, sorted.
[[nodiscard]] std::string cases_folder();
[[nodiscard]] std::vector<std::string> case_names();

// Runs a model on inputs; by default the reference engine.
using CaseEngine =
    std::function<Result<std::vector<Buffer>>(const Model& model, std::span<const Buffer> inputs)>;

[[nodiscard]] CaseResult run_case(const std::string& name, const OperatorTable& table,
                                  const CaseEngine& engine = {});

// Runs cases in child processes, so that a crash costs one case. Results in order of `names`.
void run_cases(const std::vector<std::string>& names, const OperatorTable& table,
               const std::function<void(const CaseResult&)>& report, const CaseEngine& engine = {});

// Empty when they agree: types and shapes exactly, floats within atol + rtol * |expected|, NaN
// equals NaN, all else exactly.
[[nodiscard]] std::string difference(const Buffer& expected, const Buffer& actual, double rtol,
                                     double atol);

}  // namespace hone::test
