#include "driver/reference_program.h"

#include <cstring>
#include <list>
#include <mutex>

#include "graph/infer.h"
#include "graph/interpreter.h"
#include "ops/onnx_types.h"

namespace hone {
namespace {

struct Tensors {
  std::list<std::string> names;
  std::list<std::vector<int64_t>> dims;
  std::vector<hone_tensor_info> infos;

  void add(const Value& value, std::vector<int64_t> extents) {
    names.push_back(value.name);
    dims.push_back(std::move(extents));
    const auto bytes =
        checked_count(dims.back()) * static_cast<int64_t>(size_of(value.type.element));
    infos.push_back({names.back().c_str(), static_cast<int32_t>(onnx_number(value.type.element)),
                     static_cast<int32_t>(dims.back().size()), dims.back().data(), bytes});
  }
};

class ReferenceProgram {
 public:
  explicit ReferenceProgram(Graph graph) : graph_(std::move(graph)) {}
  ReferenceProgram(const ReferenceProgram&) = delete;
  ReferenceProgram& operator=(const ReferenceProgram&) = delete;

  Result<void> build() {
    for (const ValueId id : graph_.inputs()) add(id, inputs_, HONE_IN_INPUT);
    for (const ValueId id : graph_.outputs()) {
      const Value& value = graph_.value(id);
      if (!value.type.is_const() || value.type.element == ElementType::kString)
        return fail(ErrorKind::kUnsupported, "output '" + value.name + "'",
                    "its shape " + value.type.to_string() + " is not known before a run");
      add(id, outputs_, HONE_IN_OUTPUT);
    }
    step_.host = [](void* self, void* const* buffers) {
      return static_cast<ReferenceProgram*>(self)->run(buffers);
    };
    step_.host_data = this;
    step_.places = places_.data();
    step_.place_count = static_cast<int32_t>(places_.size());
    step_.kernel_index = -1;
    step_.tasks = 1;
    step_.label = "reference engine";
    program_.steps = &step_;
    program_.step_count = 1;
    program_.inputs = inputs_.infos.data();
    program_.outputs = outputs_.infos.data();
    program_.input_count = static_cast<int64_t>(inputs_.infos.size());
    program_.output_count = static_cast<int64_t>(outputs_.infos.size());
    return {};
  }
  [[nodiscard]] const hone_program& program() const { return program_; }

 private:
  void add(ValueId id, Tensors& tensors, int32_t kind) {
    const Value& value = graph_.value(id);
    places_.push_back({kind, static_cast<int32_t>(tensors.infos.size()), 0});
    tensors.add(value, *to_ints(*value.type.shape));
  }

  const char* run(void* const* buffers) {
    std::vector<Buffer> operands;
    for (const hone_tensor_info& info : inputs_.infos) {
      const auto dims = dims_of(info);
      operands.push_back(
          Buffer::borrow(element_of(info), {dims.begin(), dims.end()}, *buffers++, nullptr));
    }
    const Result<std::vector<Buffer>> results = interpret(graph_, operands);
    if (!results) return keep(results.error().to_string());
    for (size_t i = 0; i < results->size(); ++i) {
      const Buffer& result = (*results)[i];
      if (!std::ranges::equal(result.dims(), dims_of(outputs_.infos[i])))
        return keep("output '" + std::string(outputs_.infos[i].name) + "' came as " +
                    result.tensor_type().to_string());
      if (result.byte_size() > 0) std::memcpy(buffers[i], result.data(), result.byte_size());
    }
    return nullptr;
  }

  // Messages live as long as the program; few runs fail.
  const char* keep(std::string message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
    return messages_.back().c_str();
  }

  Graph graph_;
  Tensors inputs_, outputs_;
  std::vector<hone_place> places_;
  hone_step step_{};
  hone_program program_{};
  std::mutex mutex_;
  std::list<std::string> messages_;
};

}  // namespace

Result<Compiled> compile_reference(const Model& model, const InputShapes& shapes) {
  try {
    Graph graph = model.graph;
    for (const ValueId id : graph.inputs()) {
      Value& value = graph.value(id);
      value.type.shape = to_shape(shapes.at(value.name));
    }
    if (Errors errors = infer(graph); !errors.empty()) return std::unexpected(std::move(errors[0]));
    const auto made = std::make_shared<ReferenceProgram>(std::move(graph));
    if (Result<void> built = made->build(); !built)
      return std::unexpected(std::move(built.error()));
    return Compiled{made, &made->program(), R"({"engine": "reference"})"};
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

}  // namespace hone
