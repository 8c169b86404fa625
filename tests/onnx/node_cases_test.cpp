#include "helpers/node_cases.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>

#include <gtest/gtest.h>

#include "helpers/native_engine.h"

namespace hone::test {
namespace {

const std::string kListPath = HONE_SOURCE_DIR "/tests/onnx/unsupported_cases.txt";

// `case_name: reason`, `#` starts a comment.
std::map<std::string, std::string> read_list() {
  std::map<std::string, std::string> list;
  std::ifstream file(kListPath);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with('#') || colon == std::string::npos) continue;
    list[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return list;
}

void write_list(const std::map<std::string, std::string>& list) {
  std::ofstream file(kListPath);
  file << "# Node cases of ONNX that the reference engine does not run, and why.\n"
          "# Written by HONE_UPDATE=1 test_onnx; a difference fails the test.\n";
  for (const auto& [name, reason] : list) file << name << ": " << reason << "\n";
}

// Runs all cases: those that do not pass are unsupported, by name with the reason.
std::map<std::string, std::string> unsupported_by(const CaseEngine& engine) {
  const std::vector<std::string> names = case_names();
  EXPECT_GE(names.size(), 1884U) << "run tools/bootstrap: no cases in " << cases_folder();
  const OperatorTable table = OperatorTable::standard();
  std::map<CaseResult::Kind, size_t> counts;
  std::map<std::string, std::string> unsupported;
  const auto note = [&](const CaseResult& result) {
    ++counts[result.kind];
    if (result.kind == CaseResult::Kind::kUnsupported) {
      unsupported[result.name] = result.detail;
    } else if (result.kind != CaseResult::Kind::kPass) {
      ADD_FAILURE() << word_of(result.kind) << " " << result.name << ": " << result.detail;
    }
  };
  run_cases(names, table, note, engine);
  for (const auto& [kind, count] : counts) {
    ::testing::Test::RecordProperty(std::string(word_of(kind)), static_cast<int>(count));
    std::cout << word_of(kind) << " " << count << "  ";
  }
  std::cout << "of " << names.size() << "\n";
  return unsupported;
}

void expect_the_known_ones(const std::map<std::string, std::string>& unsupported) {
  const auto known = read_list();
  for (const auto& [name, reason] : unsupported)
    if (!known.contains(name)) ADD_FAILURE() << name << " is no longer supported: " << reason;
  for (const auto& [name, reason] : known)
    if (!unsupported.contains(name))
      ADD_FAILURE() << name << " is supported now: update the list with HONE_UPDATE=1";
}

// The result of each case is right, or hone says that it cannot run it, and the list of those is
// the committed one.
TEST(NodeCases, AllPassOrAreKnownToBeUnsupported) {
  const auto unsupported = unsupported_by({});
  if (std::getenv("HONE_UPDATE") != nullptr) return write_list(unsupported);
  expect_the_known_ones(unsupported);
}

// Native code passes what the reference engine passes.
TEST(NodeCases, AllPassNativelyOrAreKnownToBeUnsupported) {
  expect_the_known_ones(unsupported_by(native_engine()));
}

}  // namespace
}  // namespace hone::test
