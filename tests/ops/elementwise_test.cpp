// What ONNX's node cases leave out: older opsets, special values, integers, wrong nodes.
#include "ops/run_operator.h"

namespace hone {
namespace {

const double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

Buffer of(ElementType type, const std::vector<double>& values) {
  return of_doubles(type, {static_cast<int64_t>(values.size())}, values);
}

TEST(Elementwise, BroadcastsBothOperands) {
  expect_result({.op = "Add", .inputs = {f32({2, 1}, {1, 2}), f32({3}, {10, 20, 30})}}, {2, 3},
                {11, 21, 31, 12, 22, 32});
}

TEST(Elementwise, IntegersWrapAndDivideTowardZero) {
  const ElementType i8 = ElementType::kI8;
  expect_result({.op = "Add", .inputs = {of(i8, {127}), of(i8, {1})}}, {1}, {-128});
  expect_result({.op = "Neg", .inputs = {of(i8, {-128, 5})}}, {2}, {-128, -5});
  expect_result({.op = "Div", .inputs = {i64({4}, {-7, 7, -7, 7}), i64({4}, {2, -2, -2, 2})}}, {4},
                {-3, -3, 3, 3});
}

TEST(Elementwise, ModTakesTheSignOfTheDivisorAndFmodThatOfTheDividend) {
  const std::vector<Buffer> in = {i64({4}, {-7, 7, -7, 7}), i64({4}, {3, -3, -3, 3})};
  expect_result({.op = "Mod", .inputs = in}, {4}, {2, -2, -1, 1});
  expect_result({.op = "Mod", .inputs = in, .attributes = {{"fmod", int64_t{1}}}}, {4},
                {-1, 1, -1, 1});
}

TEST(Elementwise, EqualComparesStrings) {
  const Buffer rows = Buffer::of_strings({2, 1}, {"a", "b"});
  const Buffer columns = Buffer::of_strings({3}, {"b", "", "a"});
  expect_result({.op = "Equal", .inputs = {rows, columns}}, {2, 3}, {0, 0, 1, 1, 0, 0});
}

TEST(Elementwise, MaxAndMinKeepNaN) {
  const std::vector<Buffer> in = {f32({3}, {kNan, 1, 2}), f32({3}, {1, kNan, 0})};
  expect_result({.op = "Max", .inputs = in}, {3}, {kNan, kNan, 2});
  expect_result({.op = "Min", .inputs = in}, {3}, {kNan, kNan, 0});
}

TEST(Elementwise, PowHasTheTypeOfTheBase) {
  expect_result({.op = "Pow", .inputs = {i64({3}, {9, 8, 2}), f32({}, {0.5})}}, {3}, {3, 2, 1});
  expect_result({.op = "Pow", .inputs = {of(ElementType::kI32, {-2, 3}), i64({2}, {3, 4})}}, {2},
                {-8, 81});
}

TEST(Elementwise, ActivationsSurviveLargeArguments) {
  const Buffer x = f32({3}, {-10000, 0, 10000});
  expect_result({.op = "Sigmoid", .inputs = {x}}, {3}, {0, 0.5, 1});
  expect_result({.op = "Softplus", .inputs = {x}}, {3}, {0, 0.6931472, 10000});
  expect_result({.op = "Mish", .inputs = {x}}, {3}, {0, 0, 10000});
  expect_result({.op = "Elu", .inputs = {x}}, {3}, {-1, 0, 10000});
  expect_result({.op = "Celu", .inputs = {x}}, {3}, {-1, 0, 10000});
}

TEST(Elementwise, ClipTakesBoundsFromAttributesBeforeOpset11) {
  const Buffer x = f32({3}, {-5, 0, 5});
  expect_result({.op = "Clip", .opset = 6, .inputs = {x}, .attributes = {{"max", 2.0F}}}, {3},
                {-5, 0, 2});
  expect_result({.op = "Clip", .inputs = {x, f32({}, {-1})}}, {3}, {-1, 0, 5});
  expect_result({.op = "Clip", .inputs = {x, f32({}, {2}), f32({}, {-2})}}, {3}, {-2, -2, -2});
}

TEST(Elementwise, ShrinkOfIntegersComparesWithFractions) {
  expect_result({.op = "Shrink",
                 .inputs = {of(ElementType::kI32, {-3, -2, 2, 3})},
                 .attributes = {{"bias", 1.5F}, {"lambd", 2.5F}}},
                {4}, {-1, 0, 0, 1});
}

TEST(Elementwise, ShiftsBeyondTheWidthLeaveOnlyTheSign) {
  const ElementType i8 = ElementType::kI8;
  const auto shift = [&](const char* direction) {
    return Call{.op = "BitShift",
                .inputs = {of(i8, {-4, -4, 4, 4}), of(i8, {1, 9, 1, -1})},
                .attributes = {{"direction", std::string(direction)}}};
  };
  expect_result(shift("RIGHT"), {4}, {-2, -1, 2, 0});
  expect_result(shift("LEFT"), {4}, {-8, 0, 8, 0});
  expect_error(shift("UP"), ErrorKind::kInvalid, "direction");
}

TEST(Elementwise, IsInfCountsTheSignsAskedFor) {
  expect_result({.op = "IsInf",
                 .inputs = {f32({3}, {kInf, -kInf, 1})},
                 .attributes = {{"detect_negative", int64_t{0}}}},
                {3}, {1, 0, 0});
}

TEST(Elementwise, CastWrapsIntegersAndTestsForZero) {
  const Buffer x = of(ElementType::kI32, {200, -200, 0});
  expect_result({.op = "Cast", .inputs = {x}, .attributes = {{"to", int64_t{3}}}}, {3},
                {-56, 56, 0});
  expect_result({.op = "Cast", .inputs = {x}, .attributes = {{"to", int64_t{9}}}}, {3}, {1, 1, 0});
}

TEST(Elementwise, DropoutIsTheIdentityOutsideTraining) {
  const Buffer x = f32({2}, {3, 4});
  const Buffer on = of_doubles(ElementType::kBool, {}, {1});
  const auto outputs = run({.op = "Dropout", .opset = 10, .inputs = {x}, .outputs = 2});
  ASSERT_TRUE(outputs);
  expect_values((*outputs)[0], {2}, {3, 4});
  EXPECT_EQ((*outputs)[1].type(), ElementType::kBool);
  expect_result({.op = "Dropout", .inputs = {x, f32({}, {0}), on}}, {2}, {3, 4});
  expect_error({.op = "Dropout", .inputs = {x, f32({}, {0.5}), on}}, ErrorKind::kUnsupported,
               "training");
}

TEST(Elementwise, WrongNodesAreExplained) {
  const Buffer x = f32({3}, {1, 2, 3});
  expect_error({.op = "Add", .inputs = {x}}, ErrorKind::kInvalid, "missing");
  expect_error({.op = "Add", .inputs = {x, i64({3}, {1, 2, 3})}}, ErrorKind::kInvalid, "types");
  expect_error({.op = "Add", .inputs = {x, f32({2}, {1, 2})}}, ErrorKind::kInvalid, "broadcast");
  expect_error({.op = "Not", .inputs = {x}}, ErrorKind::kInvalid, "takes bool");
  expect_error({.op = "Sqrt", .inputs = {i64({1}, {4})}}, ErrorKind::kInvalid, "Cast");
  expect_error({.op = "Cast", .inputs = {x}}, ErrorKind::kInvalid, "`to`");
  expect_error({.op = "PRelu", .inputs = {x, f32({2, 3}, {1, 1, 1, 1, 1, 1})}}, ErrorKind::kInvalid,
               "broadcast");
}

}  // namespace
}  // namespace hone
