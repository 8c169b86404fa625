// What ONNX's node cases leave out of reductions, softmax, normalisations and quantisation: older
// opsets, special values, wrong nodes. The numbers come from NumPy.
#include "ops/run_operator.h"

namespace hone {
namespace {

const double kInf = std::numeric_limits<double>::infinity();

Buffer of(ElementType type, const std::vector<double>& values) {
  return of_doubles(type, {static_cast<int64_t>(values.size())}, values);
}

TEST(Reduce, TakesAxesFromAttributeOrOperand) {
  const Buffer x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Attributes along_rows = {{"axes", std::vector<int64_t>{-1}}, {"keepdims", int64_t{0}}};
  expect_result({.op = "ReduceSum", .opset = 11, .inputs = {x}, .attributes = along_rows}, {2},
                {6, 15});
  expect_result({.op = "ReduceSum", .inputs = {x, i64({1}, {0})}}, {1, 3}, {5, 7, 9});
  expect_result({.op = "ReduceMax", .inputs = {x}}, {1, 1}, {6});
}

TEST(Reduce, NoAxesWithNoopLeaveOnlyTheOtherSteps) {
  const Attributes noop = {{"noop_with_empty_axes", int64_t{1}}};
  const Buffer x = f32({2}, {-2, 3});
  expect_result({.op = "ReduceSum", .inputs = {x}, .attributes = noop}, {2}, {-2, 3});
  expect_result({.op = "ReduceSumSquare", .inputs = {x}, .attributes = noop}, {2}, {4, 9});
  expect_result({.op = "ReduceL2", .inputs = {x}, .attributes = noop}, {2}, {2, 3});
}

TEST(Reduce, LogSumExpIsStableAndKnowsInfinities) {
  expect_result(
      {.op = "ReduceLogSumExp",
       .inputs = {f32({4, 2}, {1, -kInf, -kInf, -kInf, kInf, 0, 1000, 1000}), i64({1}, {1})}},
      {4, 1}, {1, -kInf, kInf, 1000.6931472});
}

TEST(Reduce, MeanOfHalvesDoesNotOverflow) {
  const std::vector<double> large(100, 60000);
  expect_result({.op = "ReduceMean", .inputs = {of(ElementType::kF16, large)}}, {1}, {60000}, 1e-3);
}

TEST(Reduce, ArgMaxTakesTheFirstOrTheLast) {
  const Buffer x = f32({4}, {1, 3, 3, 0});
  expect_result({.op = "ArgMax", .inputs = {x}}, {1}, {1});
  expect_result({.op = "ArgMax", .inputs = {x}, .attributes = {{"select_last_index", int64_t{1}}}},
                {1}, {2});
}

TEST(Reduce, WrongAxesAreExplained) {
  const Buffer x = f32({2}, {1, 2});
  expect_error({.op = "ReduceSum", .inputs = {x, i64({1}, {1})}}, ErrorKind::kInvalid, "axis");
  expect_error({.op = "ReduceSum", .inputs = {x, i64({2}, {0, -1})}}, ErrorKind::kInvalid, "twice");
  expect_error({.op = "ArgMax", .inputs = {f32({}, {1})}}, ErrorKind::kInvalid, "dimensions");
}

TEST(CumSum, RunsAlongAnInnerAxisBothWays) {
  const std::vector<Buffer> in = {f32({2, 3}, {1, 2, 3, 4, 5, 6}), i64({}, {1})};
  expect_result({.op = "CumSum", .inputs = in}, {2, 3}, {1, 3, 6, 4, 9, 15});
  expect_result({.op = "CumSum",
                 .inputs = in,
                 .attributes = {{"reverse", int64_t{1}}, {"exclusive", int64_t{1}}}},
                {2, 3}, {5, 3, 0, 11, 6, 0});
}

TEST(Softmax, BeforeOpset13CoversAllAxesFromTheNamedOne) {
  const Buffer x = f32({1, 2, 2}, {0, 0, 0, 0});
  expect_result({.op = "Softmax", .opset = 11, .inputs = {x}}, {1, 2, 2}, {.25, .25, .25, .25});
  expect_result({.op = "Softmax", .inputs = {x}}, {1, 2, 2}, {.5, .5, .5, .5});
  expect_result({.op = "Hardmax", .opset = 11, .inputs = {f32({1, 2, 2}, {1, 3, 3, 3})}}, {1, 2, 2},
                {0, 1, 0, 0});
  expect_result({.op = "LogSoftmax", .opset = 7, .inputs = {x}}, {1, 2, 2},
                {-1.3862944, -1.3862944, -1.3862944, -1.3862944});
}

TEST(BatchNormalization, WithoutSpatialHasParametersPerPlace) {
  const Buffer x = f32({2, 2}, {1, 2, 3, 4});
  const Buffer ones = f32({2}, {1, 1});
  const Buffer zeros = f32({2}, {0, 0});
  const Attributes attributes = {{"spatial", int64_t{0}}, {"epsilon", 0.0F}};
  expect_result({.op = "BatchNormalization",
                 .opset = 7,
                 .inputs = {x, f32({2}, {2, 3}), zeros, ones, f32({2}, {1, 4})},
                 .attributes = attributes},
                {2, 2}, {0, 1.5, 4, 4.5});
}

TEST(BatchNormalization, InTrainingNormalisesByTheBatchAndMovesTheStatistics) {
  const Call call = {
      .op = "BatchNormalization",
      .opset = 15,
      .inputs = {f32({2, 1, 2}, {1, 3, 5, 7}), f32({1}, {1}), f32({1}, {0}), f32({1}, {0}),
                 f32({1}, {1})},
      .attributes = {{"training_mode", int64_t{1}}, {"epsilon", 0.0F}, {"momentum", 0.5F}},
      .outputs = 3};
  const auto got = run(call);
  ASSERT_TRUE(got) << got.error().to_string();
  expect_values((*got)[0], {2, 1, 2}, {-1.3416408, -0.4472136, 0.4472136, 1.3416408});
  expect_values((*got)[1], {1}, {2});
  expect_values((*got)[2], {1}, {3});
}

TEST(GroupNormalization, InOpset18HasParametersPerGroup) {
  const std::vector<double> x = {0, 2, 10, 14};
  const auto call = [&](int opset, const std::vector<double>& scale) {
    return Call{.op = "GroupNormalization",
                .opset = opset,
                .inputs = {f32({1, 4, 1}, x), of(ElementType::kF32, scale),
                           of(ElementType::kF32, std::vector<double>(scale.size(), 0))},
                .attributes = {{"num_groups", int64_t{2}}, {"epsilon", 0.0F}}};
  };
  expect_result(call(18, {1, 10}), {1, 4, 1}, {-1, 1, -10, 10});
  expect_result(call(21, {1, 2, 3, 4}), {1, 4, 1}, {-1, 2, -3, 4});
  expect_error(call(18, {1, 2, 3, 4}), ErrorKind::kInvalid, "parameters");
}

TEST(LpNormalization, OfZerosIsZero) {
  expect_result({.op = "LpNormalization", .inputs = {f32({2, 2}, {0, 0, 3, -4})}}, {2, 2},
                {0, 0, 0.6, -0.8});
  expect_result(
      {.op = "LpNormalization", .inputs = {f32({2}, {1, -3})}, .attributes = {{"p", int64_t{1}}}},
      {2}, {0.25, -0.75});
}

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Buffer x = f32({6}, {0.5, 1.5, 2.5, -0.5, 300, -300});
  expect_result(
      {.op = "QuantizeLinear", .inputs = {x, f32({}, {1}), of_doubles(ElementType::kI8, {}, {0})}},
      {6}, {0, 2, 2, 0, 127, -128});
  expect_result({.op = "QuantizeLinear", .opset = 10, .inputs = {x, f32({}, {1})}}, {6},
                {0, 2, 2, 0, 255, 0});
}

TEST(QuantizeLinear, TakesAScaleForEachBlock) {
  const Attributes blocks = {{"axis", int64_t{0}}, {"block_size", int64_t{2}}};
  expect_result({.op = "QuantizeLinear",
                 .inputs = {f32({3}, {10, 20, 30}), f32({2}, {1, 10})},
                 .attributes = blocks},
                {3}, {10, 20, 3});
  expect_result(
      {.op = "DequantizeLinear",
       .inputs = {of(ElementType::kI8, {1, 2, 3}), f32({2}, {1, 10}), of(ElementType::kI8, {0, 1})},
       .attributes = blocks},
      {3}, {1, 2, 20});
  expect_error({.op = "QuantizeLinear",
                .inputs = {f32({3}, {1, 2, 3}), f32({3}, {1, 1, 1})},
                .attributes = blocks},
               ErrorKind::kInvalid, "blocks");
}

TEST(DynamicQuantizeLinear, OfZerosHasAScale) {
  const auto got = run({.op = "DynamicQuantizeLinear", .inputs = {f32({2}, {0, 0})}, .outputs = 3});
  ASSERT_TRUE(got) << got.error().to_string();
  expect_values((*got)[0], {2}, {0, 0});
  expect_values((*got)[1], {}, {1.0 / 255});
}

}  // namespace
}  // namespace hone
