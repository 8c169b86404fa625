// The extension module hone._hone: the C interface with Python's buffers. Everything that is more
// than that is written in Python, in hone/__init__.py.
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <hone/hone.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace {

// Raised as hone.Error.
struct HoneError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void check(hone_error* error) {
  if (error == nullptr) return;
  const std::string message = hone_error_message(error);
  hone_error_destroy(error);
  throw HoneError(message);
}

// Contiguous memory of a Python object, held while this lives.
class Memory {
 public:
  Memory(nb::handle object, bool writable) {
    const int flags = PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&buffer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] const Py_buffer& get() const { return buffer_; }

 private:
  Py_buffer buffer_{};
};

// A list of (element type, array) as tensors. None is an input that takes its default.
class Tensors {
 public:
  Tensors(const nb::list& arrays, bool writable) {
    for (const nb::handle entry : arrays) {
      if (entry.is_none()) {
        tensors_.push_back({});
        continue;
      }
      const auto pair = nb::cast<std::pair<int, nb::object>>(entry);
      memory_.push_back(std::make_unique<Memory>(pair.second, writable));
      const Py_buffer& buffer = memory_.back()->get();
      static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
      tensors_.push_back(
          {pair.first, buffer.ndim, reinterpret_cast<const int64_t*>(buffer.shape), buffer.buf});
    }
  }
  [[nodiscard]] const hone_tensor* data() const { return tensors_.data(); }
  [[nodiscard]] size_t size() const { return tensors_.size(); }

 private:
  std::vector<std::unique_ptr<Memory>> memory_;
  std::vector<hone_tensor> tensors_;
};

using OptionList = std::vector<std::pair<std::string, std::string>>;

class Options {
 public:
  explicit Options(const OptionList& list) : options_(hone_options_create()) {
    if (!options_) throw std::bad_alloc();
    for (const auto& [key, value] : list)
      check(hone_options_set(options_.get(), key.c_str(), value.c_str()));
  }
  [[nodiscard]] const hone_options* get() const { return options_.get(); }

 private:
  struct Deleter {
    void operator()(hone_options* options) const { hone_options_destroy(options); }
  };
  std::unique_ptr<hone_options, Deleter> options_;
};

nb::tuple description(const hone_value_info& info) {
  nb::object shape = nb::none();
  if (info.rank >= 0) {
    nb::list dims;
    for (int32_t i = 0; i < info.rank; ++i) {
      if (info.dims[i] >= 0)
        dims.append(info.dims[i]);
      else
        dims.append(nb::str(info.dim_names[i]));
    }
    shape = nb::tuple(dims);
  }
  return nb::make_tuple(nb::str(info.name), info.element_type, shape, info.has_default != 0,
                        nb::str(info.type));
}

std::string take_text(char* text) {
  std::string copy = text;
  hone_string_destroy(text);
  return copy;
}

class Model {
 public:
  // The caller owns the result.
  static Model* from_file(const std::string& path, const OptionList& list) {
    const Options options(list);
    auto model = std::make_unique<Model>();
    hone_error* error = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      error = hone_compile_file(path.c_str(), options.get(), &model->model_);
    }
    check(error);
    return model.release();
  }

  // The bytes are borrowed for the life of the model.
  static Model* from_bytes(const nb::object& bytes, const OptionList& list) {
    const Options options(list);
    auto model = std::make_unique<Model>();
    model->bytes_ = std::make_unique<Memory>(bytes, false);
    const Py_buffer& memory = model->bytes_->get();
    hone_error* error = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      error = hone_compile_memory(memory.buf, static_cast<size_t>(memory.len), options.get(),
                                  &model->model_);
    }
    check(error);
    return model.release();
  }

  Model() = default;
  ~Model() { hone_model_destroy(model_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  [[nodiscard]] nb::list inputs() const {
    nb::list list;
    for (size_t i = 0; i < hone_model_input_count(model_); ++i)
      list.append(description(*hone_model_input(model_, i)));
    return list;
  }
  [[nodiscard]] nb::list outputs() const {
    nb::list list;
    for (size_t i = 0; i < hone_model_output_count(model_); ++i)
      list.append(description(*hone_model_output(model_, i)));
    return list;
  }

  // [(element type, shape)] of the outputs for such inputs.
  nb::list plan(const nb::list& inputs) {
    const Tensors in(inputs, false);
    hone_result* result = nullptr;
    hone_error* error = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      error = hone_model_plan(model_, in.data(), in.size(), &result);
    }
    check(error);
    const std::unique_ptr<hone_result, void (*)(hone_result*)> owner(result, hone_result_destroy);
    nb::list list;
    for (size_t i = 0; i < hone_result_count(result); ++i) {
      const hone_tensor& tensor = *hone_result_tensor(result, i);
      nb::list dims;
      for (int32_t k = 0; k < tensor.rank; ++k) dims.append(tensor.dims[k]);
      list.append(nb::make_tuple(tensor.element_type, nb::tuple(dims)));
    }
    return list;
  }

  void run(const nb::list& inputs, const nb::list& outputs) {
    const Tensors in(inputs, false);
    const Tensors out(outputs, true);
    hone_error* error = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      error = hone_model_run(model_, in.data(), in.size(), out.data(), out.size());
    }
    check(error);
  }

  std::string profile(const nb::list& inputs, int runs) {
    const Tensors in(inputs, false);
    char* json = nullptr;
    hone_error* error = nullptr;
    {
      const nb::gil_scoped_release unlocked;
      error = hone_model_profile(model_, in.data(), in.size(), runs, &json);
    }
    check(error);
    return take_text(json);
  }

  [[nodiscard]] std::string report() const {
    char* json = nullptr;
    check(hone_model_report(model_, &json));
    return take_text(json);
  }

 private:
  std::unique_ptr<Memory> bytes_;
  hone_model* model_ = nullptr;
};

}  // namespace

NB_MODULE(_hone, module) {
  nb::set_leak_warnings(false);
  nb::exception<HoneError>(module, "Error");
  module.def("version", [] { return std::string(hone_version()); });
  nb::class_<Model>(module, "Model")
      .def_static("from_file", &Model::from_file)
      .def_static("from_bytes", &Model::from_bytes)
      .def("inputs", &Model::inputs)
      .def("outputs", &Model::outputs)
      .def("plan", &Model::plan)
      .def("run", &Model::run)
      .def("profile", &Model::profile)
      .def("report", &Model::report);
}
