// What a user sees who gives hone something wrong: an exit code that tells the kind, one message on
// the error stream that names the place, the reason and the remedy, and no file left behind.
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors/run_hone.h"
#include "onnx/onnx_pb.h"

namespace hone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kUsage = 2;
constexpr int kInvalidInput = 3;
constexpr int kUnsupported = 4;
constexpr int kSystemError = 5;

void set_type(onnx::ValueInfoProto& value, const std::string& name, const std::vector<int>& dims) {
  value.set_name(name);
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
  for (const int dim : dims) {
    auto& proto = *type.mutable_shape()->add_dim();
    // 0 stands for a free dimension.
    if (dim == 0)
      proto.set_dim_param("n");
    else
      proto.set_dim_value(dim);
  }
}

// y = op(x) on f32[n, 3]
onnx::ModelProto model_of(const std::string& op, const std::string& domain = "") {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  if (!domain.empty()) {
    model.add_opset_import()->set_domain(domain);
    model.mutable_opset_import(1)->set_version(1);
  }
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  set_type(*graph.add_input(), "x", {0, 3});
  set_type(*graph.add_output(), "y", {0, 3});
  auto& node = *graph.add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  node.set_name("the node");
  node.add_input("x");
  node.add_output("y");
  return model;
}

std::string bytes_of(const onnx::ModelProto& model) { return model.SerializeAsString(); }

// An .npy file, version 1.
std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
  header += "\n";
  std::string result = "\x93NUMPY";
  result += '\x01';
  result += '\x00';
  result += static_cast<char>(header.size() & 0xff);
  result += static_cast<char>(header.size() >> 8);
  return result + header + data;
}

class CliErrors : public testing::Test {
 protected:
  void SetUp() override { box.write("good.onnx", bytes_of(model_of("Relu"))); }

  // The command fails with this code, says all of `words` in messages, prints no result and leaves
  // the folder as it was.
  void expect_failure(const std::vector<std::string>& arguments, int code,
                      const std::vector<std::string>& words) {
    const std::vector<std::string> before = box.files();
    const Ran ran = box.hone(arguments);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
    for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
    // The command line's own parser speaks for itself.
    EXPECT_TRUE(code == kUsage || ran.err.starts_with("hone: ")) << ran.err;
    EXPECT_THAT(ran.err, Not(HasSubstr("bug in hone")));
    EXPECT_EQ(box.files(), before);
  }

  // The model is read and changed, but the result cannot be written.
  void expect_unwritable(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& words) {
    const std::vector<std::string> before = box.files();
    const Ran ran = box.hone(arguments);
    EXPECT_EQ(ran.code, kSystemError) << ran.out << ran.err;
    EXPECT_THAT(ran.out, Not(HasSubstr("written")));
    for (const std::string& word : words) EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_EQ(box.files(), before);
  }

  // Every command that reads a model.
  void expect_unreadable(const std::string& path, int code, const std::vector<std::string>& words) {
    expect_failure({"inspect", path}, code, words);
    expect_failure({"inspect", path, "--json"}, code, words);
    expect_failure({"optimize", path, "-o", "out.onnx"}, code, words);
    expect_failure({"run", path, "--output-dir", "out"}, code, words);
    expect_failure({"check", "good.onnx", path}, code, words);
    expect_failure({"check", path, "good.onnx"}, code, words);
  }

  Sandbox box;
};

// --- files

TEST_F(CliErrors, MissingFile) {
  expect_unreadable("nowhere.onnx", kSystemError,
                    {"nowhere.onnx", "No such file", "check the path"});
}

TEST_F(CliErrors, DirectoryInsteadOfFile) {
  std::filesystem::create_directory(box.path("folder"));
  expect_unreadable("folder", kSystemError, {"folder", "not a regular file"});
}

TEST_F(CliErrors, UnreadableFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  std::filesystem::permissions(box.path("good.onnx"), std::filesystem::perms::none);
  expect_failure({"inspect", "good.onnx"}, kSystemError, {"good.onnx", "ermission"});
}

TEST_F(CliErrors, EmptyFile) {
  box.write("empty.onnx", "");
  expect_unreadable("empty.onnx", kInvalidInput, {"empty.onnx", "(the file is"});
}

TEST_F(CliErrors, TextFile) {
  box.write("text.onnx", "# This is no model\n\nIt is a README.\n");
  expect_unreadable("text.onnx", kInvalidInput, {"text.onnx", "(the file is"});
}

TEST_F(CliErrors, TruncatedModel) {
  const std::string whole = bytes_of(model_of("Relu"));
  for (size_t size = 1; size < whole.size(); ++size) {
    box.write("part.onnx", whole.substr(0, size));
    const Ran ran = box.hone({"inspect", "part.onnx"});
    EXPECT_EQ(ran.code, kInvalidInput) << size << " of " << whole.size() << ": " << ran.err;
    EXPECT_THAT(ran.err, StartsWith("hone: part.onnx: ")) << size;
    EXPECT_THAT(ran.out, IsEmpty()) << size;
  }
}

// --- models

TEST_F(CliErrors, NodeIsNamed) {
  onnx::ModelProto model = model_of("Transpose");
  auto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("perm");
  attribute.set_type(onnx::AttributeProto::INTS);
  attribute.add_ints(7);
  attribute.add_ints(0);
  box.write("bad.onnx", bytes_of(model));
  expect_unreadable("bad.onnx", kInvalidInput, {"bad.onnx", "the node", "Transpose", "axis 7"});
}

TEST_F(CliErrors, AllProblemsAtOnce) {
  onnx::ModelProto model = model_of("Relu");
  for (int i = 0; i < 3; ++i) {
    auto& node = *model.mutable_graph()->add_node();
    node.set_op_type("Relu");
    node.set_name("wrong" + std::to_string(i));
    node.add_input("nobody" + std::to_string(i));
    node.add_output("z" + std::to_string(i));
  }
  box.write("bad.onnx", bytes_of(model));
  expect_failure({"inspect", "bad.onnx"}, kInvalidInput, {"nobody0", "nobody1", "nobody2"});
}

TEST_F(CliErrors, UnsupportedVersions) {
  onnx::ModelProto model = model_of("Relu");
  model.mutable_opset_import(0)->set_version(5);
  box.write("old.onnx", bytes_of(model));
  expect_unreadable("old.onnx", kUnsupported, {"old.onnx", "opset 5", "version_converter"});
  model.mutable_opset_import(0)->set_version(17);
  model.set_ir_version(999);
  box.write("new.onnx", bytes_of(model));
  expect_unreadable("new.onnx", kUnsupported, {"new.onnx", "IR version 999", "older"});
}

TEST_F(CliErrors, MissingExternalData) {
  onnx::ModelProto model = model_of("Relu");
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(2);
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  model.mutable_graph()->mutable_node(0)->set_input(0, "w");  // what nothing reads is not missed
  box.write("model.onnx", bytes_of(model));
  expect_failure({"run", "model.onnx"}, kInvalidInput,
                 {"model.onnx", "'w'", "weights.bin", "beside the model"});
  entry.set_value("../../etc/passwd");
  box.write("model.onnx", bytes_of(model));
  expect_failure({"run", "model.onnx"}, kInvalidInput, {"model.onnx", "'w'", "../../etc/passwd"});
}

TEST_F(CliErrors, CustomOperatorIsKeptButCannotRun) {
  box.write("custom.onnx", bytes_of(model_of("Magic", "com.example")));
  const Ran inspected = box.hone({"inspect", "custom.onnx"});
  EXPECT_EQ(inspected.code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("com.example::Magic"));
  expect_failure({"run", "custom.onnx"}, kUnsupported, {"the node", "com.example::Magic"});
}

// --- command lines

TEST_F(CliErrors, UnknownSubcommand) {
  expect_failure({"improve", "good.onnx"}, kUsage, {"improve", "--help"});
}

TEST_F(CliErrors, NoSubcommand) { expect_failure({}, kUsage, {"subcommand", "--help"}); }

TEST_F(CliErrors, MissingArguments) {
  expect_failure({"inspect"}, kUsage, {"MODEL", "required"});
  expect_failure({"optimize", "good.onnx"}, kUsage, {"--output", "required"});
  expect_failure({"check", "good.onnx"}, kUsage, {"B", "required"});
}

TEST_F(CliErrors, UnknownOption) {
  expect_failure({"inspect", "good.onnx", "--fast"}, kUsage, {"--fast"});
}

TEST_F(CliErrors, NumbersThatAreNone) {
  expect_failure({"run", "good.onnx", "--seed", "many"}, kUsage, {"--seed", "many"});
  expect_failure({"check", "good.onnx", "good.onnx", "--tolerance", "x"}, kUsage, {"--tolerance"});
}

TEST_F(CliErrors, BadShape) {
  for (const std::string bad : {"x", "x=1,two", "x=-1,3", "x=1,,3", "x=99999999999999999999,3"})
    expect_failure({"run", "good.onnx", "--shape", bad}, kUsage, {"--shape " + bad});
}

TEST_F(CliErrors, ShapeOfNoInput) {
  expect_failure({"run", "good.onnx", "--shape", "q=1,3"}, kUsage, {"--shape", "q", "x"});
}

TEST_F(CliErrors, ShapeThatContradictsTheModel) {
  expect_failure({"run", "good.onnx", "--shape", "x=2,4"}, kInvalidInput, {"x", "f32[n, 3]"});
  expect_failure({"run", "good.onnx", "--shape", "x=2"}, kInvalidInput, {"x", "f32[n, 3]"});
}

TEST_F(CliErrors, BadDim) {
  for (const std::string bad : {"n", "n=two", "n=-3"})
    expect_failure({"run", "good.onnx", "--dim", bad}, kUsage, {"--dim " + bad});
  expect_failure({"run", "good.onnx", "--dim", "m=3"}, kUsage, {"--dim", "m", "n"});
}

TEST_F(CliErrors, ShapeBeyondMemory) {
  expect_failure({"run", "good.onnx", "--dim", "n=4611686018427387904"}, kInvalidInput, {"x"});
  expect_failure({"run", "good.onnx", "--dim", "n=400000000000000"}, kSystemError, {"memory"});
}

TEST_F(CliErrors, UnknownPass) {
  expect_failure({"optimize", "good.onnx", "-o", "out.onnx", "--disable", "magic"}, kUsage,
                 {"--disable", "magic", "fold_constants", "remove_dead_code"});
}

// --- outputs

TEST_F(CliErrors, OutputInNoFolder) {
  expect_unwritable({"optimize", "good.onnx", "-o", "no/such/out.onnx"},
                    {"no/such/out.onnx", "No such file", "check the path"});
}

TEST_F(CliErrors, OutputIsAFolder) {
  std::filesystem::create_directory(box.path("folder"));
  expect_unwritable({"optimize", "good.onnx", "-o", "folder"}, {"folder"});
}

TEST_F(CliErrors, OutputFolderIsReadOnly) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes everywhere";
  std::filesystem::create_directory(box.path("folder"));
  std::filesystem::permissions(box.path("folder"), std::filesystem::perms::owner_read);
  expect_unwritable({"optimize", "good.onnx", "-o", "folder/out.onnx"},
                    {"folder/out.onnx", "ermission"});
}

TEST_F(CliErrors, OutputIsAPipe) {
  // The rename that ends an atomic write would put a file in its place.
  const std::string pipe = box.path("pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_unwritable({"optimize", "good.onnx", "-o", "pipe"}, {"pipe", "regular file"});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(CliErrors, OutputDirIsAFile) {
  expect_failure({"run", "good.onnx", "--output-dir", "good.onnx"}, kSystemError, {"good.onnx"});
}

TEST_F(CliErrors, DumpInNoFolder) {
  expect_unwritable({"optimize", "good.onnx", "-o", "out.onnx", "--dump", "no/such.txt"},
                    {"no/such.txt"});
}

TEST_F(CliErrors, OptimizingOntoTheInputWorks) {
  const Ran ran = box.hone({"optimize", "good.onnx", "-o", "good.onnx"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(box.files(), ElementsAre("good.onnx"));
  EXPECT_EQ(box.hone({"run", "good.onnx"}).code, 0);
}

// --- inputs of a run

TEST_F(CliErrors, InputWithoutFile) {
  expect_failure({"run", "good.onnx", "--input", "x"}, kUsage, {"--input x", "NAME=FILE.npy"});
}

TEST_F(CliErrors, UnknownInputName) {
  box.write("x.npy", npy("<f4", "(1, 3)", std::string(12, '\0')));
  expect_failure({"run", "good.onnx", "--input", "q=x.npy"}, kUsage, {"q", "no such input", "x"});
}

TEST_F(CliErrors, MissingInputFile) {
  expect_failure({"run", "good.onnx", "--input", "x=no.npy"}, kSystemError,
                 {"no.npy", "No such file"});
}

TEST_F(CliErrors, FilesThatAreNoNumpy) {
  const std::string good = npy("<f4", "(1, 3)", std::string(12, '\0'));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"nothing", ""},
      {"text", "1 2 3\n"},
      {"magic", good.substr(0, 6)},
      {"header", good.substr(0, 30)},
      {"data", good.substr(0, good.size() - 1)},
      {"big endian", npy(">f4", "(1, 3)", std::string(12, '\0'))},
      {"objects", npy("|O", "(1, 3)", std::string(24, '\0'))},
      {"no type", npy("", "(1, 3)", std::string(12, '\0'))},
      {"negative shape", npy("<f4", "(-1, 3)", std::string(12, '\0'))},
      {"huge shape", npy("<f4", "(4611686018427387904, 4611686018427387904)", "")},
      {"no tuple", npy("<f4", "3", std::string(12, '\0'))},
      {"version 9", std::string(good).replace(6, 1, "\x09")},
  };
  for (const auto& [what, bytes] : cases) {
    SCOPED_TRACE(what);
    box.write("x.npy", bytes);
    expect_failure({"run", "good.onnx", "--input", "x=x.npy"}, kInvalidInput, {"x.npy"});
  }
}

TEST_F(CliErrors, InputOfAnotherShape) {
  box.write("x.npy", npy("<f4", "(1, 4)", std::string(16, '\0')));
  expect_failure({"run", "good.onnx", "--input", "x=x.npy"}, kInvalidInput,
                 {"x", "f32[1, 4]", "f32[n, 3]"});
}

TEST_F(CliErrors, InputOfAnotherType) {
  box.write("x.npy", npy("<f8", "(1, 3)", std::string(24, '\0')));
  expect_failure({"run", "good.onnx", "--input", "x=x.npy"}, kInvalidInput,
                 {"x", "f64[1, 3]", "f32[n, 3]"});
}

TEST_F(CliErrors, FortranOrderIsReadOrRefused) {
  box.write("x.npy", npy("<f4", "(2, 3)", std::string(24, '\0'), "True"));
  expect_failure({"run", "good.onnx", "--input", "x=x.npy"}, kInvalidInput, {"x.npy", "order"});
}

// --- operator files

TEST_F(CliErrors, OperatorFileWithASyntaxError) {
  box.write(
      "my.ops",
      "# A comment\nop my.domain::Twice(x: f32[N]) -> (y) {\n  y: f32[i < N] = 2 * * x[i]\n}\n");
  expect_failure({"inspect", "good.onnx", "--ops", "my.ops"}, kInvalidInput, {"my.ops:3:"});
  const Ran ran = box.hone({"inspect", "good.onnx", "--ops", "my.ops"});
  EXPECT_TRUE(std::regex_search(ran.err, std::regex("my\\.ops:3:[0-9]+"))) << ran.err;
}

TEST_F(CliErrors, MissingOperatorFile) {
  expect_failure({"ops", "--ops", "no.ops"}, kSystemError, {"no.ops", "No such file"});
}

TEST_F(CliErrors, BinaryOperatorFile) {
  box.write("my.ops", std::string("\0\xff\x7f garbage", 11));
  expect_failure({"ops", "--ops", "my.ops"}, kInvalidInput, {"my.ops:1:1"});
}

TEST_F(CliErrors, UnknownOperator) {
  expect_failure({"ops", "NoSuchOperator"}, kInvalidInput, {"NoSuchOperator", "hone ops"});
}

// --- comparing

TEST_F(CliErrors, OtherInterface) {
  onnx::ModelProto model = model_of("Relu");
  model.mutable_graph()->mutable_input(0)->set_name("z");
  model.mutable_graph()->mutable_node(0)->set_input(0, "z");
  box.write("other.onnx", bytes_of(model));
  const Ran ran = box.hone({"check", "good.onnx", "other.onnx"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("interfaces differ"));
  EXPECT_THAT(ran.out, HasSubstr("z"));
}

TEST_F(CliErrors, OtherAnswers) {
  box.write("other.onnx", bytes_of(model_of("Abs")));
  const Ran ran = box.hone({"check", "good.onnx", "other.onnx"});
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("DIFFERENT"));
  EXPECT_THAT(ran.err, IsEmpty());
}

TEST_F(CliErrors, SameAnswers) {
  const Ran ran = box.hone({"check", "good.onnx", "good.onnx"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the same"));
}

// --- help

TEST_F(CliErrors, HelpOfEveryCommandShowsExamples) {
  for (const std::string command :
       {"inspect", "optimize", "run", "check", "compile", "bench", "ops"}) {
    const Ran ran = box.hone({command, "--help"});
    EXPECT_EQ(ran.code, 0) << command;
    EXPECT_THAT(ran.out, HasSubstr("Examples:")) << command;
    EXPECT_THAT(ran.out, HasSubstr("hone " + command + " ")) << command;
    EXPECT_THAT(ran.err, IsEmpty()) << command;
  }
}

TEST_F(CliErrors, HelpNamesExitCodes) {
  const Ran ran = box.hone({"--help"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("Exit codes:"));
  for (const std::string command :
       {"inspect", "optimize", "run", "check", "compile", "bench", "ops"})
    EXPECT_THAT(ran.out, HasSubstr(command));
}

TEST_F(CliErrors, Version) {
  const Ran ran = box.hone({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_TRUE(std::regex_match(ran.out, std::regex("[0-9]+\\.[0-9]+\\.[0-9]+\n"))) << ran.out;
}

// --- the streams

TEST_F(CliErrors, ResultsGoToStandardOutput) {
  const Ran inspected = box.hone({"inspect", "good.onnx", "--json"});
  EXPECT_EQ(inspected.code, 0);
  EXPECT_THAT(inspected.out, StartsWith("{"));
  EXPECT_THAT(inspected.err, IsEmpty());
  const Ran optimized = box.hone({"optimize", "good.onnx", "-o", "out.onnx"});
  EXPECT_EQ(optimized.code, 0) << optimized.err;
  EXPECT_THAT(optimized.out, HasSubstr("out.onnx"));
  EXPECT_THAT(optimized.err, IsEmpty());
  EXPECT_THAT(box.files(), ElementsAre("good.onnx", "out.onnx"));
}

}  // namespace
}  // namespace hone
