// Small networks as native code against the reference: what partitioning does to them is right, and
// it does it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/nets.h"

namespace hone::testing {
namespace {

using ::testing::SizeIs;

// Concat is gone where its parts are written in place.
TEST(NativeNet, ConcatIsWrittenByItsProducers) {
  Net net;
  const ValueId x = net.input("x", {1, 5, 6, 7});
  const ValueId a = net.op("Relu", {net.op("Conv", {x, net.weights({3, 5, 1, 1})})});
  const ValueId b = net.op("Conv", {x, net.weights({6, 5, 1, 1})});
  const ValueId joined = net.op("Concat", {a, b, x}, {{"axis", int64_t{1}}});
  const ValueId y = net.op("Conv", {joined, net.weights({4, 14, 1, 1})});
  const Model model = net.finish({y});
  expect_right_everywhere(model);
  // The input lies elsewhere and must be copied; the convolutions write where they are read.
  EXPECT_THAT(labels(*plan_of(model)), SizeIs(4));
}

TEST(NativeNet, ConcatOnAnyAxisOfAnyParts) {
  for (const int64_t axis : {0, 1, 2}) {
    Net net;
    Ints dims = {2, 3, 10};
    std::vector<ValueId> parts;
    for (const int64_t extent : {1, 4, 2}) {
      dims[static_cast<size_t>(axis)] = extent;
      parts.push_back(net.op("Exp", {net.input("x" + std::to_string(extent), dims)}));
    }
    const ValueId joined = net.op("Concat", parts, {{"axis", axis}});
    expect_right_everywhere(net.finish({net.op("Tanh", {joined}), joined}));
  }
}

// One value in two concats, twice in one, and as an output.
TEST(NativeNet, ConcatOfSharedValues) {
  Net net;
  const ValueId x = net.input("x", {2, 3});
  const ValueId e = net.op("Exp", {x});
  const ValueId first = net.op("Concat", {e, e, x}, {{"axis", int64_t{1}}});
  const ValueId second = net.op("Concat", {first, e}, {{"axis", int64_t{1}}});
  expect_right_everywhere(net.finish({first, second, e}));
}

struct Phases {
  int64_t stride, kernel, pad, output_padding;
};

void PrintTo(const Phases& p, std::ostream* out) {
  *out << "stride " << p.stride << " kernel " << p.kernel << " pad " << p.pad << " output padding "
       << p.output_padding;
}

class TransposedConvolution : public ::testing::TestWithParam<Phases> {};

TEST_P(TransposedConvolution, IsRightInEveryPhase) {
  const Phases p = GetParam();
  Net net;
  const ValueId x = net.input("x", {1, 3, 4, 5});
  const ValueId w = net.weights({3, 6, p.kernel, p.kernel + 1});
  // Different pads on all four sides.
  const Ints pads = {p.pad, p.pad / 2, p.pad / 2, p.pad};
  const ValueId y = net.op("ConvTranspose", {x, w, net.weights({6})},
                           {{"strides", Ints{p.stride, p.stride}},
                            {"pads", pads},
                            {"output_padding", Ints{p.output_padding, p.output_padding}}});
  expect_right_everywhere(net.finish({net.op("Relu", {y})}));
}

INSTANTIATE_TEST_SUITE_P(Strides, TransposedConvolution,
                         ::testing::Values(Phases{1, 3, 1, 0}, Phases{2, 2, 0, 0},
                                           Phases{2, 4, 1, 0}, Phases{2, 3, 1, 1},
                                           Phases{3, 5, 2, 2}, Phases{3, 2, 0, 1},
                                           Phases{4, 4, 0, 0}, Phases{4, 7, 3, 3}));

TEST(NativeNet, TransposedConvolutionsWithGroupsAndDilations) {
  Net net;
  const ValueId x = net.input("x", {2, 6, 5});
  const ValueId y = net.op("ConvTranspose", {x, net.weights({6, 2, 3})},
                           {{"strides", Ints{2}}, {"dilations", Ints{2}}, {"group", int64_t{3}}});
  expect_right_everywhere(net.finish({y}));
}

// No multiplication by zeros between the input's elements: each result has its own taps only.
TEST(NativeNet, StridedTransposedConvolutionDoesNoUselessWork) {
  Net net;
  const ValueId x = net.input("x", {1, 8, 6, 6});
  const ValueId y = net.op("ConvTranspose", {x, net.weights({8, 8, 4, 4})},
                           {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  const auto plan = plan_of(net.finish({y}));
  double flops = 0;
  for (const PlanStep& step : plan->steps) flops += step.flops;
  // 12 x 12 results, 8 channels, 2 x 2 taps of 8 channels each.
  EXPECT_LE(flops, 1.05 * 2 * 12 * 12 * 8 * 4 * 8);
}

// Surroundings of a tensor that several readers want, of different widths and values.
TEST(NativeNet, SurroundingsOfSharedTensors) {
  Net net;
  const ValueId x = net.input("x", {1, 4, 7, 9});
  const ValueId a = net.op("Relu", {net.op("Conv", {x, net.weights({8, 4, 1, 1})})});
  const ValueId narrow =
      net.op("Conv", {a, net.weights({8, 8, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId wide = net.op("Conv", {a, net.weights({8, 1, 5, 5})},
                              {{"pads", Ints{2, 2, 2, 2}}, {"group", int64_t{8}}});
  const ValueId pooled =
      net.op("MaxPool", {a}, {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId sum = net.op("Add", {net.op("Add", {narrow, wide}), pooled});
  expect_right_everywhere(net.finish({sum, net.op("Add", {a, sum})}));
}

TEST(NativeNet, AveragePoolsWithAndWithoutTheirSurroundings) {
  for (const int64_t include : {0, 1}) {
    Net net;
    const ValueId x = net.input("x", {1, 9, 8, 7});
    const ValueId a = net.op("Exp", {x});
    const ValueId y = net.op("AveragePool", {a},
                             {{"kernel_shape", Ints{3, 3}},
                              {"strides", Ints{2, 2}},
                              {"pads", Ints{1, 1, 1, 1}},
                              {"count_include_pad", include}});
    expect_right_everywhere(net.finish({y}));
  }
}

TEST(NativeNet, ConvolutionsOfAllKinds) {
  struct Case {
    Ints in, weights, strides, dilations, pads;
    int64_t group;
  };
  const std::vector<Case> cases = {
      {{1, 5, 11}, {7, 5, 3}, {2}, {1}, {1, 1}, 1},
      {{2, 4, 7, 6}, {6, 4, 3, 3}, {1, 2}, {2, 1}, {2, 0, 1, 1}, 1},
      {{1, 12, 5, 6}, {12, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 12},
      {{1, 12, 5, 6}, {24, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 4},
      {{1, 3, 4, 5, 4}, {5, 3, 2, 3, 2}, {1, 1, 1}, {1, 1, 1}, {0, 1, 0, 1, 1, 1}, 1},
      {{1, 17, 6, 5}, {9, 17, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1}};
  for (const Case& c : cases) {
    Net net;
    const ValueId x = net.op("Relu", {net.input("x", c.in)});
    const ValueId y = net.op(
        "Conv", {x, net.weights(c.weights), net.weights({c.weights[0]})},
        {{"strides", c.strides}, {"dilations", c.dilations}, {"pads", c.pads}, {"group", c.group}});
    expect_right_everywhere(net.finish({net.op("Sigmoid", {y})}));
  }
}

// Stages that share their rows run as one kernel.
TEST(NativeNet, SoftmaxIsOneKernel) {
  for (const int64_t columns : {1, 5, 16, 37, 100}) {
    Net net;
    const ValueId x = net.input("x", {7, columns});
    const Model model = net.finish({net.op("Softmax", {x})});
    expect_right_everywhere(model);
    EXPECT_THAT(labels(*plan_of(model)), SizeIs(1)) << columns << " columns";
  }
}

TEST(NativeNet, SoftmaxOnOtherAxes) {
  for (const int64_t axis : {0, 1, 2}) {
    Net net;
    expect_right_everywhere(
        net.finish({net.op("Softmax", {net.input("x", {5, 6, 9})}, {{"axis", axis}})}));
  }
}

TEST(NativeNet, LayerNormalizationIsOneKernel) {
  Net net;
  const ValueId x = net.input("x", {6, 40});
  const Model model =
      net.finish({net.op("LayerNormalization", {x, net.weights({40}), net.weights({40})})});
  expect_right_everywhere(model);
  EXPECT_THAT(labels(*plan_of(model)), SizeIs(1));
}

TEST(NativeNet, NormalizationsOfSums) {
  Net net;
  const ValueId sum = net.op("Add", {net.input("x", {6, 40}), net.input("residual", {6, 40})});
  const ValueId y = net.op("LayerNormalization", {sum, net.weights({40}), net.weights({40})});
  expect_right_everywhere(net.finish({net.op("Add", {y, sum})}));
}

TEST(NativeNet, InstanceNormalization) {
  Net net;
  const ValueId x = net.input("x", {2, 5, 6, 7});
  const ValueId y = net.op("InstanceNormalization", {x, net.weights({5}), net.weights({5})});
  expect_right_everywhere(net.finish({net.op("Relu", {y})}));
}

TEST(NativeNet, AttentionWithTransposesAndMasks) {
  Net net;
  const ValueId x = net.input("x", {1, 9, 24});
  const ValueId split = net.integers({1, 9, 3, 8});
  const auto heads = [&](Ints order) {
    const ValueId flat = net.op("MatMul", {x, net.weights({24, 24})});
    return net.op("Transpose", {net.op("Reshape", {flat, split})}, {{"perm", std::move(order)}});
  };
  const ValueId scores = net.op("MatMul", {heads({0, 2, 1, 3}), heads({0, 2, 3, 1})});
  const ValueId masked = net.op("Add", {scores, net.input("mask", {1, 1, 1, 9})});
  const ValueId context = net.op("MatMul", {net.op("Softmax", {masked}), heads({0, 2, 1, 3})});
  const ValueId back = net.op("Transpose", {context}, {{"perm", Ints{0, 2, 1, 3}}});
  expect_right_everywhere(net.finish({net.op("Reshape", {back, net.integers({1, 9, 24})})}));
}

// Elementwise operators have no step of their own.
TEST(NativeNet, MapsJoinTheConvolutionBeforeThem) {
  Net net;
  const ValueId x = net.input("x", {1, 8, 6, 6});
  const ValueId conv = net.op("Conv", {x, net.weights({8, 8, 1, 1}), net.weights({8})});
  const ValueId y = net.op("Mul", {net.op("Add", {conv, x}), net.op("Sigmoid", {conv})});
  const Model model = net.finish({y});
  expect_right_everywhere(model);
  EXPECT_THAT(labels(*plan_of(model)), SizeIs(1));
}

TEST(NativeNet, ReductionsOverAnyAxes) {
  for (const Ints& axes : std::vector<Ints>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    Net net(18);
    const ValueId x = net.input("x", {4, 9, 21});
    const ValueId at = net.integers(axes);
    expect_right_everywhere(net.finish({net.op("ReduceMean", {x, at}),
                                        net.op("ReduceMax", {x, at}, {{"keepdims", int64_t{0}}}),
                                        net.op("ReduceL2", {x, at})}));
  }
}

TEST(NativeNet, MovesOfData) {
  Net net(18);
  const ValueId x = net.input("x", {2, 6, 5, 8});
  const ValueId reversed = net.op("Slice", {x, net.integers({-1, 7}), net.integers({-100, 0}),
                                            net.integers({1, 3}), net.integers({-1, -2})});
  const ValueId shuffled =
      net.op("DepthToSpace", {net.op("Concat", {x, x}, {{"axis", int64_t{1}}})},
             {{"blocksize", int64_t{2}}});
  const ValueId transposed = net.op("Transpose", {x}, {{"perm", Ints{3, 1, 0, 2}}});
  const ValueId gathered =
      net.op("Gather", {x, net.integers({4, 0, 2, 2, -1})}, {{"axis", int64_t{2}}});
  expect_right_everywhere(net.finish({reversed, shuffled, transposed, gathered}));
}

// Equal layers are generated once.
TEST(NativeNet, EqualLayersShareAKernel) {
  Net net;
  ValueId x = net.input("x", {1, 8, 6, 6});
  for (int layer = 0; layer < 6; ++layer)
    x = net.op("Relu", {net.op("Conv", {x, net.weights({8, 8, 3, 3}), net.weights({8})},
                               {{"pads", Ints{1, 1, 1, 1}}})});
  const auto plan = plan_of(net.finish({x}));
  EXPECT_LE(plan->kernels.size(), 4U);
  EXPECT_THAT(plan->host_notes, SizeIs(0));
}

// What a scatter starts from is a constant, or read by others as well: its updates change neither.
TEST(NativeNet, ScatterChangesOnlyItsResult) {
  for (const bool constant : {true, false}) {
    Net net(18);
    const ValueId x = net.input("x", {4, 6});
    const ValueId base = constant ? net.weights({4, 6}) : net.op("Exp", {x});
    const ValueId rows = net.op("Unsqueeze", {net.integers({1, 1, 3}), net.integers({1})});
    const ValueId updates = net.op("Slice", {x, net.integers({0}), net.integers({3})});
    const ValueId y =
        net.op("ScatterND", {base, rows, updates}, {{"reduction", std::string("add")}});
    const Model model = net.finish({net.op("Exp", {y}), net.op("Neg", {base})});
    expect_right_everywhere(model);
    const Result<Compiled> compiled = compile_native(model, {{"x", {4, 6}}}, {});
    ASSERT_TRUE(compiled) << compiled.error().to_string();
    hone_context* context = hone_context_create(compiled->program, 1);
    const std::vector<Buffer> inputs = seeded_inputs(model);
    const void* in[] = {inputs[0].data()};
    std::vector<std::vector<float>> results;
    for (int run = 0; run < 2; ++run) {
      std::vector<float> first(24);
      std::vector<float> second(24);
      void* out[] = {first.data(), second.data()};
      EXPECT_EQ(hone_context_run(context, in, out), nullptr);
      first.insert(first.end(), second.begin(), second.end());
      results.push_back(std::move(first));
    }
    hone_context_destroy(context);
    EXPECT_EQ(results[0], results[1]) << "constant " << constant;
  }
}

// Each value is used twice: as a tree the last one has 2^24 leaves.
TEST(NativeNet, ValuesThatAreUsedTwiceManyTimes) {
  Net net;
  ValueId value = net.op("Tanh", {net.input("x", {3, 20})});
  for (int i = 0; i < 24; ++i) value = net.op("Mul", {value, net.op("Cos", {value})});
  expect_right_natively(net.finish({value}), 1e-4);
}

// A gather from a tensor without elements reads nothing.
TEST(NativeNet, EmptyTensors) {
  Net net;
  const ValueId x = net.input("x", {2, 0, 3});
  const ValueId y =
      net.op("Concat", {net.op("Exp", {x}), net.input("z", {2, 2, 3})}, {{"axis", int64_t{1}}});
  expect_right_everywhere(net.finish({y, net.op("ReduceSum", {x}, {{"keepdims", int64_t{0}}})}));
}

}  // namespace
}  // namespace hone::testing
