#include "driver/compile.h"

#include <cstring>
#include <list>
#include <mutex>

#include <nlohmann/json.hpp>

#include "driver/pipeline.h"
#include "graph/infer.h"
#include "graph/interpreter.h"
#include "ops/onnx_types.h"
#include "partition/fuse.h"
#include "support/check.h"

namespace hone {
namespace {

// The graph for these shapes, cleaned up.
Result<std::shared_ptr<const Graph>> specialised(const Model& model, const InputShapes& shapes) {
  Model copy = model;
  for (const ValueId id : copy.graph.inputs()) {
    Value& value = copy.graph.value(id);
    if (const auto at = shapes.find(value.name); at != shapes.end())
      value.type.shape = to_shape(at->second);
  }
  if (Errors errors = infer(copy.graph); !errors.empty())
    return std::unexpected(std::move(errors[0]));
  OptimizeOptions options;
  options.fold.keep_dequantize = false;
  options.fold.max_bytes = size_t{64} << 20;
  if (auto report = optimize(copy, options); !report)
    return std::unexpected(std::move(report.error()));
  return std::make_shared<const Graph>(std::move(copy.graph));
}

// A plan with its machine code, as the runtime sees it.
class NativeProgram {
 public:
  NativeProgram(std::shared_ptr<const Plan> plan, std::shared_ptr<const JitModule> code)
      : plan_(std::move(plan)), code_(std::move(code)) {
    build();
  }
  NativeProgram(const NativeProgram&) = delete;
  NativeProgram& operator=(const NativeProgram&) = delete;
  [[nodiscard]] const hone_program& program() const { return program_; }

 private:
  struct HostCall {
    NativeProgram* self;
    const PlanStep* step;
  };

  void build() {
    for (const loop::Function& kernel : plan_->kernels) names_.push_back(kernel.name.c_str());
    for (const PlanStep& step : plan_->steps) add(step);
    describe(plan_->inputs, inputs_);
    describe(plan_->outputs, outputs_);
    program_.steps = steps_.data();
    program_.step_count = static_cast<int64_t>(steps_.size());
    program_.kernel_names = names_.data();
    program_.kernel_count = static_cast<int64_t>(names_.size());
    program_.inputs = inputs_.data();
    program_.outputs = outputs_.data();
    program_.input_count = static_cast<int64_t>(inputs_.size());
    program_.output_count = static_cast<int64_t>(outputs_.size());
    program_.constants = plan_->constants.data();
    program_.constant_bytes = static_cast<int64_t>(plan_->constants.byte_size());
    program_.arena_bytes = plan_->arena_bytes;
    program_.scratch_bytes = plan_->scratch_bytes;
  }

  void add(const PlanStep& step) {
    std::vector<hone_place>& places = places_.emplace_back();
    for (const PlanPlace& place : step.places)
      places.push_back({place.kind, place.index, place.offset});
    hone_step out{};
    out.places = places.data();
    out.place_count = static_cast<int32_t>(places.size());
    out.extents = step.extents.data();
    out.kernel_index = step.kernel;
    out.tasks = step.tasks;
    out.label = step.label.c_str();
    out.flops = step.flops;
    out.bytes = step.bytes;
    if (step.kernel >= 0) {
      out.kernel = code_->find(plan_->kernels[static_cast<size_t>(step.kernel)].name);
    } else {
      hosts_.push_back({this, &step});
      out.host_data = &hosts_.back();
      out.host = [](void* data, void* const* buffers) {
        const auto* call = static_cast<HostCall*>(data);
        return call->self->run_host(*call->step, buffers);
      };
    }
    steps_.push_back(out);
  }

  void describe(const std::vector<PlanValue>& values, std::vector<hone_tensor_info>& infos) {
    for (const PlanValue& value : values) {
      std::vector<int64_t>& dims = dims_.emplace_back(*to_ints(*value.type.shape));
      int64_t bytes = static_cast<int64_t>(size_of(value.type.element));
      for (const int64_t dim : dims) bytes *= dim;
      infos.push_back({value.name.c_str(), static_cast<int32_t>(onnx_number(value.type.element)),
                       static_cast<int32_t>(dims.size()), dims.data(), bytes});
    }
  }

  const char* run_host(const PlanStep& step, void* const* buffers) {
    std::vector<Buffer> operands;
    size_t at = 0;
    for (const TensorType& type : step.host_inputs) {
      if (type.element == ElementType::kInvalid)
        operands.emplace_back();
      else
        operands.push_back(
            Buffer::borrow(type.element, *to_ints(*type.shape), buffers[at++], nullptr));
    }
    const Result<std::vector<Buffer>> results =
        interpret_node(*step.host_graph, step.host_graph->node(step.host), operands, {});
    if (!results) return keep(results.error().to_string());
    for (size_t i = 0; i < step.host_outputs.size(); ++i) {
      if (step.host_outputs[i].element == ElementType::kInvalid) continue;
      const Buffer& result = (*results)[i];
      if (result.dims() != *to_ints(*step.host_outputs[i].shape))
        return keep(step.label + " gave a result of another shape than expected");
      std::memcpy(buffers[at++], result.data(), result.byte_size());
    }
    return nullptr;
  }

  const char* keep(std::string message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
    return messages_.back().c_str();
  }

  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const JitModule> code_;
  std::vector<const char*> names_;
  std::list<std::vector<hone_place>> places_;
  std::list<std::vector<int64_t>> dims_;
  std::list<HostCall> hosts_;
  std::vector<hone_step> steps_;
  std::vector<hone_tensor_info> inputs_, outputs_;
  hone_program program_{};
  std::mutex mutex_;
  std::list<std::string> messages_;
};

std::string report_of(const Plan& plan) {
  nlohmann::json report;
  report["engine"] = "native";
  report["kernels"] = plan.kernels.size();
  report["steps"] = plan.steps.size();
  report["constant_bytes"] = plan.constants.byte_size();
  report["arena_bytes"] = plan.arena_bytes;
  report["not_native"] = plan.host_notes;
  return report.dump();
}

}  // namespace

Result<std::shared_ptr<Plan>> plan_model(const Model& model, const InputShapes& shapes,
                                         const CompileOptions& options) {
  try {
    auto graph = specialised(model, shapes);
    if (!graph) return std::unexpected(std::move(graph.error()));
    Result<TensorProgram> program = program_of(**graph);
    if (!program) return std::unexpected(std::move(program.error()));
    if (Result<void> fused = fuse(*program); !fused)
      return std::unexpected(std::move(fused.error()));
    if (options.dump) options.dump("program", to_text(*program));
    return make_plan(*std::move(program), *std::move(graph), options);
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  } catch (const InternalError& error) {
    return fail(ErrorKind::kUnsupported, "native code", error.what(),
                "this is an error of hone: please report it");
  }
}

Result<Compiled> compile_native(const Model& model, const InputShapes& shapes,
                                const CompileOptions& options) {
  auto plan = plan_model(model, shapes, options);
  if (!plan) return std::unexpected(std::move(plan.error()));
  auto code = JitModule::compile((*plan)->kernels, options.cpu);
  if (!code) return std::unexpected(std::move(code.error()));
  const std::string report = report_of(**plan);
  const auto made = std::make_shared<NativeProgram>(*std::move(plan), *std::move(code));
  return Compiled{made, &made->program(), report};
}

}  // namespace hone
