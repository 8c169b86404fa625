#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/program.h"

namespace {

struct ContextDeleter {
  void operator()(hone_context* context) const { hone_context_destroy(context); }
};
using Context = std::unique_ptr<hone_context, ContextDeleter>;

// out[i] = a[i] + b[i], extents[1] elements, extents[0] of them a task. Through the scratch memory.
void add(void* const* buffers, const int64_t* extents, int64_t begin, int64_t end, void* scratch) {
  const auto* a = static_cast<const float*>(buffers[0]);
  const auto* b = static_cast<const float*>(buffers[1]);
  auto* out = static_cast<float*>(buffers[2]);
  auto* sums = static_cast<float*>(scratch);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task * extents[0];
    for (int64_t i = 0; i < extents[0]; ++i) sums[i] = a[first + i] + b[first + i];
    for (int64_t i = 0; i < extents[0]; ++i) out[first + i] = sums[i];
  }
}

const char* negate_on_host(void* data, void* const* buffers) {
  auto* values = static_cast<float*>(buffers[0]);
  const int64_t count = *static_cast<const int64_t*>(data);
  for (int64_t i = 0; i < count; ++i) values[i] = -values[i];
  return nullptr;
}

const char* fail_on_host(void*, void* const*) { return "it failed"; }

// arena = x + constants; arena = -arena on the host; y = arena + x; so y = -constants.
struct SumProgram {
  explicit SumProgram(int64_t tasks, int64_t task_size) : size(tasks * task_size) {
    constants.resize(static_cast<size_t>(size) + 32);
    for (size_t i = 0; i < constants.size(); ++i) constants[i] = static_cast<float>(i) * 0.5F;
    extents[0] = task_size;
    dims[0] = size;
    program.constants = constants.data();
    program.constant_bytes = static_cast<int64_t>(constants.size() * sizeof(float));
    program.arena_bytes = kOffset + size * 4;
    program.scratch_bytes = task_size * 4;
    steps[0] = kernel_step(places, tasks);
    steps[1].host = negate_on_host;
    steps[1].host_data = &size;
    steps[1].places = places + 2;
    steps[1].place_count = 1;
    steps[1].tasks = 1;
    steps[2] = kernel_step(places + 3, tasks);
    program.steps = steps;
    program.step_count = 3;
    info[0] = {"x", 1, 1, dims, size * 4};
    info[1] = {"y", 1, 1, dims, size * 4};
    program.inputs = info;
    program.input_count = 1;
    program.outputs = info + 1;
    program.output_count = 1;
  }
  SumProgram(const SumProgram&) = delete;
  SumProgram& operator=(const SumProgram&) = delete;

  [[nodiscard]] hone_step kernel_step(const hone_place* at, int64_t tasks) const {
    hone_step step{};
    step.kernel = add;
    step.places = at;
    step.place_count = 3;
    step.extents = extents;
    step.tasks = tasks;
    return step;
  }

  static constexpr int64_t kOffset = 192, kConstantOffset = 64;
  int64_t size;
  int64_t extents[1] = {};
  int64_t dims[1] = {};
  std::vector<float> constants;
  hone_place places[6] = {{HONE_IN_INPUT, 0, 0},       {HONE_IN_CONSTANTS, 0, kConstantOffset},
                          {HONE_IN_ARENA, 0, kOffset}, {HONE_IN_ARENA, 0, kOffset},
                          {HONE_IN_INPUT, 0, 0},       {HONE_IN_OUTPUT, 0, 0}};
  hone_step steps[3] = {};
  hone_tensor_info info[2] = {};
  hone_program program{};
};

void run_and_expect(hone_context* context, const SumProgram& sum, float start) {
  std::vector<float> x(static_cast<size_t>(sum.size), start);
  std::vector<float> y(x.size(), -1000);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  ASSERT_EQ(hone_context_run(context, inputs, outputs), nullptr);
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], -sum.constants[i + SumProgram::kConstantOffset / 4]) << "element " << i;
}

TEST(RuntimeContext, FindsBuffersAtAllPlaces) {
  for (const int threads : {0, 1, 2, 5}) {
    for (const int64_t tasks : {1, 2, 33}) {
      const SumProgram sum(tasks, 16);
      const Context context(hone_context_create(&sum.program, threads));
      ASSERT_NE(context, nullptr);
      for (int run = 0; run < 3; ++run) run_and_expect(&*context, sum, static_cast<float>(run));
    }
  }
}

TEST(RuntimeContext, RunsOfOneProgramAtOnceDoNotMeet) {
  const SumProgram sum(64, 100);
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&sum, t] {
      const Context context(hone_context_create(&sum.program, 3));
      ASSERT_NE(context, nullptr);
      for (int run = 0; run < 50; ++run) run_and_expect(&*context, sum, static_cast<float>(t));
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(RuntimeContext, BigArena) {
  const SumProgram sum(1000, 4096);
  const Context context(hone_context_create(&sum.program, 2));
  ASSERT_NE(context, nullptr);
  run_and_expect(&*context, sum, 3);
}

TEST(RuntimeContext, RefusesMoreMemoryThanThereIs) {
  SumProgram sum(1, 16);
  sum.program.arena_bytes = INT64_MAX / 2;
  EXPECT_EQ(hone_context_create(&sum.program, 2), nullptr);
  sum.program.arena_bytes = 4096;
  sum.program.scratch_bytes = INT64_MAX / 4;
  EXPECT_EQ(hone_context_create(&sum.program, 2), nullptr);
}

TEST(RuntimeContext, NamesANullPointer) {
  const SumProgram sum(2, 16);
  const Context context(hone_context_create(&sum.program, 2));
  std::vector<float> y(static_cast<size_t>(sum.size));
  const void* no_inputs[] = {nullptr};
  const void* inputs[] = {y.data()};
  void* outputs[] = {y.data()};
  void* no_outputs[] = {nullptr};
  EXPECT_STREQ(hone_context_run(&*context, no_inputs, outputs), "input 0 ('x') is a null pointer");
  EXPECT_STREQ(hone_context_run(&*context, nullptr, outputs), "input 0 ('x') is a null pointer");
  EXPECT_STREQ(hone_context_run(&*context, inputs, no_outputs), "output 0 ('y') is a null pointer");
}

TEST(RuntimeContext, StopsAtAFailingHostStep) {
  SumProgram sum(2, 16);
  sum.steps[1].host = fail_on_host;
  const Context context(hone_context_create(&sum.program, 2));
  std::vector<float> x(static_cast<size_t>(sum.size)), y(x.size(), 7);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  EXPECT_STREQ(hone_context_run(&*context, inputs, outputs), "it failed");
  EXPECT_EQ(y[0], 7);
  sum.steps[1].host = negate_on_host;
  run_and_expect(&*context, sum, 1);
}

TEST(RuntimeContext, RefusesToRunTwiceAtOnce) {
  struct Gate {
    std::atomic<bool> entered = false, open = false;
  } gate;
  SumProgram sum(2, 16);
  sum.steps[1].host = [](void* data, void* const*) -> const char* {
    auto& g = *static_cast<Gate*>(data);
    g.entered = true;
    while (!g.open) std::this_thread::yield();
    return nullptr;
  };
  sum.steps[1].host_data = &gate;
  const Context context(hone_context_create(&sum.program, 2));
  std::vector<float> x(static_cast<size_t>(sum.size)), y(x.size());
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  std::thread other([&] { EXPECT_EQ(hone_context_run(&*context, inputs, outputs), nullptr); });
  while (!gate.entered) std::this_thread::yield();
  const char* error = hone_context_run(&*context, inputs, outputs);
  gate.open = true;
  other.join();
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("running already"), std::string::npos);
}

TEST(RuntimeContext, ProfileAddsUpTheTimeOfEachStep) {
  const SumProgram sum(64, 1000);
  const Context context(hone_context_create(&sum.program, 2));
  std::vector<float> x(static_cast<size_t>(sum.size)), y(x.size());
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  std::vector<double> once(3), twice(3);
  ASSERT_EQ(hone_context_profile(&*context, inputs, outputs, once.data()), nullptr);
  twice = once;
  ASSERT_EQ(hone_context_profile(&*context, inputs, outputs, twice.data()), nullptr);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GT(once[i], 0);
    EXPECT_GT(twice[i], once[i]);
  }
}

}  // namespace
