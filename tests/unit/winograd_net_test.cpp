// Convolutions by Winograd's algorithm, of sizes that its tiles do not divide.
#include <gtest/gtest.h>

#include "helpers/nets.h"
#include "partition/fuse.h"
#include "partition/winograd.h"

namespace hone::testing {
namespace {

// The plan of a model whose first 3x3 convolution is done with tiles of this size.
std::shared_ptr<Plan> tiled_plan(const Model& model, int size, int64_t rows,
                                 const std::string& target) {
  auto program = program_of(model.graph);
  EXPECT_TRUE(program) << program.error().to_string();
  EXPECT_TRUE(fuse(*program));
  bool found = false;
  std::vector<Op> ops;
  for (Op& op : program->ops) {
    const auto conv = found ? std::nullopt : as_convolution(op, *program);
    if (!conv) {
      ops.push_back(std::move(op));
      continue;
    }
    found = true;
    for (Op& part : winograd_ops(op, *conv, size, rows, *program, 0))
      ops.push_back(std::move(part));
  }
  EXPECT_TRUE(found) << "no convolution for Winograd's algorithm\n" << to_text(*program);
  program->ops = std::move(ops);
  CompileOptions options = options_for(target);
  options.winograd = false;  // as it is
  auto plan = make_plan(*std::move(program), std::make_shared<const Graph>(model.graph), options);
  EXPECT_TRUE(plan) << plan.error().to_string();
  return plan ? *plan : nullptr;
}

struct Shape3x3 {
  int64_t batch, in, out, height, width;
  Ints pads;
};

Model convolution(const Shape3x3& s, bool with_epilogue) {
  Net net;
  const ValueId x = net.op("Relu", {net.input("x", {s.batch, s.in, s.height, s.width})});
  ValueId y = net.op("Conv", {x, net.weights({s.out, s.in, 3, 3}), net.weights({s.out})},
                     {{"pads", s.pads}});
  if (with_epilogue) {
    const int64_t rows = s.height + s.pads[0] + s.pads[2] - 2;
    const int64_t columns = s.width + s.pads[1] + s.pads[3] - 2;
    const ValueId residual = net.input("residual", {s.batch, s.out, rows, columns});
    y = net.op("Relu", {net.op("Add", {y, residual})});
  }
  return net.finish({y});
}

class WinogradNet : public ::testing::TestWithParam<Shape3x3> {};

TEST_P(WinogradNet, AgreesWithTheSum) {
  for (const bool with_epilogue : {false, true}) {
    const Model model = convolution(GetParam(), with_epilogue);
    const std::vector<Buffer> inputs = seeded_inputs(model);
    for (const int size : {2, 4})
      for (const int64_t rows : {1, 2})
        for (const char* target : {"x86-64-v3", "skylake-avx512"}) {
          const auto plan = tiled_plan(model, size, rows, target);
          ASSERT_NE(plan, nullptr);
          const std::vector<Buffer> outputs = run_by_interpreter(*plan, inputs);
          ASSERT_EQ(outputs.size(), 1U);
          EXPECT_LE(difference(model, inputs, outputs), 1e-5)
              << "F(" << size << "), " << rows << " tile rows, " << target;
        }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradNet,
                         ::testing::Values(Shape3x3{1, 8, 8, 8, 8, {1, 1, 1, 1}},
                                           Shape3x3{1, 8, 10, 7, 9, {1, 1, 1, 1}},
                                           Shape3x3{2, 9, 8, 5, 6, {1, 1, 1, 1}},
                                           Shape3x3{2, 8, 17, 11, 5, {0, 0, 0, 0}},
                                           Shape3x3{1, 3, 5, 3, 13, {2, 0, 1, 1}}));

// What the compiler chooses by itself, at a size where it pays.
TEST(WinogradChoice, IsRightAndFasterThanTheSum) {
  const Model model = convolution({1, 64, 64, 14, 14, {1, 1, 1, 1}}, true);
  expect_right_natively(model, 2e-6);
  CompileOptions direct = options_for("x86-64-v3");
  const auto fast = plan_of(model, direct);
  direct.winograd = false;
  const auto plain = plan_of(model, direct);
  const auto flops = [](const Plan& plan) {
    double sum = 0;
    for (const PlanStep& step : plan.steps) sum += step.flops;
    return sum;
  };
  EXPECT_LT(flops(*fast), 0.75 * flops(*plain));
}

TEST(WinogradChoice, LeavesOtherConvolutionsAlone) {
  const auto found = [](Ints weights, const Attributes& attributes) {
    Net net;
    const ValueId x = net.input("x", {1, 16, 12, 12});
    const Model model =
        net.finish({net.op("Conv", {x, net.weights(std::move(weights))}, attributes)});
    auto program = program_of(model.graph);
    EXPECT_TRUE(program && fuse(*program));
    return std::ranges::any_of(
        program->ops, [&](const Op& op) { return as_convolution(op, *program).has_value(); });
  };
  EXPECT_TRUE(found({8, 16, 3, 3}, {}));
  EXPECT_FALSE(found({8, 16, 3, 3}, {{"strides", Ints{2, 2}}}));
  EXPECT_FALSE(found({8, 16, 3, 3}, {{"dilations", Ints{2, 2}}}));
  EXPECT_FALSE(found({8, 16, 5, 5}, {}));
  EXPECT_FALSE(found({8, 16, 3, 1}, {}));
  EXPECT_FALSE(found({8, 16, 1, 1}, {}));
  EXPECT_FALSE(found({16, 1, 3, 3}, {{"group", int64_t{16}}}));
}

}  // namespace
}  // namespace hone::testing
