// Every operator's example: its expression prints, reads back as the same, and keeps its form under
// simplification.
#include <gtest/gtest.h>

#include "expr/analysis.h"
#include "expr/evaluate.h"
#include "expr/text.h"
#include "ops/document.h"
#include "ops/example.h"
#include "ops/kernels.h"

namespace hone {
namespace {

// The present operands: their known contents, or small numbers that are also valid positions.
std::optional<std::vector<Buffer>> contents_of(const Example& example) {
  std::vector<Buffer> buffers;
  int seed = 1;
  for (const OperandInfo& operand : example.operands) {
    if (!operand.present) continue;
    if (!operand.known.constant.empty_handle()) {
      buffers.push_back(operand.known.constant);
      continue;
    }
    const auto dims = to_ints(*operand.type.shape);
    if (!dims || operand.type.element == ElementType::kString) return std::nullopt;
    std::vector<double> values(static_cast<size_t>(checked_count(*dims)));
    const bool whole = !is_float(operand.type.element);
    for (double& value : values) {
      seed = seed * 1103515 % 65537;
      value = whole ? seed % 2 : (seed % 64 - 32) / 16.0;
    }
    buffers.push_back(of_doubles(operand.type.element, *dims, values));
  }
  return buffers;
}

TEST(OperatorText, SimplifyingKeepsEveryResult) {
  const OperatorTable table = OperatorTable::standard();
  int checked = 0;
  for (const OperatorDef* def : table.all()) {
    const Result<Example> example = parse_example(*def);
    if (!example || !def->define) continue;
    OpContext context = context_of(*def, *example);
    const Result<TensorExpr> expr = instantiate(*def, context);
    const auto inputs = contents_of(*example);
    if (!expr || !inputs) continue;
    const auto before = evaluate(*expr, *inputs);
    const auto after = evaluate(simplify(*expr), *inputs);
    ASSERT_EQ(before.has_value(), after.has_value()) << def->full_name();
    if (!before) continue;
    EXPECT_TRUE(*before == *after) << def->full_name() << "\n" << to_text(simplify(*expr));
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

TEST(OperatorText, EveryExampleReadsBackAsTheSameExpression) {
  const OperatorTable table = OperatorTable::standard();
  int checked = 0;
  for (const OperatorDef* def : table.all()) {
    if (!def->define) continue;
    const Result<Example> example = parse_example(*def);
    ASSERT_TRUE(example) << example.error().to_string();
    OpContext context = context_of(*def, *example);
    const Result<TensorExpr> expr = instantiate(*def, context);
    if (!expr) continue;  // another test says which examples must have a meaning
    for (const TensorExpr& form : {*expr, simplify(*expr)}) {
      const std::string text = to_text(form);
      const Result<TensorExpr> again = parse_expr(text);
      ASSERT_TRUE(again) << def->full_name() << ": " << again.error().to_string() << "\n" << text;
      EXPECT_TRUE(*again == form) << text << "\nbecame\n" << to_text(*again);
    }
    const Errors problems = verify(simplify(*expr));
    EXPECT_TRUE(problems.empty()) << def->full_name() << ": " << problems.front().to_string();
    EXPECT_NE(document(*def).find(to_text(*expr).substr(0, 5)), std::string::npos);
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace hone
