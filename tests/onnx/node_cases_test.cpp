#include "helpers/node_cases.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

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

// The result of each case is right, or hone says that it cannot run it, and the list of those is
// the committed one.
TEST(NodeCases, AllPassOrAreKnownToBeUnsupported) {
  const std::vector<std::string> names = case_names();
  ASSERT_GE(names.size(), 1884U) << "run tools/bootstrap: no cases in " << cases_folder();
  const OperatorTable table = OperatorTable::standard();
  std::map<CaseResult::Kind, size_t> counts;
  std::map<std::string, std::string> unsupported;
  run_cases(names, table, [&](const CaseResult& result) {
    ++counts[result.kind];
    if (result.kind == CaseResult::Kind::kUnsupported) {
      unsupported[result.name] = result.detail;
    } else if (result.kind != CaseResult::Kind::kPass) {
      ADD_FAILURE() << word_of(result.kind) << " " << result.name << ": " << result.detail;
    }
  });
  for (const auto& [kind, count] : counts) {
    RecordProperty(std::string(word_of(kind)), static_cast<int>(count));
    std::cout << word_of(kind) << " " << count << "  ";
  }
  std::cout << "of " << names.size() << "\n";
  EXPECT_GE(counts[CaseResult::Kind::kPass], 1400U);

  if (std::getenv("HONE_UPDATE") != nullptr) return write_list(unsupported);
  const auto known = read_list();
  for (const auto& [name, reason] : unsupported)
    if (!known.contains(name)) ADD_FAILURE() << name << " is no longer supported: " << reason;
  for (const auto& [name, reason] : known)
    if (!unsupported.contains(name))
      ADD_FAILURE() << name << " is supported now: update the list with HONE_UPDATE=1";
}

}  // namespace
}  // namespace hone::test
