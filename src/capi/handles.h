// What the opaque types of the C interface are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hone/hone.h>

#include "driver/open.h"

struct hone_error {
  int kind;
  std::string message;
};

struct hone_options {
  hone::OpenOptions options;
};

struct hone_result {
  std::vector<hone::Buffer> buffers;  // empty after hone_model_plan
  std::vector<std::vector<int64_t>> dims;
  std::vector<hone_tensor> tensors;
};

namespace hone::capi {

// A value's description with the memory it points to.
struct ValueInfo {
  explicit ValueInfo(const InterfaceValue& value);
  ValueInfo(const ValueInfo&) = delete;
  ValueInfo& operator=(const ValueInfo&) = delete;

  std::string name, type;
  std::vector<int64_t> dims;
  std::vector<std::string> dim_texts;
  std::vector<const char*> dim_names;
  hone_value_info info{};
};

hone_error* new_error(int kind, std::string message);
hone_error* new_error(const Errors& errors);
hone_error* new_error(const Error& error);

// Runs the body; what it throws becomes an error, because nothing may leave a C function.
template <typename Body>
hone_error* guarded(Body body) noexcept {
  try {
    return body();
  } catch (const Failure& failure) {
    return new_error(failure.error);
  } catch (const std::bad_alloc&) {
    return new_error(HONE_ERROR_SYSTEM, "out of memory");
  } catch (const std::exception& error) {
    return new_error(HONE_ERROR_INTERNAL, error.what());
  }
}

}  // namespace hone::capi

struct hone_model {
  std::unique_ptr<hone::Session> session;
  std::vector<std::unique_ptr<hone::capi::ValueInfo>> inputs, outputs;
};
