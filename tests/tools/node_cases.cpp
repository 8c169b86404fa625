// node_cases [REGEX] [-q] [-n]: runs ONNX's node cases whose names match, and says how each went;
// -n: natively.
#include "helpers/node_cases.h"

#include <cstring>
#include <iostream>
#include <map>
#include <regex>

#include "helpers/native_engine.h"

int main(int argc, char** argv) {
  using hone::test::CaseResult;
  std::regex filter("");
  hone::test::CaseEngine engine;
  bool quiet = false;  // only what did not pass
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-q") == 0) {
      quiet = true;
    } else if (std::strcmp(argv[i], "-n") == 0) {
      engine = hone::test::native_engine();
    } else {
      filter = std::regex(argv[i]);
    }
  }
  std::vector<std::string> names;
  for (const std::string& name : hone::test::case_names())
    if (std::regex_search(name, filter)) names.push_back(name);
  const hone::OperatorTable table = hone::OperatorTable::standard();
  std::map<CaseResult::Kind, int> counts;
  hone::test::run_cases(
      names, table,
      [&](const CaseResult& result) {
        ++counts[result.kind];
        if (quiet && result.kind == CaseResult::Kind::kPass) return;
        std::cout << word_of(result.kind) << ' ' << result.name;
        if (!result.detail.empty()) std::cout << ": " << result.detail;
        std::cout << std::endl;
      },
      engine);
  int bad = 0;
  for (const auto& [kind, count] : counts) {
    std::cout << word_of(kind) << " " << count << "  ";
    if (kind != CaseResult::Kind::kPass && kind != CaseResult::Kind::kUnsupported) bad += count;
  }
  std::cout << "of " << names.size() << std::endl;
  return bad == 0 ? 0 : 1;
}
