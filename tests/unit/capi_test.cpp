#include <array>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hone/hone.h>

#include "helpers/model_proto.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

template <auto kDestroy>
struct Deleter {
  template <typename T>
  void operator()(T* handle) const {
    kDestroy(handle);
  }
};
using ModelHandle = std::unique_ptr<hone_model, Deleter<hone_model_destroy>>;
using OptionsHandle = std::unique_ptr<hone_options, Deleter<hone_options_destroy>>;
using ResultHandle = std::unique_ptr<hone_result, Deleter<hone_result_destroy>>;

std::string message_of(hone_error* error) {
  if (error == nullptr) return "";
  std::string message = hone_error_message(error);
  hone_error_destroy(error);
  return message;
}

// y = relu(x), x: f32[N, 3]
const std::string& relu_bytes() {
  static const std::string kBytes = [] {
    onnx::ModelProto model = test::empty_model();
    test::add_input(*model.mutable_graph(), "x", {"N", 3});
    test::add_output(*model.mutable_graph(), "y", {"N", 3});
    test::add_node(*model.mutable_graph(), "Relu", {"x"}, {"y"});
    return model.SerializeAsString();
  }();
  return kBytes;
}

ModelHandle compile_relu() {
  const OptionsHandle options(hone_options_create());
  EXPECT_EQ(hone_options_set(&*options, "engine", "reference"), nullptr);
  hone_model* model = nullptr;
  EXPECT_EQ(
      message_of(hone_compile_memory(relu_bytes().data(), relu_bytes().size(), &*options, &model)),
      "");
  return ModelHandle(model);
}

struct Floats {
  std::array<int64_t, 2> dims = {2, 3};
  std::array<float, 6> data = {-1, 2, -3, 4, -5, 6};
  hone_tensor tensor() { return {HONE_F32, 2, dims.data(), data.data()}; }
};

TEST(CInterface, DescribesTheModel) {
  const ModelHandle model = compile_relu();
  ASSERT_EQ(hone_model_input_count(&*model), 1U);
  const hone_value_info* x = hone_model_input(&*model, 0);
  EXPECT_STREQ(x->name, "x");
  EXPECT_STREQ(x->type, "f32[N, 3]");
  EXPECT_EQ(x->element_type, HONE_F32);
  ASSERT_EQ(x->rank, 2);
  EXPECT_EQ(x->dims[0], -1);
  EXPECT_STREQ(x->dim_names[0], "N");
  EXPECT_EQ(x->dims[1], 3);
  EXPECT_EQ(x->has_default, 0);
  EXPECT_EQ(hone_model_input(&*model, 1), nullptr);
  EXPECT_STREQ(hone_model_output(&*model, 0)->name, "y");
}

TEST(CInterface, RunsIntoTheCallersMemory) {
  const ModelHandle model = compile_relu();
  Floats x, y;
  const hone_tensor in = x.tensor(), out = y.tensor();
  ASSERT_EQ(message_of(hone_model_run(&*model, &in, 1, &out, 1)), "");
  EXPECT_EQ(y.data, (std::array<float, 6>{0, 2, 0, 4, 0, 6}));
}

TEST(CInterface, RunsIntoMemoryOfItsOwn) {
  const ModelHandle model = compile_relu();
  Floats x;
  const hone_tensor in = x.tensor();
  hone_result* made = nullptr;
  ASSERT_EQ(message_of(hone_model_plan(&*model, &in, 1, &made)), "");
  const ResultHandle plan(made);
  ASSERT_EQ(hone_result_count(&*plan), 1U);
  EXPECT_EQ(hone_result_tensor(&*plan, 0)->dims[0], 2);
  EXPECT_EQ(hone_result_tensor(&*plan, 0)->data, nullptr);
  ASSERT_EQ(message_of(hone_model_run_new(&*model, &in, 1, &made)), "");
  const ResultHandle result(made);
  const hone_tensor* y = hone_result_tensor(&*result, 0);
  ASSERT_EQ(y->rank, 2);
  EXPECT_EQ(static_cast<const float*>(y->data)[1], 2);
  EXPECT_EQ(hone_result_tensor(&*result, 1), nullptr);
}

TEST(CInterface, ReportsErrors) {
  const OptionsHandle options(hone_options_create());
  EXPECT_THAT(message_of(hone_options_set(&*options, "speed", "11")), HasSubstr("is not known"));
  EXPECT_THAT(message_of(hone_options_set(&*options, "threads", "x")),
              HasSubstr("'x' is not a number"));
  EXPECT_THAT(message_of(hone_options_set(&*options, "shape:x", "1,,2")),
              HasSubstr("'' is not a number"));
  hone_model* model = nullptr;
  hone_error* error = hone_compile_file("/nowhere/model.onnx", nullptr, &model);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(hone_error_kind(error), HONE_ERROR_SYSTEM);
  EXPECT_THAT(message_of(error), HasSubstr("/nowhere/model.onnx"));
  EXPECT_EQ(model, nullptr);

  const ModelHandle relu = compile_relu();
  Floats x, y;
  hone_tensor in = x.tensor();
  const hone_tensor out = y.tensor();
  in.element_type = HONE_I32;
  EXPECT_THAT(message_of(hone_model_run(&*relu, &in, 1, &out, 1)),
              HasSubstr("is i32[2, 3], but the model expects f32[N, 3]"));
  in.element_type = 77;
  EXPECT_NE(message_of(hone_model_run(&*relu, &in, 1, &out, 1)), "");
  EXPECT_NE(message_of(hone_model_run(&*relu, nullptr, 0, &out, 1)), "");
}

TEST(CInterface, Profiles) {
  const ModelHandle model = compile_relu();
  Floats x;
  const hone_tensor in = x.tensor();
  char* json = nullptr;
  ASSERT_EQ(message_of(hone_model_profile(&*model, &in, 1, 2, &json)), "");
  EXPECT_THAT(json, HasSubstr("\"seconds\""));
  hone_string_destroy(json);
  ASSERT_EQ(message_of(hone_model_report(&*model, &json)), "");
  EXPECT_THAT(json, HasSubstr("\"compiled\":1"));
  hone_string_destroy(json);
}

}  // namespace
}  // namespace hone
