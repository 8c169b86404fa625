// What plans and their machine code look like: no spills, the same bytes each time, clear errors.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/nets.h"
#include "loop/equal.h"
#include "loop/text.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Model matmul(int64_t m, int64_t k, int64_t n) {
  Net net;
  const ValueId product = net.op("MatMul", {net.input("x", {m, k}), net.weights({k, n})});
  return net.finish({net.op("Relu", {net.op("Add", {product, net.weights({n})})})});
}

Model convolution(Ints in, Ints weights) {
  Net net;
  const int64_t channels = weights[0];
  const ValueId x = net.op("Relu", {net.input("x", std::move(in))});
  const ValueId y = net.op("Conv", {x, net.weights(std::move(weights)), net.weights({channels})},
                           {{"pads", Ints{1, 1, 1, 1}}});
  return net.finish({net.op("Relu", {y})});
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Every loop without another one inside that multiplies and adds at least `least` times.
std::vector<std::string> hot_loops(const std::string& assembly, int least) {
  std::vector<std::string> found;
  std::istringstream lines(assembly);
  std::string label, block;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".L")) {
      label = line.substr(0, line.find(':'));
      block.clear();
    }
    block += line + "\n";
    const bool jumps_back =
        line.starts_with("\tj") && !label.empty() && line.ends_with("\t" + label);
    if (jumps_back && count(block, "vfmadd") >= least) found.push_back(block);
  }
  return found;
}

void expect_no_spills(const Model& model, const std::string& schedule_part) {
  CompileOptions options = options_for("x86-64-v3");
  options.winograd = false;
  const auto plan = plan_of(model, options);
  ASSERT_NE(plan, nullptr);
  std::string schedules;
  for (const std::string& schedule : plan->schedules) schedules += schedule;
  EXPECT_THAT(schedules, HasSubstr(schedule_part));
  const auto assembly = compile_assembly(plan->kernels, options.cpu);
  ASSERT_TRUE(assembly);
  const std::vector<std::string> loops = hot_loops(*assembly, 12);
  EXPECT_FALSE(loops.empty()) << *assembly;
  for (const std::string& loop : loops) {
    EXPECT_THAT(loop, Not(HasSubstr("(%rsp"))) << schedules;
    EXPECT_THAT(loop, Not(HasSubstr("rsp)"))) << schedules;
    EXPECT_THAT(loop, Not(HasSubstr("[rsp"))) << schedules;
    EXPECT_THAT(loop, Not(HasSubstr("[rbp"))) << schedules;
  }
}

TEST(NativePlan, MatrixProductsKeepTheirSumsInRegisters) {
  expect_no_spills(matmul(384, 256, 512), "8x2");
}

TEST(NativePlan, ConvolutionsKeepTheirSumsInRegisters) {
  expect_no_spills(convolution({1, 64, 28, 28}, {64, 64, 3, 3}), "8x2");
}

TEST(NativePlan, PointwiseConvolutionsKeepTheirSumsInRegisters) {
  expect_no_spills(convolution({1, 256, 12, 12}, {256, 256, 1, 1}), "8x2");
}

std::string shown(const PlanStep& step) {
  std::string text = step.label + " kernel " + std::to_string(step.kernel) + " tasks " +
                     std::to_string(step.tasks);
  for (const PlanPlace& place : step.places)
    text += " " + std::to_string(place.kind) + ":" + std::to_string(place.index) + "+" +
            std::to_string(place.offset);
  for (const int64_t extent : step.extents) text += " x" + std::to_string(extent);
  return text;
}

Model small_network() {
  Net net;
  const ValueId x = net.input("x", {1, 8, 16, 16});
  const ValueId a = net.op(
      "Relu", {net.op("Conv", {x, net.weights({16, 8, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}})});
  const ValueId b = net.op("Conv", {a, net.weights({16, 16, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId pooled = net.op("GlobalAveragePool", {net.op("Add", {a, b})});
  const ValueId flat = net.op("Flatten", {pooled});
  return net.finish({net.op("Softmax", {net.op("MatMul", {flat, net.weights({16, 10})})})});
}

TEST(NativePlan, TheSameModelGivesTheSamePlan) {
  const Model model = small_network();
  for (const int threads : {1, 2}) {
    const auto first = plan_of(model, options_for("x86-64-v3", threads));
    const auto second = plan_of(model, options_for("x86-64-v3", threads));
    ASSERT_EQ(first->kernels.size(), second->kernels.size());
    for (size_t i = 0; i < first->kernels.size(); ++i)
      EXPECT_EQ(loop::to_text(first->kernels[i]), loop::to_text(second->kernels[i]));
    EXPECT_EQ(first->schedules, second->schedules);
    ASSERT_EQ(first->steps.size(), second->steps.size());
    for (size_t i = 0; i < first->steps.size(); ++i)
      EXPECT_EQ(shown(first->steps[i]), shown(second->steps[i]));
    EXPECT_EQ(first->constants, second->constants);
    EXPECT_EQ(first->arena_bytes, second->arena_bytes);
    EXPECT_EQ(first->scratch_bytes, second->scratch_bytes);
  }
}

TEST(NativePlan, KernelsReadBackFromTheirText) {
  for (const char* target : {"x86-64-v3", "skylake-avx512"}) {
    const auto plan = plan_of(small_network(), options_for(target));
    for (const loop::Function& kernel : plan->kernels) {
      const std::string text = loop::to_text(kernel);
      const auto read = loop::parse_function(text);
      ASSERT_TRUE(read) << read.error().to_string() << "\n" << text;
      EXPECT_TRUE(loop::equal(*read, kernel)) << text;
    }
  }
}

TEST(NativePlan, ScratchAndArenaAreBounded) {
  const auto plan = plan_of(small_network());
  int64_t sum = 0;
  for (const PlanStep& step : plan->steps) sum += static_cast<int64_t>(step.bytes);
  EXPECT_GT(plan->arena_bytes, 0);
  EXPECT_LT(plan->arena_bytes, sum);
  for (const PlanStep& step : plan->steps)
    for (const PlanPlace& place : step.places) {
      if (place.kind == HONE_IN_ARENA) {
        EXPECT_LT(place.offset, plan->arena_bytes);
      }
    }
}

TEST(NativePlan, DumpsEachStage) {
  CompileOptions options;
  std::map<std::string, int> stages;
  options.dump = [&](const std::string& stage, const std::string& text) {
    ++stages[stage];
    EXPECT_FALSE(text.empty());
  };
  EXPECT_NE(plan_of(small_network(), options), nullptr);
  EXPECT_EQ(stages["program"], 1);
  EXPECT_GT(stages["kernels"], 2);
}

// A dimension that nobody gives a value to.
TEST(NativePlan, OpenDimensionsAreErrorsThatNameThem) {
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 17;
  const ValueId x = model.graph.add_input("x", {ElementType::kF32, {{Dim::symbol("N"), Dim(3)}}});
  Node node;
  node.op = "Relu";
  node.opset = 17;
  static const OperatorTable table = OperatorTable::standard();
  node.def = table.find("", "Relu");
  node.inputs = {x};
  const NodeId id = model.graph.add_node(std::move(node), {"y"});
  model.graph.set_outputs({model.graph.node(id).outputs[0]});
  const auto open = compile_native(model, {}, {});
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().to_string(), HasSubstr("N"));
  EXPECT_TRUE(compile_native(model, {{"x", {5, 3}}}, {}));
}

// Shapes that contradict the model are found by inference.
TEST(NativePlan, ShapesThatDoNotFitAreErrors) {
  const auto plan = plan_model(matmul(4, 8, 16), {{"x", {4, 9}}}, {});
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().to_string(), HasSubstr("MatMul"));
}

}  // namespace
}  // namespace hone::testing
