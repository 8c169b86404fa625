#include "driver/session.h"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::HasSubstr;

void add_one(void* const* buffers, const int64_t* extents, int64_t begin, int64_t end, void*) {
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* y = static_cast<float*>(buffers[1]);
  for (int64_t i = begin * extents[0]; i < end * extents[0]; ++i) y[i] = x[i] + 1;
}

// y = x + 1 for x: f32[n, 3].
struct AddOne {
  explicit AddOne(int64_t rows) {
    dims = {rows, 3};
    info = {"x", 1, 2, dims.data(), rows * 12};
    out_info = {"y", 1, 2, dims.data(), rows * 12};
    step.kernel = add_one;
    step.places = places.data();
    step.place_count = 2;
    step.extents = &task_size;
    step.tasks = rows;
    step.label = "plus";
    program.steps = &step;
    program.step_count = 1;
    program.kernel_names = &kernel_name;
    program.kernel_count = 1;
    program.inputs = &info;
    program.outputs = &out_info;
    program.input_count = program.output_count = 1;
  }
  std::array<int64_t, 2> dims{};
  std::array<hone_place, 2> places = {{{HONE_IN_INPUT, 0, 0}, {HONE_IN_OUTPUT, 0, 0}}};
  int64_t task_size = 3;
  const char* kernel_name = "add_one";
  hone_tensor_info info{}, out_info{};
  hone_step step{};
  hone_program program{};
};

Result<Compiled> compile_add_one(const Model&, const InputShapes& shapes) {
  const auto made = std::make_shared<AddOne>(shapes.at("x")[0]);
  return Compiled{made, &made->program, "{}"};
}

Model model_with(const Shape& shape) {
  Model model;
  const ValueId x = model.graph.add_input("x", {ElementType::kF32, shape});
  Node node;
  node.op = "AddOne";
  node.inputs = {x};
  const NodeId id = model.graph.add_node(std::move(node), {"y"});
  model.graph.set_outputs({model.graph.node(id).outputs[0]});
  return model;
}

std::unique_ptr<Session> session_of(const Shape& shape, SessionOptions options = {}) {
  auto session = Session::create(model_with(shape), nullptr, compile_add_one, std::move(options));
  EXPECT_TRUE(session) << session.error().to_string();
  return session ? *std::move(session) : nullptr;
}

const Shape kOpen = {Dim::symbol("N"), Dim(3)};

Buffer floats(int64_t rows, int64_t columns = 3) {
  Buffer buffer = Buffer::allocate(ElementType::kF32, {rows, columns});
  float next = 0;
  for (float& value : buffer.as_mutable<float>()) value = next++;
  return buffer;
}

void expect_plus_one(std::span<const float> x, std::span<const float> y) {
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] + 1);
}

std::string error_of(Session& session, std::span<const TensorView> inputs) {
  const auto result = session.run(inputs);
  return result ? "" : result.error().to_string();
}

TEST(Session, CompilesAtOnceWhenShapesAreKnown) {
  EXPECT_EQ(session_of({Dim(2), Dim(3)})->cache_counts().compiled, 1);
  EXPECT_EQ(session_of(kOpen)->cache_counts().compiled, 0);
  EXPECT_EQ(session_of(kOpen, {.symbols = {{"N", 4}}})->cache_counts().compiled, 1);
  EXPECT_EQ(session_of(kOpen, {.shapes = {{"x", {4, 3}}}})->cache_counts().compiled, 1);
}

TEST(Session, SpecializesForEachShapeAndForgetsTheLeastRecentlyUsed) {
  const auto session = session_of(kOpen, {.cache_size = 2});
  for (const int64_t rows : {1, 2, 1, 3, 1, 2}) {
    const Buffer x = floats(rows);
    const TensorView view = view_of(x);
    const auto y = session->run({&view, 1});
    ASSERT_TRUE(y) << y.error().to_string();
    EXPECT_EQ((*y)[0].dims(), x.dims());
    expect_plus_one(x.as<float>(), (*y)[0].as<float>());
  }
  const CacheCounts counts = session->cache_counts();
  EXPECT_EQ(counts.hits, 2);
  EXPECT_EQ(counts.compiled, 4);
  EXPECT_EQ(counts.dropped, 2);
}

TEST(Session, RefusesWrongInputs) {
  const auto session = session_of(kOpen);
  const Buffer x = floats(2);
  const Buffer wide = floats(2, 4);
  const std::vector<TensorView> two(2, view_of(x));
  EXPECT_THAT(error_of(*session, {}), HasSubstr("0 inputs are given, the model has 1"));
  EXPECT_THAT(error_of(*session, two), HasSubstr("2 inputs are given"));
  EXPECT_THAT(error_of(*session, std::array{view_of(wide)}),
              HasSubstr("input 'x': is f32[2, 4], but the model expects f32[N, 3]"));
  TensorView other = view_of(x);
  other.element = ElementType::kI32;
  EXPECT_THAT(error_of(*session, {&other, 1}), HasSubstr("is i32[2, 3]"));
  other = view_of(x);
  other.data = nullptr;
  EXPECT_THAT(error_of(*session, {&other, 1}), HasSubstr("null pointer"));
  EXPECT_THAT(error_of(*session, std::array{TensorView{}}), HasSubstr("is missing"));
}

TEST(Session, RefusesWrongOptions) {
  const auto error = [](SessionOptions options) {
    const auto session =
        Session::create(model_with(kOpen), nullptr, compile_add_one, std::move(options));
    return session ? std::string() : session.error().to_string();
  };
  EXPECT_THAT(error({.threads = 0}), HasSubstr("0 is no number of threads"));
  EXPECT_THAT(error({.shapes = {{"z", {1}}}}), HasSubstr("no such input (its inputs are: x)"));
  EXPECT_THAT(error({.shapes = {{"x", {1}}}}), HasSubstr("[1] is no case of f32[N, 3]"));
  EXPECT_THAT(error({.shapes = {{"x", {-1, 3}}}}), HasSubstr("is no case of"));
  EXPECT_THAT(error({.symbols = {{"M", 1}}}), HasSubstr("no such dimension (they have: N)"));
  EXPECT_THAT(error({.shapes = {{"x", {2, 3}}}, .symbols = {{"N", 4}}}),
              HasSubstr("is no case of"));
}

TEST(Session, WritesIntoTheCallersOutputs) {
  const auto session = session_of(kOpen);
  const Buffer x = floats(2);
  Buffer y = floats(2);
  const TensorView in = view_of(x);
  MutableTensorView out{ElementType::kF32, y.dims(), y.mutable_data()};
  ASSERT_TRUE(session->run({&in, 1}, {&out, 1}));
  expect_plus_one(x.as<float>(), y.as<float>());

  const auto error = [&](std::span<const MutableTensorView> outputs) {
    const auto result = session->run({&in, 1}, outputs);
    return result ? std::string() : result.error().to_string();
  };
  EXPECT_THAT(error({}), HasSubstr("0 outputs are given, the model has 1"));
  const Buffer wide = floats(2, 4);
  EXPECT_THAT(error(std::array{MutableTensorView{ElementType::kF32, wide.dims(), out.data}}),
              HasSubstr("output 'y': f32[2, 4] is given, but the result is f32[2, 3]"));
  EXPECT_THAT(error(std::array{MutableTensorView{ElementType::kF32, y.dims(), nullptr}}),
              HasSubstr("null pointer"));
  MutableTensorView same = out;
  same.data = const_cast<void*>(in.data);
  EXPECT_THAT(error({&same, 1}), HasSubstr("overlaps with input 'x'"));
}

TEST(Session, TakesMemoryOfAnyAlignment) {
  const auto session = session_of(kOpen);
  const Buffer x = floats(5);
  std::vector<std::byte> in_memory(x.byte_size() + 1), out_memory(x.byte_size() + 3);
  std::memcpy(in_memory.data() + 1, x.data(), x.byte_size());
  const TensorView in{ElementType::kF32, x.dims(), in_memory.data() + 1};
  const MutableTensorView out{ElementType::kF32, x.dims(), out_memory.data() + 3};
  ASSERT_TRUE(session->run({&in, 1}, {&out, 1}));
  std::vector<float> y(15);
  std::memcpy(y.data(), out_memory.data() + 3, x.byte_size());
  expect_plus_one(x.as<float>(), y);
}

TEST(Session, TakesEmptyTensors) {
  const auto session = session_of(kOpen);
  const std::array<int64_t, 2> dims = {0, 3};
  const TensorView in{ElementType::kF32, dims, nullptr};
  const auto y = session->run({&in, 1});
  ASSERT_TRUE(y) << y.error().to_string();
  EXPECT_EQ((*y)[0].count(), 0);
}

TEST(Session, RunsFromManyThreads) {
  const auto session = session_of(kOpen, {.threads = 2, .cache_size = 2});
  std::atomic<int> failed = 0;
  std::vector<std::thread> callers;
  for (int64_t t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (int64_t run = 0; run < 50; ++run) {
        const Buffer x = floats(1 + (t + run) % 3);
        const TensorView view = view_of(x);
        const auto y = session->run({&view, 1});
        if (!y || (*y)[0].as<float>()[2] != x.as<float>()[2] + 1) ++failed;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
}

TEST(Session, Profiles) {
  const auto session = session_of({Dim(2), Dim(3)});
  const Buffer x = floats(2);
  const TensorView view = view_of(x);
  const auto profile = session->profile({&view, 1}, 3);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->steps.size(), 1U);
  EXPECT_EQ(profile->steps[0].label, "plus");
  EXPECT_EQ(profile->steps[0].kernel, "add_one");
  EXPECT_GT(profile->steps[0].seconds, 0);
  EXPECT_GE(profile->seconds, profile->steps[0].seconds);
}

}  // namespace
}  // namespace hone
