// Models that must be refused, each with a message that says where, why and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "helpers/model_proto.h"
#include "onnx/import.h"

namespace hone::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string errors_for(const onnx::ModelProto& model, const std::string& directory = {}) {
  const Results<Model> result = import_proto(model, directory);
  return result ? "imported" : errors_of(result);
}

std::string errors_for_bytes(const std::string& bytes) {
  const auto result = import_onnx_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())),
                                        nullptr, {}, standard_table());
  return result ? "imported" : errors_of(result);
}

TEST(OnnxErrors, MissingFile) {
  const auto result = import_onnx("/nonexistent/model.onnx", standard_table());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error()[0].kind, ErrorKind::kSystem);
  EXPECT_THAT(errors_of(result),
              AllOf(HasSubstr("/nonexistent/model.onnx"), HasSubstr("No such file")));
}

TEST(OnnxErrors, NotAFile) {
  const auto result = import_onnx("/tmp", standard_table());
  EXPECT_THAT(errors_of(result), HasSubstr("not a regular file"));
}

TEST(OnnxErrors, NotAModel) {
  EXPECT_THAT(errors_for_bytes(""), HasSubstr("not an ONNX model"));
  EXPECT_THAT(errors_for_bytes("hello, this is text"), HasSubstr("protobuf"));
  EXPECT_THAT(errors_for_bytes(std::string(1000, '\xff')), HasSubstr("protobuf"));
}

// Every prefix and every single damaged byte of a model is refused or read, never a crash.
TEST(OnnxErrors, DamagedBytes) {
  const std::string bytes = small_model().SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size) (void)errors_for_bytes(bytes.substr(0, size));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      (void)errors_for_bytes(damaged);
    }
  }
}

TEST(OnnxErrors, DeepNesting) {
  // A graph in an attribute of a node in a graph, and so on.
  std::string graph;
  const auto field = [](int number, const std::string& value) {
    std::string out(1, static_cast<char>(number << 3 | 2));
    size_t size = value.size();
    for (; size >= 0x80; size >>= 7) out.push_back(static_cast<char>(size | 0x80));
    out.push_back(static_cast<char>(size));
    return out + value;
  };
  for (int i = 0; i < 5000; ++i) graph = field(1, field(5, field(6, graph)));
  EXPECT_THAT(errors_for_bytes(field(7, graph)), HasSubstr("nested too deep"));
}

TEST(OnnxErrors, Versions) {
  onnx::ModelProto model = small_model();
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_THAT(errors_for(model), AllOf(HasSubstr("opset 6"), HasSubstr("convert_version")));
  model.mutable_opset_import(0)->set_version(1000);
  EXPECT_THAT(errors_for(model), AllOf(HasSubstr("opset 1000"), HasSubstr("older opset")));
  model.mutable_opset_import(0)->set_version(17);
  model.set_ir_version(99);
  EXPECT_THAT(errors_for(model), HasSubstr("IR version 99"));
}

TEST(OnnxErrors, AllProblemsAreListed) {
  onnx::ModelProto model = small_model();
  auto& graph = *model.mutable_graph();
  graph.mutable_node(0)->set_input(1, "nowhere");
  add_node(graph, "Relu", {"h"}, {"y"}, "again");
  add_output(graph, "missing", {1});
  const std::string errors = errors_for(model);
  EXPECT_THAT(errors, HasSubstr("node 'add' (Add): reads 'nowhere', which nothing computes"));
  EXPECT_THAT(errors, HasSubstr("node 'again' (Relu): computes 'y', which is computed"));
  EXPECT_THAT(errors, HasSubstr("output 'missing': is computed by no node"));
}

TEST(OnnxErrors, CyclesAndUnsortedNodes) {
  onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_node(0)->set_input(1, "y");
  EXPECT_THAT(
      errors_for(model),
      AllOf(HasSubstr("node 'add' (Add): reads 'y' before it is computed"), HasSubstr("cycle")));
}

TEST(OnnxErrors, SchemaViolationsNameTheNode) {
  onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_node(1)->add_input("x");
  model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOperator");
  const std::string errors = errors_for(model);
  EXPECT_THAT(errors, HasSubstr("node 'relu' (Relu)"));
  EXPECT_THAT(errors, HasSubstr("node 'add' (NoSuchOperator)"));
}

TEST(OnnxErrors, WrongTypesNameTheNode) {
  onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, 1);
  EXPECT_THAT(errors_for(model), HasSubstr("'w'"));  // 12 bytes are no f32[1]
  model = small_model();
  auto& weights = *model.mutable_graph()->mutable_initializer(0);
  weights.set_dims(0, 4);
  weights.set_raw_data(std::string(16, '\0'));
  EXPECT_THAT(errors_for(model), HasSubstr("node 'add' (Add)"));  // [N, 3] + [4]
}

TEST(OnnxErrors, ImpossibleDimensions) {
  onnx::ModelProto model = small_model();
  auto* dim = model.mutable_graph()
                  ->mutable_input(0)
                  ->mutable_type()
                  ->mutable_tensor_type()
                  ->mutable_shape()
                  ->mutable_dim(0);
  dim->set_dim_value(-5);
  EXPECT_THAT(errors_for(model), AllOf(HasSubstr("input 'x'"), HasSubstr("negative dimension")));
  dim->set_dim_value(INT64_MAX);
  EXPECT_THAT(errors_for(model), AllOf(HasSubstr("input 'x'"), HasSubstr("too many elements")));
  model = small_model();
  auto& weights = *model.mutable_graph()->mutable_initializer(0);
  weights.set_dims(0, -3);
  EXPECT_THAT(errors_for(model), HasSubstr("'w'"));
  weights.set_dims(0, INT64_MAX);
  EXPECT_THAT(errors_for(model), HasSubstr("'w'"));
  weights.clear_raw_data();  // no memory is asked for before the data is there
  EXPECT_THAT(errors_for(model), HasSubstr("'w'"));
}

TEST(OnnxErrors, RecursiveAndExplodingFunctions) {
  onnx::ModelProto model = small_model();
  auto* import = model.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto& node = *model.mutable_graph()->mutable_node(1);
  node.set_domain("local");
  node.set_op_type("f0");
  for (int i = 0; i < 60; ++i) {
    auto* function = model.add_functions();
    function->set_name("f" + std::to_string(i));
    function->set_domain("local");
    function->add_input("a");
    function->add_output("c");
    function->add_opset_import()->set_version(17);
    auto* local = function->add_opset_import();
    local->set_domain("local");
    local->set_version(1);
    for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "c")}) {
      auto* call = function->add_node();
      call->set_op_type(i == 59 ? "Relu" : "f" + std::to_string(i + 1));
      if (i != 59) call->set_domain("local");
      call->add_input(from);
      call->add_output(to);
    }
  }
  EXPECT_THAT(errors_for(model), HasSubstr("more than 4000000 nodes"));
  auto* last = model.mutable_functions(59)->mutable_node(0);
  last->set_op_type("f0");
  last->set_domain("local");
  EXPECT_THAT(errors_for(model), HasSubstr("Cycle"));
}

// External data.
class ExternalData : public testing::Test {
 protected:
  // `w` of small_model in the file `location`.
  onnx::ModelProto model(const std::string& location, const std::string& offset = "0",
                         const std::string& length = "12") {
    onnx::ModelProto proto = small_model();
    auto& tensor = *proto.mutable_graph()->mutable_initializer(0);
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, text] : {std::pair<std::string, std::string>("location", location),
                                    {"offset", offset},
                                    {"length", length}}) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(text);
    }
    return proto;
  }
  std::string errors(const onnx::ModelProto& proto) {
    return errors_for(proto, (folder_.path() / "model").string());
  }
  void SetUp() override {
    fs::create_directory(folder_.path() / "model");
    write_file(folder_.file("model/w.bin"), std::string(20, 'w'));
    write_file(folder_.file("secret.bin"), std::string(20, 's'));
  }
  TempFolder folder_;
};

TEST_F(ExternalData, IsReadInsideTheFolder) {
  EXPECT_EQ(errors(model("w.bin")), "imported");
  EXPECT_EQ(errors(model("./w.bin", "8")), "imported");
}

TEST_F(ExternalData, MustNotLeaveTheFolder) {
  fs::create_symlink("../secret.bin", folder_.path() / "model/link.bin");
  fs::create_directory_symlink("..", folder_.path() / "model/up");
  for (const std::string& location :
       {std::string("../secret.bin"), folder_.file("secret.bin"), std::string("x/../../secret.bin"),
        std::string("link.bin"), std::string("up/secret.bin"), std::string("w.bin\0x", 7)})
    EXPECT_THAT(errors(model(location)), AllOf(HasSubstr("'w'"), HasSubstr("the model's folder")))
        << location;
}

TEST_F(ExternalData, MustExistAndSuffice) {
  EXPECT_THAT(errors(model("none.bin")), HasSubstr("'none.bin' is missing"));
  EXPECT_THAT(errors(model("")), HasSubstr("no location"));
  EXPECT_THAT(errors(model("w.bin", "9")), HasSubstr("ends beyond the file"));
  EXPECT_THAT(errors(model("w.bin", "18446744073709551615")), HasSubstr("ends beyond the file"));
  EXPECT_THAT(errors(model("w.bin", "0", "8")), HasSubstr("12 are needed"));
  EXPECT_THAT(errors(model("w.bin", "-1")), HasSubstr("no number"));
  EXPECT_THAT(errors(model("w.bin", "1e3")), HasSubstr("no number"));
  EXPECT_THAT(errors(model(".")), HasSubstr("'w'"));
}

// Download caches keep model and data as links into one folder.
TEST_F(ExternalData, FollowsLinksThatTheModelItselfFollows) {
  fs::create_directory(folder_.path() / "blobs");
  fs::create_directory(folder_.path() / "snapshot");
  write_file(folder_.file("blobs/m"), model("w.bin").SerializeAsString());
  write_file(folder_.file("blobs/d"), std::string(12, 'd'));
  fs::create_symlink("../blobs/m", folder_.path() / "snapshot/model.onnx");
  fs::create_symlink("../blobs/d", folder_.path() / "snapshot/w.bin");
  const auto result = import_onnx(folder_.file("snapshot/model.onnx"), standard_table());
  EXPECT_TRUE(result) << errors_of(result);
}

TEST_F(ExternalData, MayBeMissingForInspection) {
  const Results<Model> result = import_proto(model("none.bin"), {}, {.allow_missing_data = true});
  EXPECT_TRUE(result) << errors_of(result);
}

}  // namespace
}  // namespace hone::test
