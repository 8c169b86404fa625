// Golden tests in the text form of models. Each *.txt beside this file holds cases of
//
//   --- case NAME
//   --- input                  a model as text
//   --- pass NAME[,NAME]       passes to run until nothing changes; `all`, or `none` to only print
//   --- max_bytes N            limit of constant folding, optional
//   --- output                 the model afterwards
//
// and instead of an output `--- unchanged` where the passes must not fire, or `--- error` with the
// messages of a text that must not parse. HONE_UPDATE=1 in the environment writes what came out.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "driver/pipeline.h"
#include "graph/text.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

const OperatorTable& table() {
  static const OperatorTable kTable = OperatorTable::standard();
  return kTable;
}

struct Section {
  std::string word, argument, text;
};

struct Case {
  fs::path file;
  std::string name;
  std::vector<Section> sections;

  [[nodiscard]] const Section* find(const std::string& word) const {
    const auto at = std::find_if(sections.begin(), sections.end(),
                                 [&](const Section& s) { return s.word == word; });
    return at == sections.end() ? nullptr : &*at;
  }
};

std::string full_name(const Case& test) { return test.file.stem().string() + "_" + test.name; }
void PrintTo(const Case& test, std::ostream* out) { *out << full_name(test); }

struct File {
  std::string header;  // comments before the first case
  std::vector<Case> cases;
};

File read(const fs::path& path) {
  File file;
  std::ifstream stream(path);
  Section* section = nullptr;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("--- ")) {
      std::istringstream words(line.substr(4));
      Section next;
      words >> next.word >> next.argument;
      if (next.word == "case") {
        file.cases.push_back({path, next.argument, {}});
        section = nullptr;
        continue;
      }
      if (file.cases.empty()) throw std::runtime_error(path.string() + ": a section before a case");
      file.cases.back().sections.push_back(next);
      section = &file.cases.back().sections.back();
    } else if (section != nullptr) {
      section->text += line + "\n";
    } else {
      file.header += line + "\n";
    }
  }
  return file;
}

// Blank lines at the end of a section are only for the eye.
std::string trimmed(std::string text) {
  while (text.ends_with("\n")) text.pop_back();
  return text.empty() ? text : text + "\n";
}

std::set<std::string> all_but(const std::string& names) {
  std::set<std::string> others;
  for (const std::string& pass : pass_names()) others.insert(pass);
  if (names == "all") return {};
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    if (others.erase(name) == 0 && name != "none") ADD_FAILURE() << "there is no pass " << name;
  return others;
}

std::string messages(const Errors& errors) {
  std::string text;
  for (const Error& error : errors) text += error.to_string() + "\n";
  return text;
}

void expect_round_trip(const Model& model) {
  const ModelText printed = to_text(model);
  const Results<Model> again = parse_model(printed.text, printed.blobs, table());
  ASSERT_TRUE(again) << messages(again.error()) << printed.text;
  EXPECT_TRUE(equal(model.graph, again->graph)) << printed.text;
  EXPECT_EQ(to_text(*again).text, printed.text);
}

void run_passes(const Case& test, Model& model) {
  const Section* pass = test.find("pass");
  ASSERT_NE(pass, nullptr) << "no passes are named";
  OptimizeOptions options;
  options.disabled = all_but(pass->argument);
  if (const Section* limit = test.find("max_bytes"))
    options.fold.max_bytes = std::stoull(limit->argument);
  const Result<OptimizeReport> report = optimize(model, options);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_LT(report->rounds, options.max_rounds) << "the passes never come to rest";
  expect_round_trip(model);
}

// What the case gives: the section that holds it, and its text.
Section result_of(const Case& test) {
  const Section* input = test.find("input");
  if (input == nullptr) return {"error", "", "the case has no input\n"};
  Results<Model> model = parse_model(input->text, {}, table());
  if (!model) return {"error", "", messages(model.error())};
  expect_round_trip(*model);
  const std::string before = to_text(*model).text;
  run_passes(test, *model);
  const std::string after = to_text(*model).text;
  if (after == before && test.find("unchanged") != nullptr) return {"unchanged", "", ""};
  return {"output", "", after};
}

bool is_result(const Section& section) {
  return section.word == "output" || section.word == "unchanged" || section.word == "error";
}

void update(const Case& test, const Section& result) {
  File file = read(test.file);
  std::ofstream stream(test.file);
  stream << file.header;
  for (size_t i = 0; i < file.cases.size(); ++i) {
    Case& each = file.cases[i];
    if (each.name == test.name) {
      std::erase_if(each.sections, is_result);
      each.sections.push_back(result);
    }
    stream << (i > 0 ? "\n" : "") << "--- case " << each.name << "\n";
    for (const Section& s : each.sections)
      stream << "--- " << s.word << (s.argument.empty() ? "" : " " + s.argument) << "\n"
             << trimmed(s.text);
  }
}

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, Text) {
  const Case& test = GetParam();
  const Section result = result_of(test);
  if (std::getenv("HONE_UPDATE") != nullptr) return update(test, result);
  const Section* wanted = test.find(result.word);
  ASSERT_NE(wanted, nullptr) << "gives another kind of result: " << result.word << "\n"
                             << result.text;
  EXPECT_EQ(trimmed(wanted->text), trimmed(result.text));
}

std::vector<Case> all_cases() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(HONE_SOURCE_DIR "/tests/golden"))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  for (const fs::path& path : paths) {
    const File file = read(path);
    cases.insert(cases.end(), file.cases.begin(), file.cases.end());
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, Golden, testing::ValuesIn(all_cases()),
                         [](const auto& chosen) { return full_name(chosen.param); });

// Names are what tests are found by; two with one name would hide each other.
TEST(GoldenFiles, HaveDistinctNames) {
  std::set<std::string> names;
  for (const Case& test : all_cases())
    EXPECT_TRUE(names.insert(full_name(test)).second) << test.name;
  EXPECT_GE(names.size(), 30U);
}

// Every pass has a case where it fires and one where it must not.
TEST(GoldenFiles, CoverEveryPass) {
  for (const std::string& pass : pass_names()) {
    const auto count = [&](const std::string& word) {
      const std::vector<Case> cases = all_cases();
      return std::count_if(cases.begin(), cases.end(), [&](const Case& test) {
        const Section* named = test.find("pass");
        return named != nullptr && named->argument == pass && test.find(word) != nullptr;
      });
    };
    EXPECT_GE(count("output"), 1) << pass;
    EXPECT_GE(count("unchanged"), 1) << pass;
  }
}

}  // namespace
}  // namespace hone
