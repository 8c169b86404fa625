// Runs of the C interface, and the reports about them.
#include <cstdlib>
#include <cstring>

#include <nlohmann/json.hpp>

#include "capi/handles.h"
#include "ops/onnx_types.h"

namespace hone::capi {
namespace {

std::span<const int64_t> dims_of(const hone_tensor& tensor) {
  return {tensor.dims, static_cast<size_t>(tensor.rank < 0 ? 0 : tensor.rank)};
}

ElementType element_of(const hone_tensor& tensor) {
  return element_type_of_onnx(tensor.element_type).value_or(ElementType::kInvalid);
}

std::vector<TensorView> input_views(const hone_tensor* tensors, size_t count) {
  std::vector<TensorView> views;
  for (size_t i = 0; i < count; ++i)
    views.push_back({element_of(tensors[i]), dims_of(tensors[i]), tensors[i].data});
  return views;
}

std::vector<MutableTensorView> output_views(const hone_tensor* tensors, size_t count) {
  std::vector<MutableTensorView> views;
  for (size_t i = 0; i < count; ++i)
    views.push_back({element_of(tensors[i]), dims_of(tensors[i]), tensors[i].data});
  return views;
}

void add_tensor(hone_result& result, ElementType element, std::span<const int64_t> dims,
                void* data) {
  result.dims.emplace_back(dims.begin(), dims.end());  // moving the vectors keeps their elements
  result.tensors.push_back({static_cast<int32_t>(onnx_number(element)),
                            static_cast<int32_t>(dims.size()), result.dims.back().data(), data});
}

hone_error* give_text(const std::string& text, char** out) {
  *out = static_cast<char*>(std::malloc(text.size() + 1));
  if (*out == nullptr) return new_error(HONE_ERROR_SYSTEM, "out of memory");
  std::memcpy(*out, text.c_str(), text.size() + 1);
  return nullptr;
}

nlohmann::ordered_json json_of(const Profile& profile) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const StepProfile& step : profile.steps)
    steps.push_back({{"label", step.label},
                     {"kernel", step.kernel},
                     {"seconds", step.seconds},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"tasks", step.tasks}});
  return {{"runs", profile.runs}, {"seconds", profile.seconds}, {"steps", steps}};
}

}  // namespace
}  // namespace hone::capi

using hone::capi::guarded;
using hone::capi::new_error;

hone_error* hone_model_run(hone_model* model, const hone_tensor* inputs, size_t input_count,
                           const hone_tensor* outputs, size_t output_count) {
  return guarded([&]() -> hone_error* {
    const hone::Result<void> ran =
        model->session->run(hone::capi::input_views(inputs, input_count),
                            hone::capi::output_views(outputs, output_count));
    return ran ? nullptr : new_error(ran.error());
  });
}

hone_error* hone_model_run_new(hone_model* model, const hone_tensor* inputs, size_t input_count,
                               hone_result** result) {
  return guarded([&]() -> hone_error* {
    *result = nullptr;
    auto buffers = model->session->run(hone::capi::input_views(inputs, input_count));
    if (!buffers) return new_error(buffers.error());
    auto made = std::make_unique<hone_result>();
    made->buffers = *std::move(buffers);
    for (hone::Buffer& buffer : made->buffers)
      hone::capi::add_tensor(*made, buffer.type(), buffer.dims(), buffer.mutable_data());
    *result = made.release();
    return nullptr;
  });
}

hone_error* hone_model_plan(hone_model* model, const hone_tensor* inputs, size_t input_count,
                            hone_result** result) {
  return guarded([&]() -> hone_error* {
    *result = nullptr;
    const auto made_for = model->session->specialize(hone::capi::input_views(inputs, input_count));
    if (!made_for) return new_error(made_for.error());
    const hone_program& program = (*made_for)->program();
    auto made = std::make_unique<hone_result>();
    for (int64_t i = 0; i < program.output_count; ++i)
      hone::capi::add_tensor(*made, hone::element_of(program.outputs[i]),
                             hone::dims_of(program.outputs[i]), nullptr);
    *result = made.release();
    return nullptr;
  });
}

size_t hone_result_count(const hone_result* result) { return result->tensors.size(); }
const hone_tensor* hone_result_tensor(const hone_result* result, size_t index) {
  return index < result->tensors.size() ? &result->tensors[index] : nullptr;
}
void hone_result_destroy(hone_result* result) { delete result; }

hone_error* hone_model_profile(hone_model* model, const hone_tensor* inputs, size_t input_count,
                               int runs, char** json) {
  return guarded([&]() -> hone_error* {
    *json = nullptr;
    const auto profile =
        model->session->profile(hone::capi::input_views(inputs, input_count), runs);
    if (!profile) return new_error(profile.error());
    return hone::capi::give_text(hone::capi::json_of(*profile).dump(), json);
  });
}

hone_error* hone_model_report(const hone_model* model, char** json) {
  return guarded([&] {
    *json = nullptr;
    const std::string text = model->session->report();
    auto report = nlohmann::ordered_json::parse(text.empty() ? "{}" : text);
    const hone::CacheCounts counts = model->session->cache_counts();
    report["cache"] = {
        {"hits", counts.hits}, {"compiled", counts.compiled}, {"dropped", counts.dropped}};
    return hone::capi::give_text(report.dump(), json);
  });
}

void hone_string_destroy(char* text) { std::free(text); }
