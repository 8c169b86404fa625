#include <gtest/gtest.h>

#include "helpers/model_proto.h"
#include "helpers/node_cases.h"
#include "onnx/export.h"

namespace hone::test {
namespace {

// Every model that ONNX's node cases hold comes back equal from a file that hone wrote.
TEST(RoundTrip, NodeCasesComeBackEqual) {
  const TempFolder folder;
  const std::string path = folder.file("out.onnx");
  const OperatorTable& table = standard_table();
  size_t count = 0;
  for (const std::string& name : case_names()) {
    const Results<Model> model = import_onnx(cases_folder() + "/" + name + "/model.onnx", table);
    if (!model) continue;  // the node cases themselves say why
    const auto done = export_onnx(*model, path);
    ASSERT_TRUE(done) << name << ": " << done.error().to_string();
    const Results<Model> again = import_onnx(path, table);
    ASSERT_TRUE(again) << name << ": " << errors_of(again);
    EXPECT_TRUE(equal(model->graph, again->graph)) << name;
    ++count;
  }
  EXPECT_GE(count, 1800U);
}

}  // namespace
}  // namespace hone::test
