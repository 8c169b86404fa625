// Every operator of the table is documented, and its example means something: it parses, gives a
// verified expression, and runs in all domains of numbers.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "expr/text.h"
#include "ops/example.h"
#include "ops/kernels.h"

namespace hone {
namespace {

const OperatorTable& standard_table() {
  static const OperatorTable table = OperatorTable::standard();
  return table;
}

// Floats in [0.1, 0.9), integers 1 or 2, so that logarithms, divisors and labels make sense.
Buffer seeded(const TensorType& type, std::mt19937& random) {
  const std::vector<int64_t> dims = *to_ints(*type.shape);
  const int64_t count = checked_count(dims);
  if (type.element == ElementType::kString)
    return Buffer::of_strings(dims, std::vector<std::string>(static_cast<size_t>(count), "a,b"));
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = static_cast<double>(random() % 1024);
    if (type.element == ElementType::kBool)
      values.push_back(bits < 512 ? 0 : 1);
    else if (is_integer(type.element))
      values.push_back(bits < 512 ? 1 : 2);
    else
      values.push_back(0.1 + 0.8 * bits / 1024);
  }
  return of_doubles(type.element, dims, values);
}

// One buffer per operand; an empty handle where it is absent.
std::vector<Buffer> operands_of(const Example& example) {
  std::mt19937 random(1);
  std::vector<Buffer> result;
  for (const OperandInfo& info : example.operands) {
    if (!info.present)
      result.emplace_back();
    else if (!info.known.constant.empty_handle())
      result.push_back(info.known.constant);
    else
      result.push_back(seeded(info.type, random));
  }
  return result;
}

Result<std::vector<Buffer>> evaluate_in(Domain domain, const TensorExpr& expr,
                                        const std::vector<Buffer>& operands) {
  std::vector<Buffer> present;
  for (const Buffer& operand : operands)
    if (!operand.empty_handle()) present.push_back(to_domain(operand, domain));
  EvaluateOptions options;
  options.domain = domain;
  return evaluate(expr, present, options);
}

void expect_close(const Buffer& native, const Buffer& exact) {
  ASSERT_EQ(native.dims(), exact.dims());
  for (int64_t i = 0; i < native.count(); ++i) {
    const double a = native.as_double(i);
    const double b = exact.as_double(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    // An integer that comes from rounding may fall on the other side of a tie.
    const double slack = is_float(native.type()) ? 1e-3 * std::max(1.0, std::abs(b)) : 1;
    EXPECT_LE(std::abs(a - b), slack) << "element " << i << ": " << a << " and " << b;
  }
}

class EveryOperator : public testing::TestWithParam<std::string> {
 protected:
  static const OperatorDef& def() {
    for (const OperatorDef* each : standard_table().all())
      if (each->full_name() == GetParam()) return *each;
    throw InternalError("no such operator");
  }
};

TEST_P(EveryOperator, IsDocumented) {
  EXPECT_FALSE(def().doc.empty());
  EXPECT_EQ(def().doc.find('\n'), std::string::npos);
  EXPECT_TRUE(def().doc.ends_with('.')) << def().doc;
  EXPECT_FALSE(def().example.empty());
  EXPECT_NE(static_cast<bool>(def().define), !def().opaque_reason.empty())
      << "either a definition, or the reason why there is none";
}

TEST_P(EveryOperator, HasAnExampleThatMeansSomething) {
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  OpContext context = context_of(def(), *example);
  if (!def().define) {
    if (def().infer) {
      EXPECT_GE(def().infer(context).size(), example->output_count);
    }
    return;
  }
  const Result<TensorExpr> expr = instantiate(def(), context);
  ASSERT_TRUE(expr) << expr.error().to_string();
  EXPECT_EQ(expr->outputs.size(), example->output_count);
  for (const Error& problem : verify(*expr)) ADD_FAILURE() << problem.to_string();
}

// Where a definition stands beside the inference that serves without it, both agree.
TEST_P(EveryOperator, InfersWhatItsDefinitionSays) {
  if (!def().define || !def().infer) return;
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  OpContext context = context_of(def(), *example);
  const Result<TensorExpr> expr = instantiate(def(), context);
  ASSERT_TRUE(expr) << expr.error().to_string();
  const std::vector<TensorType> types = def().infer(context);
  ASSERT_EQ(types.size(), example->output_count);
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType defined = expr->output_type(i);
    EXPECT_EQ(types[i].element, defined.element);
    if (!types[i].shape) continue;
    ASSERT_EQ(types[i].shape->size(), defined.shape->size());
    for (size_t d = 0; d < defined.shape->size(); ++d) {
      const Dim& inferred = (*types[i].shape)[d];
      EXPECT_TRUE(inferred.is(kUnknownDim) || inferred == (*defined.shape)[d]) << d;
    }
  }
}

TEST_P(EveryOperator, PrintsAsTextThatParsesBack) {
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  OpContext context = context_of(def(), *example);
  const Result<TensorExpr> expr = instantiate(def(), context);
  if (!expr) return;
  const Result<TensorExpr> again = parse_expr(to_text(*expr));
  ASSERT_TRUE(again) << again.error().to_string() << "\n" << to_text(*expr);
  EXPECT_TRUE(*again == *expr) << to_text(*expr);
}

TEST_P(EveryOperator, ComputesTheSameInFloatsAndDoubles) {
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  const std::vector<Buffer> operands = operands_of(*example);
  OpContext context = context_of(def(), *example);
  const Result<TensorExpr> expr = instantiate(def(), context);
  if (!expr) return;
  const auto native = evaluate_in(Domain::kNative, *expr, operands);
  ASSERT_TRUE(native) << native.error().to_string();
  const auto exact = evaluate_in(Domain::kDouble, *expr, operands);
  ASSERT_TRUE(exact) << exact.error().to_string();
  ASSERT_EQ(native->size(), exact->size());
  for (size_t i = 0; i < native->size(); ++i) {
    EXPECT_EQ((*native)[i].tensor_type(), expr->output_type(i));
    expect_close((*native)[i], (*exact)[i]);
  }
}

TEST_P(EveryOperator, RunsInTheField) {
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  OpContext context = context_of(def(), *example);
  const Result<TensorExpr> expr = instantiate(def(), context);
  if (!expr) return;
  const auto field = evaluate_in(Domain::kField, *expr, operands_of(*example));
  EXPECT_TRUE(field) << field.error().to_string();
}

TEST_P(EveryOperator, RunsItsKernelIfItHasOne) {
  if (!def().kernel || def().define) return;  // beside a definition a kernel is for strings
  const Result<Example> example = parse_example(def());
  ASSERT_TRUE(example) << example.error().to_string();
  OpContext context = context_of(def(), *example);
  const std::vector<Buffer> outputs = def().kernel(context, operands_of(*example));
  ASSERT_GE(outputs.size(), example->output_count);
  if (!def().infer) return;
  const std::vector<TensorType> types = def().infer(context);
  for (size_t i = 0; i < example->output_count; ++i) {
    EXPECT_EQ(outputs[i].type(), types[i].element);
    if (!types[i].shape) continue;
    ASSERT_EQ(outputs[i].dims().size(), types[i].shape->size());
    for (size_t d = 0; d < outputs[i].dims().size(); ++d) {
      const Dim& inferred = (*types[i].shape)[d];
      if (!inferred.is(kUnknownDim)) {
        EXPECT_EQ(Dim(outputs[i].dims()[d]), inferred);
      }
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const OperatorDef* def : standard_table().all()) names.push_back(def->full_name());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::replace_if(name.begin(), name.end(), [](char ch) { return ch == '.' || ch == ':'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOperator, testing::ValuesIn(all_names()), test_name);

TEST(OperatorTable, FindsByDomainAndName) {
  EXPECT_NE(standard_table().find("", "Concat"), nullptr);
  EXPECT_EQ(standard_table().find("ai.onnx", "Concat"), standard_table().find("", "Concat"));
  EXPECT_NE(standard_table().find("ai.onnx.ml", "Binarizer"), nullptr);
  EXPECT_EQ(standard_table().find("", "Binarizer"), nullptr);
  EXPECT_EQ(standard_table().find("com.example", "Concat"), nullptr);
}

}  // namespace
}  // namespace hone
