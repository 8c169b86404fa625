#include "onnx/check.h"

#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "onnx/checker.h"
#include "onnx/defs/schema.h"
#include "onnx/inliner/inliner.h"

namespace hone {
namespace {

constexpr int64_t kFirstOpset = 7;

std::string label_of(const onnx::NodeProto& node) {
  const std::string op =
      node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type();
  return node.name().empty() ? "node of type " + op : "node '" + node.name() + "' (" + op + ")";
}

// The library's messages end in pages of context.
std::string first_paragraph(const std::string& text) {
  std::string line = text.substr(0, text.find("\n\n"));
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

void visit_graph(onnx::GraphProto& graph, const TensorVisit& visit);

void visit_sparse(onnx::SparseTensorProto& sparse, const TensorVisit& visit) {
  if (sparse.has_values()) visit(*sparse.mutable_values());
  if (sparse.has_indices()) visit(*sparse.mutable_indices());
}

}  // namespace

void for_each_tensor(onnx::AttributeProto& attribute, const TensorVisit& visit) {
  if (attribute.has_t()) visit(*attribute.mutable_t());
  for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
  if (attribute.has_g()) visit_graph(*attribute.mutable_g(), visit);
  for (auto& graph : *attribute.mutable_graphs()) visit_graph(graph, visit);
  if (attribute.has_sparse_tensor()) visit_sparse(*attribute.mutable_sparse_tensor(), visit);
  for (auto& sparse : *attribute.mutable_sparse_tensors()) visit_sparse(sparse, visit);
}

namespace {

void visit_nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                 const TensorVisit& visit) {
  for (auto& node : nodes)
    for (auto& attribute : *node.mutable_attribute()) for_each_tensor(attribute, visit);
}

void visit_graph(onnx::GraphProto& graph, const TensorVisit& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& sparse : *graph.mutable_sparse_initializer()) visit_sparse(sparse, visit);
  visit_nodes(*graph.mutable_node(), visit);
}

// Takes data and shape out of all tensors, and puts them back at its end.
class BlankedTensors {
 public:
  explicit BlankedTensors(onnx::ModelProto& model) : model_(model) {
    for_each_tensor(model_, [this](onnx::TensorProto& tensor) {
      onnx::TensorProto blank;
      blank.set_name(tensor.name());
      blank.set_data_type(tensor.data_type());
      blank.add_dims(0);
      blank.Swap(&tensor);
      saved_.push_back(std::move(blank));
    });
  }
  ~BlankedTensors() {
    size_t next = 0;
    for_each_tensor(model_, [&](onnx::TensorProto& tensor) { tensor.Swap(&saved_[next++]); });
  }
  BlankedTensors(const BlankedTensors&) = delete;
  BlankedTensors& operator=(const BlankedTensors&) = delete;

 private:
  onnx::ModelProto& model_;
  std::vector<onnx::TensorProto> saved_;
};

// Runs a part of the onnx library and makes an error of what it throws.
void guarded(Errors& errors, const std::string& where, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& problem) {
    errors.push_back({ErrorKind::kInvalid, where, first_paragraph(problem.what()), {}});
  }
}

onnx::checker::CheckerContext context_of(const onnx::ModelProto& model) {
  onnx::checker::CheckerContext context;
  context.set_ir_version(static_cast<int>(model.ir_version()));
  std::unordered_map<std::string, int> opsets;
  for (const auto& opset : model.opset_import()) {
    opsets[opset.domain()] = static_cast<int>(opset.version());
    if (opset.domain().empty()) opsets["ai.onnx"] = static_cast<int>(opset.version());
  }
  context.set_opset_imports(std::move(opsets));
  return context;
}

// How many nodes a call of each function becomes; doubles, because they can be astronomical.
class InlinedSize {
 public:
  explicit InlinedSize(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[key(function.domain(), function.name(), function.overload())] = &function;
  }
  double of_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    double count = 0;
    for (const auto& node : nodes) {
      count += of_call(key(node.domain(), node.op_type(), node.overload()));
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) count += of_nodes(attribute.g().node());
        for (const auto& graph : attribute.graphs()) count += of_nodes(graph.node());
      }
    }
    return count;
  }

 private:
  static std::string key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
    return domain + ":" + name + ":" + overload;
  }
  // Calls form no cycle: that was checked before.
  double of_call(const std::string& name) {
    const auto at = functions_.find(name);
    if (at == functions_.end()) return 1;
    if (const auto known = sizes_.find(name); known != sizes_.end()) return known->second;
    // Whatever comes back here has no end, should the check of cycles have missed it.
    sizes_[name] = std::numeric_limits<double>::infinity();
    return sizes_[name] = of_nodes(at->second->node());
  }
  std::map<std::string, const onnx::FunctionProto*> functions_;
  std::map<std::string, double> sizes_;
};

// Writes the defaults of a function's attributes into its calls: the library's inliner forgets
// them.
class StatedDefaults {
 public:
  explicit StatedDefaults(const onnx::ModelProto& model) {
    for (const auto& function : model.functions())
      functions_[{function.domain(), function.name(), function.overload()}] = function;
  }
  void add_to(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) const {
    for (auto& node : nodes) {
      const auto callee = functions_.find({node.domain(), node.op_type(), node.overload()});
      if (callee != functions_.end())
        for (const auto& value : callee->second.attribute_proto()) add_default(value, node);
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) add_to(*attribute.mutable_g()->mutable_node());
        for (auto& graph : *attribute.mutable_graphs()) add_to(*graph.mutable_node());
      }
    }
  }

 private:
  static void add_default(const onnx::AttributeProto& value, onnx::NodeProto& call) {
    for (const auto& given : call.attribute())
      if (given.name() == value.name()) return;
    *call.add_attribute() = value;
  }
  // Copies: the functions themselves change.
  std::map<std::array<std::string, 3>, onnx::FunctionProto> functions_;
};

}  // namespace

void for_each_tensor(onnx::ModelProto& model, const TensorVisit& visit) {
  if (model.has_graph()) visit_graph(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions()) {
    visit_nodes(*function.mutable_node(), visit);
    for (auto& attribute : *function.mutable_attribute_proto()) for_each_tensor(attribute, visit);
  }
  for (auto& training : *model.mutable_training_info()) {
    if (training.has_initialization()) visit_graph(*training.mutable_initialization(), visit);
    if (training.has_algorithm()) visit_graph(*training.mutable_algorithm(), visit);
  }
}

Errors check_versions(const onnx::ModelProto& model) {
  Errors errors;
  const auto report = [&](ErrorKind kind, std::string reason, std::string hint) {
    errors.push_back({kind, "model", std::move(reason), std::move(hint)});
  };
  if (model.ir_version() <= 0)
    report(ErrorKind::kInvalid, "has no IR version", "the file is damaged or is no ONNX model");
  if (model.ir_version() > onnx::Version::IR_VERSION)
    report(ErrorKind::kUnsupported,
           "has IR version " + std::to_string(model.ir_version()) + "; hone knows versions up to " +
               std::to_string(static_cast<int>(onnx::Version::IR_VERSION)),
           "export it for an older version of ONNX");
  if (!model.has_graph()) report(ErrorKind::kInvalid, "has no graph", "the file is no ONNX model");
  const int newest = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
  std::map<std::string, int64_t> seen;
  for (const auto& opset : model.opset_import()) {
    const bool standard = opset.domain().empty() || opset.domain() == "ai.onnx";
    const auto [at, added] = seen.emplace(standard ? "" : opset.domain(), opset.version());
    if (!added && at->second != opset.version())
      report(ErrorKind::kInvalid, "imports domain '" + opset.domain() + "' in two versions", {});
    if (opset.version() < 1 || opset.version() > 1'000'000'000)
      report(ErrorKind::kInvalid, "has opset version " + std::to_string(opset.version()), {});
    else if (standard && opset.version() < kFirstOpset)
      report(ErrorKind::kUnsupported,
             "has opset " + std::to_string(opset.version()) + "; hone reads opset " +
                 std::to_string(kFirstOpset) + " and later",
             "convert it with onnx.version_converter.convert_version(model, 17)");
    else if (standard && opset.version() > newest)
      report(ErrorKind::kUnsupported,
             "has opset " + std::to_string(opset.version()) + "; hone knows opsets up to " +
                 std::to_string(newest),
             "export it for an older opset");
  }
  return errors;
}

Errors check_nodes(onnx::ModelProto& model) {
  const BlankedTensors blanked(model);
  Errors errors;
  const auto context = context_of(model);
  onnx::checker::LexicalScopeContext scope;
  guarded(errors, "functions",
          [&] { onnx::checker::check_model_local_functions(model, context, scope); });
  for (const auto& function : model.functions())
    for (const auto& attribute : function.attribute_proto())
      guarded(errors, "function " + function.name(),
              [&] { onnx::checker::check_attribute(attribute, context, scope); });
  const onnx::GraphProto& graph = model.graph();
  for (const auto& input : graph.input()) scope.add(input.name());
  for (const auto& tensor : graph.initializer()) scope.add(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) scope.add(sparse.values().name());
  for (const auto& node : graph.node()) {
    guarded(errors, label_of(node), [&] { onnx::checker::check_node(node, context, scope); });
    for (const std::string& output : node.output())
      if (!output.empty()) scope.add(output);
  }
  return errors;
}

Errors inline_functions(onnx::ModelProto& model, double max_nodes) {
  Errors errors;
  if (model.functions_size() == 0) return errors;
  guarded(errors, "functions", [&] { onnx::checker::check_function_call_cycles(model); });
  if (!errors.empty()) return errors;
  if (InlinedSize(model).of_nodes(model.graph().node()) > max_nodes) {
    errors.push_back({ErrorKind::kInvalid,
                      "functions",
                      "inlining the model's functions gives more than " +
                          std::to_string(static_cast<int64_t>(max_nodes)) + " nodes",
                      {}});
    return errors;
  }
  const StatedDefaults defaults(model);
  defaults.add_to(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) defaults.add_to(*function.mutable_node());
  guarded(errors, "functions", [&] { onnx::inliner::InlineLocalFunctions(model, false); });
  return errors;
}

}  // namespace hone
