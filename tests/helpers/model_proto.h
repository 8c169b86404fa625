// Small ONNX models, written by hand in tests of import and export.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "onnx/import.h"
#include "onnx/onnx_pb.h"

namespace hone::test {

using ProtoDim = std::variant<int, std::string>;  // "" has neither value nor name

inline onnx::ModelProto empty_model(int opset = 17, int ir_version = 8) {
  onnx::ModelProto model;
  model.set_ir_version(ir_version);
  model.add_opset_import()->set_version(opset);
  model.mutable_graph()->set_name("main");
  return model;
}

inline void set_type(onnx::TypeProto& type, const std::vector<ProtoDim>& dims,
                     int element = onnx::TensorProto::FLOAT) {
  type.mutable_tensor_type()->set_elem_type(element);
  auto* shape = type.mutable_tensor_type()->mutable_shape();
  for (const ProtoDim& dim : dims) {
    auto* out = shape->add_dim();
    if (const int* number = std::get_if<int>(&dim)) {
      out->set_dim_value(*number);
    } else if (!std::get<std::string>(dim).empty()) {
      out->set_dim_param(std::get<std::string>(dim));
    }
  }
}

inline void add_input(onnx::GraphProto& graph, const std::string& name,
                      const std::vector<ProtoDim>& dims, int element = onnx::TensorProto::FLOAT) {
  auto* info = graph.add_input();
  info->set_name(name);
  set_type(*info->mutable_type(), dims, element);
}

inline void add_output(onnx::GraphProto& graph, const std::string& name,
                       const std::vector<ProtoDim>& dims, int element = onnx::TensorProto::FLOAT) {
  auto* info = graph.add_output();
  info->set_name(name);
  set_type(*info->mutable_type(), dims, element);
}

inline onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& op,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::string& name = {}) {
  auto* node = graph.add_node();
  node->set_op_type(op);
  for (const auto& input : inputs) node->add_input(input);
  for (const auto& output : outputs) node->add_output(output);
  if (!name.empty()) node->set_name(name);
  return *node;
}

inline onnx::TensorProto& add_floats(onnx::GraphProto& graph, const std::string& name,
                                     const std::vector<int64_t>& dims,
                                     const std::vector<float>& values, bool raw = true) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : dims) tensor->add_dims(dim);
  if (raw) {
    tensor->set_raw_data(values.data(), values.size() * sizeof(float));
  } else {
    tensor->mutable_float_data()->Add(values.begin(), values.end());
  }
  return *tensor;
}

// y = Relu(x + w), x: f32[N, 3]
inline onnx::ModelProto small_model() {
  onnx::ModelProto model = empty_model();
  auto& graph = *model.mutable_graph();
  add_input(graph, "x", {"N", 3});
  add_floats(graph, "w", {3}, {1, 2, 3});
  add_node(graph, "Add", {"x", "w"}, {"h"}, "add");
  add_node(graph, "Relu", {"h"}, {"y"}, "relu");
  add_output(graph, "y", {"N", 3});
  return model;
}

// A folder of its own that disappears at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "hone-test-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = path;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline const OperatorTable& standard_table() {
  static const OperatorTable table = OperatorTable::standard();
  return table;
}

inline Results<Model> import_proto(const onnx::ModelProto& model, const std::string& directory = {},
                                   const ImportOptions& options = {}) {
  auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
  return import_onnx_bytes(std::as_bytes(std::span(bytes->data(), bytes->size())), bytes, directory,
                           standard_table(), options);
}

// All messages in lines; empty when it succeeded.
inline std::string errors_of(const Results<Model>& model) {
  std::string text;
  if (!model)
    for (const Error& error : model.error()) text += error.to_string() + "\n";
  return text;
}

}  // namespace hone::test
