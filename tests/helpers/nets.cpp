#include "helpers/nets.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "driver/compare.h"
#include "driver/inputs.h"
#include "graph/infer.h"
#include "graph/interpreter.h"
#include "helpers/kernels.h"
#include "loop/interpret.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace hone::testing {
namespace {

const OperatorTable& operators() {
  static const OperatorTable table = OperatorTable::standard();
  return table;
}

std::vector<Buffer> buffers_for(const std::vector<PlanValue>& values) {
  std::vector<Buffer> buffers;
  for (const PlanValue& value : values)
    buffers.push_back(Buffer::allocate(value.type.element, *to_ints(*value.type.shape)));
  return buffers;
}

// Where the arguments of a step lie.
struct Memory {
  const Plan& plan;
  const std::vector<Buffer>& inputs;
  std::vector<Buffer>& outputs;
  Aligned<unsigned char> arena;

  void* at(const PlanPlace& place) {
    const auto index = static_cast<size_t>(place.index);
    const auto constant = [](const Buffer& buffer) {
      return const_cast<std::byte*>(buffer.data());
    };
    switch (place.kind) {
      case HONE_IN_ARENA:
        return arena.data() + place.offset;
      case HONE_IN_CONSTANTS:
        return constant(plan.constants) + place.offset;
      case HONE_IN_INPUT:
        return constant(inputs[index]) + place.offset;
      default:
        return outputs[index].mutable_data() + place.offset;
    }
  }
};

}  // namespace

Net::Net(int opset) {
  model_.ir_version = 8;
  model_.opsets[""] = opset;
}

ValueId Net::input(const std::string& name, std::vector<int64_t> dims) {
  return model_.graph.add_input(name, {ElementType::kF32, to_shape(dims)});
}

ValueId Net::weights(std::vector<int64_t> dims) {
  Buffer data = Buffer::allocate(ElementType::kF32, std::move(dims));
  std::mt19937_64 random(++seed_);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : data.as_mutable<float>()) value = uniform(random);
  return model_.graph.add_constant("", std::move(data));
}

ValueId Net::integers(const std::vector<int64_t>& values) {
  return model_.graph.add_constant("", Buffer::of_ints(values));
}

ValueId Net::op(const std::string& name, std::vector<ValueId> inputs, Attributes attributes) {
  Node node;
  node.op = name;
  node.opset = static_cast<int>(model_.opsets[""]);
  node.def = operators().find("", name);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.name = name;
  const NodeId id = model_.graph.add_node(std::move(node), {name});
  return model_.graph.node(id).outputs[0];
}

Model Net::finish(std::vector<ValueId> outputs) {
  model_.graph.set_outputs(std::move(outputs));
  const Errors errors = infer(model_.graph);
  EXPECT_TRUE(errors.empty()) << errors[0].to_string();
  return model_;
}

CompileOptions options_for(const std::string& target, int threads) {
  CompileOptions options;
  const auto cpu = cpu_named(target);
  EXPECT_TRUE(cpu) << target;
  options.cpu = *cpu;
  options.threads = threads;
  return options;
}

std::shared_ptr<Plan> plan_of(const Model& model, const CompileOptions& options) {
  auto plan = plan_model(model, {}, options);
  if (plan) return *std::move(plan);
  ADD_FAILURE() << plan.error().to_string();
  return nullptr;
}

std::vector<std::string> labels(const Plan& plan) {
  std::vector<std::string> result;
  for (const PlanStep& step : plan.steps) result.push_back(step.label);
  return result;
}

std::vector<Buffer> run_by_interpreter(const Plan& plan, const std::vector<Buffer>& inputs) {
  std::vector<Buffer> outputs = buffers_for(plan.outputs);
  // The bytes of a NaN: what nobody has written must not be read.
  Memory memory{plan, inputs, outputs,
                Aligned<unsigned char>(static_cast<size_t>(plan.arena_bytes), 0xff)};
  for (const PlanStep& step : plan.steps) {
    EXPECT_GE(step.kernel, 0) << step.label << " is not native";
    if (step.kernel < 0) return {};
    const loop::Function& kernel = plan.kernels[static_cast<size_t>(step.kernel)];
    const Errors errors = loop::verify(kernel);
    EXPECT_TRUE(errors.empty()) << errors[0].to_string() << "\n" << loop::to_text(kernel);
    if (!errors.empty()) return {};
    std::vector<void*> pointers;
    for (const PlanPlace& place : step.places) pointers.push_back(memory.at(place));
    const auto done = loop::interpret(kernel, pointers, step.extents, 0, step.tasks);
    EXPECT_TRUE(done) << done.error().to_string() << "\n" << loop::to_text(kernel);
    if (!done) return {};
  }
  return outputs;
}

std::vector<Buffer> seeded_inputs(const Model& model) {
  auto inputs = make_inputs(model.graph, {});
  EXPECT_TRUE(inputs);
  return *std::move(inputs);
}

double difference(const Model& model, const std::vector<Buffer>& inputs,
                  const std::vector<Buffer>& outputs) {
  InterpretOptions wide;
  wide.evaluate.domain = Domain::kDouble;
  const auto reference = interpret(model.graph, inputs, wide);
  EXPECT_TRUE(reference);
  EXPECT_EQ(reference->size(), outputs.size());
  double worst = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OutputDifference found;
    EXPECT_EQ(outputs[i].dims(), (*reference)[i].dims());
    add_difference((*reference)[i], outputs[i], "run", found);
    EXPECT_FALSE(found.non_finite) << found.worst;
    worst = std::max(worst, found.max_relative);
  }
  return worst;
}

void expect_right_natively(const Model& model, double tolerance) {
  const std::vector<Buffer> inputs = seeded_inputs(model);
  std::vector<const void*> in;
  for (const Buffer& input : inputs) in.push_back(input.data());
  for (const int threads : {1, 2}) {
    CompileOptions options;
    options.threads = threads;
    const auto compiled = compile_native(model, {}, options);
    ASSERT_TRUE(compiled) << compiled.error().to_string();
    const hone_program& program = *compiled->program;
    std::vector<Buffer> outputs;
    std::vector<void*> out;
    for (int64_t i = 0; i < program.output_count; ++i) {
      const auto dims = dims_of(program.outputs[i]);
      outputs.push_back(
          Buffer::allocate(element_of(program.outputs[i]), {dims.begin(), dims.end()}));
      out.push_back(outputs.back().mutable_data());
    }
    hone_context* context = hone_context_create(&program, threads);
    const char* problem = hone_context_run(context, in.data(), out.data());
    hone_context_destroy(context);
    ASSERT_EQ(problem, nullptr) << problem;
    EXPECT_LE(difference(model, inputs, outputs), tolerance) << threads << " threads";
  }
}

void expect_right_everywhere(const Model& model, double tolerance) {
  expect_right_natively(model, tolerance);
  const std::vector<Buffer> inputs = seeded_inputs(model);
  for (const char* target : {"skylake-avx512", "x86-64-v3", "neoverse-n1"}) {
    const std::shared_ptr<Plan> plan = plan_of(model, options_for(target));
    ASSERT_NE(plan, nullptr);
    const std::vector<Buffer> outputs = run_by_interpreter(*plan, inputs);
    ASSERT_EQ(outputs.size(), model.graph.outputs().size());
    EXPECT_LE(difference(model, inputs, outputs), tolerance) << target;
  }
}

}  // namespace hone::testing
