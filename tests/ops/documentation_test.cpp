// The examples of docs/adding-an-operator.md are real: text blocks load, C++ blocks are quotations.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "ops/example.h"
#include "ops/user_ops.h"

namespace hone {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(std::string(HONE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The blocks between ```language and ```.
std::vector<std::string> blocks(const std::string& language) {
  const std::string page = contents_of("docs/adding-an-operator.md");
  const std::string fence = "```" + language + "\n";
  std::vector<std::string> result;
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    result.push_back(page.substr(at, page.find("```", at) - at));
  }
  return result;
}

TEST(AddingAnOperator, ShowsTextThatLoads) {
  ASSERT_EQ(blocks("ops").size(), 1U);
  OperatorTable table;
  const Result<int> added = add_operators(table, blocks("ops")[0], "my.ops");
  ASSERT_TRUE(added) << added.error().to_string();
  EXPECT_EQ(*added, 2);
  for (const OperatorDef* def : table.all()) {
    EXPECT_FALSE(def->doc.empty());
    const Result<Example> example = parse_example(*def);
    ASSERT_TRUE(example) << example.error().to_string();
    OpContext context = context_of(*def, *example);
    EXPECT_TRUE(instantiate(*def, context)) << def->full_name();
  }
}

TEST(AddingAnOperator, QuotesTheSources) {
  ASSERT_FALSE(blocks("cpp").empty());
  for (const std::string& block : blocks("cpp")) {
    const size_t line = block.find('\n');
    ASSERT_TRUE(block.starts_with("// src/")) << block;
    const std::string source = contents_of(block.substr(3, line - 3));
    EXPECT_NE(source.find(block.substr(line + 1)), std::string::npos) << block;
  }
}

}  // namespace
}  // namespace hone
