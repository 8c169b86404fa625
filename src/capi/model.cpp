// Errors, options and models of the C interface.
#include "capi/handles.h"
#include "ops/onnx_types.h"
#include "support/version.h"

namespace hone::capi {

ValueInfo::ValueInfo(const InterfaceValue& value) : name(value.name), type(value.type.to_string()) {
  if (value.type.shape)
    for (const Dim& dim : *value.type.shape) {
      dims.push_back(dim.is_const() ? dim.value() : -1);
      dim_texts.push_back(dim.to_string());
    }
  for (const std::string& text : dim_texts) dim_names.push_back(text.c_str());
  info.name = name.c_str();
  info.type = type.c_str();
  info.element_type = static_cast<int32_t>(onnx_number(value.type.element));
  info.rank = value.type.shape ? static_cast<int32_t>(dims.size()) : -1;
  info.dims = dims.data();
  info.dim_names = dim_names.data();
  info.has_default = value.default_value.empty_handle() ? 0 : 1;
}

hone_error* new_error(int kind, std::string message) {
  return new hone_error{kind, std::move(message)};
}

hone_error* new_error(const Errors& errors) {
  std::string text;
  for (const Error& error : errors) text += (text.empty() ? "" : "\n") + error.to_string();
  switch (errors.empty() ? ErrorKind::kInvalid : errors[0].kind) {
    case ErrorKind::kUnsupported:
    case ErrorKind::kUnknown:
      return new_error(HONE_ERROR_UNSUPPORTED, std::move(text));
    case ErrorKind::kSystem:
      return new_error(HONE_ERROR_SYSTEM, std::move(text));
    case ErrorKind::kInvalid:
    case ErrorKind::kInterrupted:
      break;
  }
  return new_error(HONE_ERROR_INVALID, std::move(text));
}

hone_error* new_error(const Error& error) { return new_error(Errors{error}); }

namespace {

using Infos = std::vector<std::unique_ptr<ValueInfo>>;

Infos infos_of(const std::vector<InterfaceValue>& values) {
  Infos infos;
  for (const InterfaceValue& value : values) infos.push_back(std::make_unique<ValueInfo>(value));
  return infos;
}

const hone_value_info* info_at(const Infos& infos, size_t index) {
  return index < infos.size() ? &infos[index]->info : nullptr;
}

OpenOptions options_of(const hone_options* options) {
  return options == nullptr ? OpenOptions{} : options->options;
}

hone_error* give_model(Results<std::unique_ptr<Session>> session, hone_model** model) {
  if (!session) return new_error(session.error());
  auto made = std::make_unique<hone_model>();
  made->session = *std::move(session);
  made->inputs = infos_of(made->session->inputs());
  made->outputs = infos_of(made->session->outputs());
  *model = made.release();
  return nullptr;
}

}  // namespace
}  // namespace hone::capi

using hone::capi::guarded;
using hone::capi::new_error;

const char* hone_version() { return hone::kVersion; }

int hone_error_kind(const hone_error* error) { return error->kind; }
const char* hone_error_message(const hone_error* error) { return error->message.c_str(); }
void hone_error_destroy(hone_error* error) { delete error; }

hone_options* hone_options_create() { return new (std::nothrow) hone_options; }
void hone_options_destroy(hone_options* options) { delete options; }

hone_error* hone_options_set(hone_options* options, const char* key, const char* value) {
  return guarded([&]() -> hone_error* {
    const hone::Result<void> set = hone::set_option(options->options, key, value);
    return set ? nullptr : new_error(set.error());
  });
}

hone_error* hone_compile_file(const char* path, const hone_options* options, hone_model** model) {
  return guarded([&] {
    *model = nullptr;
    return hone::capi::give_model(hone::open_session(path, hone::capi::options_of(options)), model);
  });
}

hone_error* hone_compile_memory(const void* bytes, size_t size, const hone_options* options,
                                hone_model** model) {
  return guarded([&] {
    *model = nullptr;
    const std::span memory(static_cast<const std::byte*>(bytes), size);
    return hone::capi::give_model(
        hone::open_session_bytes(memory, nullptr, hone::capi::options_of(options)), model);
  });
}

void hone_model_destroy(hone_model* model) { delete model; }

size_t hone_model_input_count(const hone_model* model) { return model->inputs.size(); }
size_t hone_model_output_count(const hone_model* model) { return model->outputs.size(); }

const hone_value_info* hone_model_input(const hone_model* model, size_t index) {
  return hone::capi::info_at(model->inputs, index);
}
const hone_value_info* hone_model_output(const hone_model* model, size_t index) {
  return hone::capi::info_at(model->outputs, index);
}
