#include "onnx/import.h"

#include <gtest/gtest.h>

#include "graph/interpreter.h"
#include "helpers/model_proto.h"
#include "ops/onnx_types.h"

namespace hone::test {
namespace {

const Value& value(const Model& model, const std::string& name) {
  const auto id = model.graph.find_value(name);
  if (!id) throw std::runtime_error("no value " + name);
  return model.graph.value(*id);
}

TEST(Import, KeepsNamesTypesAndVersions) {
  onnx::ModelProto proto = small_model();
  proto.set_producer_name("someone");
  proto.set_doc_string("a model");
  auto* entry = proto.add_metadata_props();
  entry->set_key("author");
  entry->set_value("me");
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opsets.at(""), 17);
  EXPECT_EQ(model->producer_name, "someone");
  EXPECT_EQ(model->doc, "a model");
  EXPECT_EQ(model->metadata.at("author"), "me");
  ASSERT_EQ(model->graph.inputs().size(), 1U);
  EXPECT_EQ(model->graph.value(model->graph.inputs()[0]).type.to_string(), "f32[N, 3]");
  ASSERT_EQ(model->graph.order().size(), 2U);
  EXPECT_EQ(model->graph.node(model->graph.order()[0]).label(), "node 'add' (Add)");
  EXPECT_EQ(model->graph.node(model->graph.order()[0]).opset, 17);
  EXPECT_EQ(value(*model, "y").type.to_string(), "f32[N, 3]");
}

TEST(Import, BorrowsRawDataFromTheFile) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {1 << 16});
  add_floats(graph, "w", {1 << 16}, std::vector<float>(1 << 16, 2.5F));
  add_node(graph, "Add", {"x", "w"}, {"y"});
  add_output(graph, "y", {1 << 16});
  const auto bytes = std::make_shared<const std::string>(proto.SerializeAsString());
  const auto span = std::as_bytes(std::span(bytes->data(), bytes->size()));
  const Results<Model> model = import_onnx_bytes(span, bytes, {}, standard_table());
  ASSERT_TRUE(model) << errors_of(model);
  const Buffer& weights = value(*model, "w").constant;
  EXPECT_GE(weights.data(), span.data());
  EXPECT_LT(weights.data(), span.data() + span.size());
  EXPECT_EQ(weights.aligned().as<float>()[77], 2.5F);
}

TEST(Import, OpenDimensionsGetNamesThatDiffer) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {"", "", 4});
  add_node(graph, "Relu", {"x"}, {"y"});
  add_output(graph, "y", {"", "", 4});
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  const Shape& shape = *value(*model, "x").type.shape;
  EXPECT_FALSE(shape[0].is_const());
  EXPECT_NE(shape[0], shape[1]);
  EXPECT_EQ(*value(*model, "y").type.shape, shape);
}

struct TypedTensor {
  onnx::TensorProto::DataType type;
  std::vector<int> ints;
  std::vector<int64_t> expected;
};

TEST(Import, DecodesTypedFields) {
  const std::vector<TypedTensor> cases = {
      {onnx::TensorProto::INT8, {-1, 127}, {-1, 127}},
      {onnx::TensorProto::UINT16, {65535, 1}, {65535, 1}},
      {onnx::TensorProto::BOOL, {1, 7}, {1, 1}},
      {onnx::TensorProto::INT4, {0x8f}, {-1, -8}},
      {onnx::TensorProto::UINT4, {0x8f}, {15, 8}},
      {onnx::TensorProto::FLOAT16, {0x3c00, 0x4000}, {1, 2}},
  };
  for (const TypedTensor& c : cases) {
    onnx::ModelProto proto = empty_model(21, 10);
    auto& graph = *proto.mutable_graph();
    auto* tensor = graph.add_initializer();
    tensor->set_name("c");
    tensor->set_data_type(c.type);
    tensor->add_dims(2);
    for (const int v : c.ints) tensor->add_int32_data(v);
    add_output(graph, "c", {2}, c.type);
    const Results<Model> model = import_proto(proto);
    ASSERT_TRUE(model) << errors_of(model);
    const Buffer& data = value(*model, "c").constant;
    EXPECT_EQ(onnx_number(data.type()), c.type);
    for (int64_t i = 0; i < 2; ++i)
      EXPECT_EQ(data.as_int(i), c.expected[static_cast<size_t>(i)]) << name_of(data.type());
  }
}

TEST(Import, ConstantNodesBecomeConstants) {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "x", {2, 3});
  auto& node = add_node(graph, "Constant", {}, {"shape"}, "c");
  auto* attribute = node.add_attribute();
  attribute->set_name("value_ints");
  attribute->set_type(onnx::AttributeProto::INTS);
  attribute->add_ints(3);
  attribute->add_ints(2);
  add_node(graph, "Reshape", {"x", "shape"}, {"y"});
  add_output(graph, "y", {3, 2});
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  EXPECT_EQ(model->graph.order().size(), 1U);
  EXPECT_EQ(value(*model, "shape").kind, Value::Kind::kConstant);
  EXPECT_EQ(value(*model, "y").type.to_string(), "f32[3, 2]");
}

TEST(Import, InitializersOfOldFilesAreConstantsAndOfNewOnesDefaults) {
  for (const int ir_version : {3, 8}) {
    onnx::ModelProto proto = small_model();
    proto.set_ir_version(ir_version);
    proto.mutable_opset_import(0)->set_version(8);
    add_input(*proto.mutable_graph(), "w", {3});
    const Results<Model> model = import_proto(proto);
    ASSERT_TRUE(model) << errors_of(model);
    EXPECT_EQ(value(*model, "w").kind,
              ir_version == 3 ? Value::Kind::kConstant : Value::Kind::kInput);
    EXPECT_FALSE(value(*model, "w").constant.empty_handle());
  }
}

TEST(Import, UnknownDomainsStayAsTheyAre) {
  onnx::ModelProto proto = small_model();
  auto* import = proto.add_opset_import();
  import->set_domain("com.example");
  import->set_version(3);
  auto& node = *proto.mutable_graph()->mutable_node(1);
  node.set_domain("com.example");
  node.set_op_type("Frobnicate");
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  const Node& unknown = model->graph.node(model->graph.order()[1]);
  EXPECT_EQ(unknown.full_op(), "com.example::Frobnicate");
  EXPECT_EQ(unknown.opset, 3);
  EXPECT_EQ(unknown.def, nullptr);
  EXPECT_EQ(value(*model, "y").type.to_string(), "f32[N, 3]");
}

// A branch reads a value of the graph around it.
onnx::ModelProto model_with_if() {
  onnx::ModelProto proto = empty_model();
  auto& graph = *proto.mutable_graph();
  add_input(graph, "c", {}, onnx::TensorProto::BOOL);
  add_input(graph, "x", {2});
  auto& node = add_node(graph, "If", {"c"}, {"y"}, "choose");
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto* attribute = node.add_attribute();
    attribute->set_name(branch);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto& body = *attribute->mutable_g();
    body.set_name(branch);
    const bool is_then = std::string(branch) == "then_branch";
    add_node(body, is_then ? "Neg" : "Abs", {"x"}, {std::string(branch) + "_y"});
    add_output(body, std::string(branch) + "_y", {2});
  }
  add_output(graph, "y", {2});
  return proto;
}

TEST(Import, SubgraphsReadOuterValues) {
  const Results<Model> model = import_proto(model_with_if());
  ASSERT_TRUE(model) << errors_of(model);
  const Node& node = model->graph.node(model->graph.order()[0]);
  ASSERT_EQ(node.captures.size(), 1U);
  EXPECT_EQ(model->graph.value(node.captures[0]).name, "x");
  const auto body = std::get<std::shared_ptr<const Graph>>(node.attributes.at("then_branch"));
  const auto outer = body->find_value("x");
  ASSERT_TRUE(outer);
  EXPECT_EQ(body->value(*outer).kind, Value::Kind::kOuter);
  EXPECT_EQ(body->value(body->outputs()[0]).type.to_string(), "f32[2]");
  const std::vector<float> x = {-1, 2};
  for (const uint8_t condition : {0, 1}) {
    const std::vector<Buffer> inputs = {
        Buffer::of<uint8_t>(ElementType::kBool, {}, std::span(&condition, 1)),
        Buffer::of<float>(ElementType::kF32, {2}, x)};
    const auto outputs = interpret(model->graph, inputs);
    ASSERT_TRUE(outputs) << outputs.error().to_string();
    EXPECT_EQ((*outputs)[0].as<float>()[1], condition != 0 ? -2.F : 2.F);
  }
}

TEST(Import, LocalFunctionsAreInlined) {
  onnx::ModelProto proto = small_model();
  auto* import = proto.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto* function = proto.add_functions();
  function->set_name("Twice");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(17);
  auto* body = function->add_node();
  body->set_op_type("Add");
  body->add_input("a");
  body->add_input("a");
  body->add_output("b");
  auto& node = *proto.mutable_graph()->mutable_node(1);
  node.set_domain("local");
  node.set_op_type("Twice");
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  EXPECT_TRUE(model->functions.empty());
  EXPECT_EQ(model->graph.node(model->graph.order()[1]).op, "Add");
}

// Functions of another opset than the model's cannot be inlined; they are expanded instead.
TEST(Import, FunctionsOfOtherOpsetsKeepTheirMeaning) {
  onnx::ModelProto proto = small_model();
  auto* import = proto.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto* function = proto.add_functions();
  function->set_name("Negated");
  function->set_domain("local");
  function->add_input("a");
  function->add_output("b");
  function->add_opset_import()->set_version(14);
  auto* body = function->add_node();
  body->set_op_type("Neg");
  body->add_input("a");
  body->add_output("b");
  auto& node = *proto.mutable_graph()->mutable_node(1);
  node.set_domain("local");
  node.set_op_type("Negated");
  const Results<Model> model = import_proto(proto);
  ASSERT_TRUE(model) << errors_of(model);
  const Node& call = model->graph.node(model->graph.order()[1]);
  EXPECT_EQ(model->functions.size(), 1U);
  ASSERT_NE(call.expansion, nullptr);
  EXPECT_EQ(call.expansion->node(call.expansion->order()[0]).opset, 14);
}

}  // namespace
}  // namespace hone::test
