// Runs of a session: the caller's memory is checked here, once, so that kernels never need to.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver/session.h"
#include "ops/onnx_types.h"

namespace hone {
namespace {

struct Region {
  const std::byte* begin = nullptr;
  size_t bytes = 0;

  Region(const void* data, int64_t size)
      : begin(static_cast<const std::byte*>(data)), bytes(static_cast<size_t>(size)) {}
  [[nodiscard]] bool overlaps(const Region& other) const {
    return bytes > 0 && other.bytes > 0 && std::less<>()(begin, other.begin + other.bytes) &&
           std::less<>()(other.begin, begin + bytes);
  }
};

bool is_aligned(const void* data, const hone_tensor_info& info) {
  return reinterpret_cast<uintptr_t>(data) % std::max<size_t>(size_of(element_of(info)), 1) == 0;
}

std::string output_place(const hone_tensor_info& info) {
  return "output '" + std::string(info.name) + "'";
}

// The pointers of one run. Elements that do not lie at a multiple of their size are copied.
class Pointers {
 public:
  explicit Pointers(const hone_program& program) : program_(program) {}

  void set_inputs(std::span<const TensorView> inputs, const std::vector<InterfaceValue>& declared) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const hone_tensor_info& info = program_.inputs[i];
      const void* data =
          inputs[i].data == nullptr ? declared[i].default_value.data() : inputs[i].data;
      if (!is_aligned(data, info)) {
        copies_.push_back(copy_for(info));
        std::memcpy(copies_.back().mutable_data(), data, static_cast<size_t>(info.bytes));
        data = copies_.back().data();
      }
      inputs_.push_back(data);
    }
  }

  Result<void> set_outputs(std::span<const MutableTensorView> outputs) {
    if (static_cast<int64_t>(outputs.size()) != program_.output_count)
      return fail(ErrorKind::kInvalid, "",
                  std::to_string(outputs.size()) + " outputs are given, the model has " +
                      std::to_string(program_.output_count));
    for (size_t i = 0; i < outputs.size(); ++i)
      if (Result<void> set = set_output(i, outputs[i]); !set) return set;
    return {};
  }

  [[nodiscard]] const void* const* inputs() const { return inputs_.data(); }
  [[nodiscard]] void* const* outputs() const { return outputs_.data(); }

  // After the run: what was computed elsewhere goes to the caller's memory.
  void deliver() const {
    for (const auto& [target, buffer] : detours_)
      std::memcpy(target, buffer.data(), buffer.byte_size());
  }

 private:
  static Buffer copy_for(const hone_tensor_info& info) {
    const auto dims = dims_of(info);
    return Buffer::allocate(element_of(info), {dims.begin(), dims.end()});
  }

  Result<void> set_output(size_t i, const MutableTensorView& output) {
    const hone_tensor_info& info = program_.outputs[i];
    const auto dims = dims_of(info);
    if (output.element != element_of(info) || !std::ranges::equal(output.dims, dims))
      return fail(
          ErrorKind::kInvalid, output_place(info),
          TensorType{output.element, to_shape({output.dims.begin(), output.dims.end()})}
                  .to_string() +
              " is given, but the result is " +
              TensorType{element_of(info), to_shape({dims.begin(), dims.end()})}.to_string());
    if (output.data == nullptr && info.bytes > 0)
      return fail(ErrorKind::kInvalid, output_place(info), "is a null pointer");
    const Region region(output.data, info.bytes);
    for (size_t k = 0; k < inputs_.size(); ++k)
      if (region.overlaps({inputs_[k], program_.inputs[k].bytes}))
        return fail(ErrorKind::kInvalid, output_place(info),
                    "overlaps with input '" + std::string(program_.inputs[k].name) + "'");
    for (size_t k = 0; k < i; ++k)
      if (region.overlaps({targets_[k], program_.outputs[k].bytes}))
        return fail(ErrorKind::kInvalid, output_place(info),
                    "overlaps with " + output_place(program_.outputs[k]));
    targets_.push_back(output.data);
    outputs_.push_back(output.data);
    if (!is_aligned(output.data, info)) {
      detours_.emplace_back(output.data, copy_for(info));
      outputs_.back() = detours_.back().second.mutable_data();
    }
    return {};
  }

  const hone_program& program_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_, targets_;
  std::vector<Buffer> copies_;
  std::vector<std::pair<void*, Buffer>> detours_;
};

// A malformed size is a Failure inside the buffers.
template <typename Body>
auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

std::vector<Buffer> output_buffers(const hone_program& program) {
  std::vector<Buffer> buffers;
  for (int64_t i = 0; i < program.output_count; ++i) {
    const auto dims = dims_of(program.outputs[i]);
    buffers.push_back(Buffer::allocate(element_of(program.outputs[i]), {dims.begin(), dims.end()}));
  }
  return buffers;
}

std::vector<MutableTensorView> views_of(std::vector<Buffer>& buffers) {
  std::vector<MutableTensorView> views;
  for (Buffer& buffer : buffers)
    views.push_back({buffer.type(), buffer.dims(), buffer.mutable_data()});
  return views;
}

Profile empty_profile(const hone_program& program, int runs) {
  Profile profile;
  profile.runs = runs;
  for (int64_t i = 0; i < program.step_count; ++i) {
    const hone_step& step = program.steps[i];
    const bool native = step.kernel != nullptr && step.kernel_index >= 0;
    profile.steps.push_back({step.label == nullptr ? "" : step.label,
                             native ? program.kernel_names[step.kernel_index] : "host", 0,
                             step.flops, step.bytes, step.tasks});
  }
  return profile;
}

}  // namespace

Result<void> Session::run(std::span<const TensorView> inputs,
                          std::span<const MutableTensorView> outputs) {
  return guarded([&]() -> Result<void> {
    const auto specialization = specialize(inputs);
    if (!specialization) return std::unexpected(specialization.error());
    Pointers pointers((*specialization)->program());
    pointers.set_inputs(inputs, inputs_);
    if (Result<void> set = pointers.set_outputs(outputs); !set) return set;
    Result<void> ran = (*specialization)->run(pointers.inputs(), pointers.outputs());
    if (ran) pointers.deliver();
    return ran;
  });
}

Result<std::vector<Buffer>> Session::run(std::span<const TensorView> inputs) {
  return guarded([&]() -> Result<std::vector<Buffer>> {
    const auto specialization = specialize(inputs);
    if (!specialization) return std::unexpected(specialization.error());
    std::vector<Buffer> buffers = output_buffers((*specialization)->program());
    Pointers pointers((*specialization)->program());
    pointers.set_inputs(inputs, inputs_);
    if (Result<void> set = pointers.set_outputs(views_of(buffers)); !set)
      return std::unexpected(std::move(set.error()));
    if (Result<void> ran = (*specialization)->run(pointers.inputs(), pointers.outputs()); !ran)
      return std::unexpected(std::move(ran.error()));
    return buffers;
  });
}

Result<Profile> Session::profile(std::span<const TensorView> inputs, int runs) {
  return guarded([&]() -> Result<Profile> {
    const auto specialization = specialize(inputs);
    if (!specialization) return std::unexpected(specialization.error());
    const hone_program& program = (*specialization)->program();
    std::vector<Buffer> buffers = output_buffers(program);
    Pointers pointers(program);
    pointers.set_inputs(inputs, inputs_);
    if (Result<void> set = pointers.set_outputs(views_of(buffers)); !set)
      return std::unexpected(std::move(set.error()));
    Profile profile = empty_profile(program, std::max(runs, 1));
    for (int run = -1; run < profile.runs; ++run) {
      std::vector<double> seconds(profile.steps.size());
      const auto start = std::chrono::steady_clock::now();
      const Result<void> ran =
          (*specialization)->run(pointers.inputs(), pointers.outputs(), seconds.data());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (!ran) return std::unexpected(ran.error());
      if (run < 0) continue;  // warm-up
      profile.seconds = run == 0 ? took.count() : std::min(profile.seconds, took.count());
      for (size_t i = 0; i < seconds.size(); ++i) {
        double& best = profile.steps[i].seconds;
        best = run == 0 ? seconds[i] : std::min(best, seconds[i]);
      }
    }
    return profile;
  });
}

}  // namespace hone
