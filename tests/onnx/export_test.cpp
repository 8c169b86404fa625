#include "onnx/export.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "helpers/model_proto.h"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

Model import_file(const std::string& path) {
  Results<Model> model = import_onnx(path, standard_table());
  if (!model) throw std::runtime_error(errors_of(model));
  return *std::move(model);
}

void expect_equal(const Model& a, const Model& b) {
  EXPECT_TRUE(equal(a.graph, b.graph));
  EXPECT_EQ(a.ir_version, b.ir_version);
  EXPECT_EQ(a.opsets, b.opsets);
  EXPECT_EQ(a.producer_name, b.producer_name);
  EXPECT_EQ(a.producer_version, b.producer_version);
  EXPECT_EQ(a.domain, b.domain);
  EXPECT_EQ(a.doc, b.doc);
  EXPECT_EQ(a.model_version, b.model_version);
  EXPECT_EQ(a.metadata, b.metadata);
  EXPECT_EQ(a.functions, b.functions);
  EXPECT_EQ(a.unknown_fields, b.unknown_fields);
}

// Exports, imports again, compares; returns the file's message.
onnx::ModelProto round_trip(const onnx::ModelProto& proto, const ExportOptions& options = {}) {
  const TempFolder folder;
  const Results<Model> model = import_proto(proto, folder.path().string());
  EXPECT_TRUE(model) << errors_of(model);
  onnx::ModelProto written;
  if (!model) return written;
  const std::string path = folder.file("out.onnx");
  const auto done = export_onnx(*model, path, options);
  EXPECT_TRUE(done) << done.error().to_string();
  expect_equal(*model, import_file(path));
  EXPECT_TRUE(written.ParseFromString(read_file(path)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}),
            fs::exists(path + ".data") ? 2 : 1)
      << "temporary files are left";
  return written;
}

TEST(Export, GivesBackTheInterface) {
  onnx::ModelProto proto = small_model();
  proto.set_producer_name("someone");
  proto.set_model_version(7);
  proto.set_doc_string("what it is");
  auto* entry = proto.add_metadata_props();
  entry->set_key("license");
  entry->set_value("MIT");
  proto.mutable_graph()->mutable_node(0)->set_doc_string("adds");
  const onnx::ModelProto written = round_trip(proto);
  for (const auto& [before, after] :
       {std::pair(proto.graph().input(), written.graph().input()),
        std::pair(proto.graph().output(), written.graph().output())}) {
    ASSERT_EQ(before.size(), after.size());
    for (int i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i].SerializeAsString(), after[i].SerializeAsString());
  }
  EXPECT_EQ(written.ir_version(), 8);
  EXPECT_EQ(written.opset_import(0).version(), 17);
  EXPECT_EQ(written.graph().node(0).doc_string(), "adds");
  EXPECT_EQ(written.graph().node(1).name(), "relu");
}

TEST(Export, KeepsOpenDimensionsAndWhatTheOutputDeclares) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {"", "unknown_0_0", "time", 4});
  add_node(graph, "Relu", {"x"}, {"y"});
  // Inference finds the input's shape; the file states other names.
  add_output(graph, "y", {"batch_out", "", "time", 4});
  graph.mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(3)
      ->set_denotation("DATA_CHANNEL");
  const onnx::ModelProto written = round_trip(proto);
  EXPECT_EQ(written.graph().input(0).SerializeAsString(), graph.input(0).SerializeAsString());
  EXPECT_EQ(written.graph().output(0).SerializeAsString(), graph.output(0).SerializeAsString());
}

TEST(Export, WritesExternalDataWhenAsked) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {5000});
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  add_floats(graph, "a", {5000}, values);
  add_floats(graph, "b", {5000}, std::vector<float>(5000, 3));
  add_floats(graph, "tiny", {1}, {3});
  add_node(graph, "Sum", {"x", "a", "b", "tiny"}, {"y"});
  add_output(graph, "y", {5000});
  const onnx::ModelProto written =
      round_trip(proto, {.external = ExportOptions::ExternalData::kAlways});
  ASSERT_EQ(written.graph().initializer_size(), 3);
  const auto& a = written.graph().initializer(0);
  EXPECT_EQ(a.data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(a.external_data(0).value(), "out.onnx.data");
  EXPECT_EQ(a.external_data(2).value(), "20000");
  EXPECT_EQ(std::stoi(written.graph().initializer(1).external_data(1).value()) % 4096, 0);
  EXPECT_FALSE(written.graph().initializer(2).has_data_location());
  // The limit decides by itself.
  const onnx::ModelProto automatic = round_trip(proto, {.external_above = 10000});
  EXPECT_EQ(automatic.graph().initializer(0).data_location(), onnx::TensorProto::EXTERNAL);
}

TEST(Export, AllElementTypesComeBack) {
  onnx::ModelProto proto = empty_model(26, 13);
  auto& graph = *proto.mutable_graph();
  int number = 0;
  for (const auto& [type, bytes] :
       std::vector<std::pair<int, size_t>>{{onnx::TensorProto::FLOAT, 12},
                                           {onnx::TensorProto::UINT8, 3},
                                           {onnx::TensorProto::INT8, 3},
                                           {onnx::TensorProto::UINT16, 6},
                                           {onnx::TensorProto::INT16, 6},
                                           {onnx::TensorProto::INT32, 12},
                                           {onnx::TensorProto::INT64, 24},
                                           {onnx::TensorProto::FLOAT16, 6},
                                           {onnx::TensorProto::DOUBLE, 24},
                                           {onnx::TensorProto::UINT32, 12},
                                           {onnx::TensorProto::UINT64, 24},
                                           {onnx::TensorProto::COMPLEX64, 24},
                                           {onnx::TensorProto::BFLOAT16, 6},
                                           {onnx::TensorProto::FLOAT8E4M3FN, 3},
                                           {onnx::TensorProto::UINT4, 2},
                                           {onnx::TensorProto::INT4, 2},
                                           {onnx::TensorProto::UINT2, 1},
                                           {onnx::TensorProto::FLOAT4E2M1, 2}}) {
    auto* tensor = graph.add_initializer();
    tensor->set_name("c" + std::to_string(number));
    tensor->set_data_type(type);
    tensor->add_dims(3);
    std::string raw;
    for (size_t i = 0; i < bytes; ++i) raw.push_back(static_cast<char>(i * 37 + 11));
    // Bits beyond the last element are zero.
    if (type == onnx::TensorProto::UINT2) raw.back() &= 0x3f;
    if (bytes == 2) raw.back() &= 0x0f;
    tensor->set_raw_data(raw);
    add_output(graph, tensor->name(), {3}, type);
    ++number;
  }
  auto* strings = graph.add_initializer();
  strings->set_name("s");
  strings->set_data_type(onnx::TensorProto::STRING);
  strings->add_dims(2);
  strings->add_string_data("one");
  strings->add_string_data(std::string("t\0wo", 4));
  add_output(graph, "s", {2}, onnx::TensorProto::STRING);
  const onnx::ModelProto written = round_trip(proto);
  ASSERT_EQ(written.graph().initializer_size(), number + 1);
  for (int i = 0; i < number; ++i)
    EXPECT_EQ(written.graph().initializer(i).raw_data(), graph.initializer(i).raw_data()) << i;
}

TEST(Export, SubgraphsAttributesAndOpaquePartsComeBack) {
  onnx::ModelProto proto = empty_model();
  auto* import = proto.add_opset_import();
  import->set_domain("com.example");
  import->set_version(1);
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {2});
  auto& node = add_node(graph, "Frob", {"x", "", "x"}, {"y", "", "z"}, "frob");
  node.set_domain("com.example");
  const auto attribute = [&](const char* name, onnx::AttributeProto::AttributeType type) {
    auto* out = node.add_attribute();
    out->set_name(name);
    out->set_type(type);
    return out;
  };
  attribute("a_float", onnx::AttributeProto::FLOAT)->set_f(0.1F);
  attribute("b_ints", onnx::AttributeProto::INTS)->add_ints(-3);
  attribute("c_strings", onnx::AttributeProto::STRINGS)->add_strings("text");
  auto* tensor = attribute("d_tensor", onnx::AttributeProto::TENSOR)->mutable_t();
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  tensor->add_dims(1);
  tensor->set_raw_data("abcd");
  set_type(*attribute("e_type", onnx::AttributeProto::TYPE_PROTO)->mutable_tp(), {2});
  auto& body = *attribute("f_graph", onnx::AttributeProto::GRAPH)->mutable_g();
  body.set_name("body");
  add_node(body, "Add", {"x", "x"}, {"inner"});
  add_output(body, "inner", {2});
  auto* sparse =
      attribute("g_sparse", onnx::AttributeProto::SPARSE_TENSOR)->mutable_sparse_tensor();
  sparse->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->set_raw_data("efgh");
  sparse->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(0);
  sparse->add_dims(4);
  add_output(graph, "y", {2});
  // Training is nothing to hone, and stays.
  proto.add_training_info()->mutable_initialization()->set_name("init");
  const onnx::ModelProto written = round_trip(proto);
  EXPECT_EQ(written.graph().node(0).SerializeAsString(), node.SerializeAsString());
  ASSERT_EQ(written.training_info_size(), 1);
  EXPECT_EQ(written.training_info(0).initialization().name(), "init");
}

// Data that looks like one of hone's references into a file is data.
TEST(Export, ForgedReferencesAreData) {
  onnx::ModelProto proto = small_model();
  auto* init = proto.add_training_info()->mutable_initialization();
  std::string forged = "hone-ref";
  forged.append(16, '\x7f');
  for (auto* graph : {init, proto.mutable_graph()}) {
    auto* tensor = graph->add_initializer();
    tensor->set_name("forged");
    tensor->set_data_type(onnx::TensorProto::UINT8);
    tensor->add_dims(24);
    tensor->set_raw_data(forged);
  }
  add_output(*proto.mutable_graph(), "forged", {24}, onnx::TensorProto::UINT8);
  const onnx::ModelProto written = round_trip(proto);
  EXPECT_EQ(written.training_info(0).initialization().initializer(0).raw_data(), forged);
  EXPECT_EQ(written.graph().initializer(1).raw_data(), forged);
}

TEST(Export, OldFilesListInitializersAsInputsButNotConstantNodes) {
  onnx::ModelProto proto = small_model();
  proto.set_ir_version(3);
  proto.mutable_opset_import(0)->set_version(8);
  auto& graph = *proto.mutable_graph();
  add_input(graph, "w", {3});
  auto& node = add_node(graph, "Constant", {}, {"k"}, "the constant");
  auto* attribute = node.add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute->mutable_t()->add_float_data(4);
  add_node(graph, "Add", {"y", "k"}, {"z"});
  add_output(graph, "z", {"N", 3});
  const onnx::ModelProto written = round_trip(proto);
  EXPECT_EQ(written.graph().input_size(), 2);
  EXPECT_EQ(written.graph().initializer_size(), 1);
  EXPECT_EQ(written.graph().node(0).op_type(), "Constant");
  EXPECT_EQ(written.graph().node(0).name(), "the constant");
}

TEST(Export, SameModelGivesSameBytes) {
  const TempFolder folder;
  const Results<Model> model = import_proto(small_model());
  ASSERT_TRUE(model);
  ASSERT_TRUE(export_onnx(*model, folder.file("a.onnx")));
  ASSERT_TRUE(export_onnx(*model, folder.file("b.onnx")));
  EXPECT_EQ(read_file(folder.file("a.onnx")), read_file(folder.file("b.onnx")));
}

TEST(Export, FailureLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  onnx::ModelProto proto = small_model();
  add_floats(*proto.mutable_graph(), "big", {1 << 18}, std::vector<float>(1 << 18, 1));
  add_output(*proto.mutable_graph(), "big", {1 << 18});
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  const std::string path = folder.file("out.onnx");
  write_file(path, "precious");
  // A limit on the size of files stands for a full disk.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1 << 16, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto done = export_onnx(*model, path);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kSystem);
  EXPECT_EQ(done.error().where, path);
  EXPECT_EQ(read_file(path), "precious");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(Export, MissingFolderIsAnError) {
  const Results<Model> model = import_proto(small_model());
  ASSERT_TRUE(model);
  const auto done = export_onnx(*model, "/nonexistent/folder/out.onnx");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::kSystem);
}

}  // namespace
}  // namespace hone::test
