#include "onnx/expand.h"

#include "graph/infer.h"
#include "onnx/defs/schema.h"
#include "onnx/encode.h"
#include "onnx/types.h"

namespace hone {
namespace {

constexpr int kMaxDepth = 16;  // functions that call functions, subgraphs in subgraphs
constexpr int kMaxRounds = 8;

class Expander {
 public:
  Expander(const LocalFunctions& functions, ConvertContext& context)
      : functions_(functions), context_(context) {}

  Errors run(Graph& graph, int depth) {
    for (int round = 0;; ++round) {
      Errors errors = guarded_infer(graph);
      bool changed = false;
      for (const NodeId id : graph.order()) {
        Node& node = graph.node(id);
        changed |= finish_subgraphs(graph, node, depth, errors);
        if (!node.meaning && !node.expansion && depth < kMaxDepth)
          changed |= expand(graph, node, depth);
      }
      if (!changed || round == kMaxRounds) return errors;
    }
  }

 private:
  static Errors guarded_infer(Graph& graph) {
    try {
      return infer(graph);
    } catch (const Failure& failure) {
      return {failure.error};
    }
  }

  // What all bodies agree on: one for a function, two for If.
  static TensorType common_type(const std::vector<const Graph*>& bodies, size_t output) {
    TensorType common;
    for (const Graph* body : bodies) {
      if (output >= body->outputs().size() || !body->outputs()[output].valid()) return {};
      const TensorType& type = body->value(body->outputs()[output]).type;
      if (body == bodies.front()) {
        common = type;
        continue;
      }
      if (type.element != common.element) return {};
      // Differing extents have no name here; the rank alone would need one for each.
      if (type.shape != common.shape) common.shape.reset();
    }
    return common;
  }

  // True when an output's type became known.
  static bool take_types(Graph& graph, const Node& node, const std::vector<const Graph*>& bodies) {
    bool changed = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      Value& value = graph.value(node.outputs[i]);
      const TensorType type = common_type(bodies, i);
      const bool news =
          type.element != ElementType::kInvalid &&
          (value.type.element == ElementType::kInvalid || (!value.type.shape && type.shape));
      if (news) {
        value.type = type;
        value.opaque_type.clear();
      }
      changed |= news;
    }
    return changed;
  }

  bool finish_subgraphs(Graph& graph, Node& node, int depth, Errors& errors) {
    std::vector<const Graph*> branches;
    const auto finish = [&](std::shared_ptr<const Graph>& body) {
      if (!body || depth >= kMaxDepth) return;
      auto copy = std::make_shared<Graph>(*body);
      for (size_t i = 0; i < copy->value_count(); ++i) {
        Value& value = copy->value({static_cast<int32_t>(i)});
        if (value.kind != Value::Kind::kOuter) continue;
        if (const auto outer = graph.find_value(value.name)) value.type = graph.value(*outer).type;
      }
      for (Error& error : run(*copy, depth + 1)) {
        error.where = node.label() + ", " + error.where;
        errors.push_back(std::move(error));
      }
      branches.push_back(copy.get());
      body = std::move(copy);
    };
    for (auto& [name, attribute] : node.attributes) {
      if (auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute)) finish(*one);
      if (auto* all = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute))
        for (auto& body : *all) finish(body);
    }
    const bool is_if = node.op == "If" && node.domain.empty() && branches.size() == 2;
    return is_if && take_types(graph, node, branches);
  }

  // Does the table lack a meaning, rather than the graph a shape or value?
  static bool lacks_meaning(const Graph& graph, const Node& node) {
    if (node.def == nullptr) return true;
    if (!node.def->define) return !node.def->kernel;
    OpContext context(node.op, node.opset, operands_of(graph, node), node.attributes,
                      node.outputs.size());
    const Result<TensorExpr> expr = instantiate(*node.def, context);
    return !expr && expr.error().kind == ErrorKind::kUnsupported;
  }

  bool expand(Graph& graph, Node& node, int depth) {
    if (node.inline_expr || !lacks_meaning(graph, node)) return false;
    try {
      // Tensors of the model's functions are references, those of ONNX's are data.
      const onnx::FunctionProto* local = find_local(node);
      TensorReader& reader = local != nullptr ? context_.reader : literals_;
      ConvertContext inner{context_.table, reader, context_.ir_version, context_.opsets, {}};
      Attributes defaults;
      onnx::FunctionProto function;
      if (local != nullptr) {
        function = *local;
        for (const auto& proto : function.attribute_proto())
          defaults.emplace(proto.name(), convert_attribute(proto, inner));
      } else if (!find_in_schema(graph, node, function, defaults, inner)) {
        return false;
      }
      if (static_cast<size_t>(function.input_size()) < node.inputs.size() ||
          static_cast<size_t>(function.output_size()) < node.outputs.size())
        return false;
      // A body that does not convert is no reason to refuse the model.
      Graph body = convert_function(function, graph, node, defaults, inner);
      if (!inner.errors.empty()) return false;
      if (!run(body, depth + 1).empty()) return false;
      take_types(graph, node, {&body});
      node.expansion = std::make_shared<const Graph>(std::move(body));
      return true;
    } catch (const Failure&) {
      return false;
    } catch (const std::exception&) {
      return false;  // thrown by the onnx library
    }
  }

  const onnx::FunctionProto* find_local(const Node& node) const {
    const auto at = functions_.find(node.domain + ":" + node.op + ":" + node.overload);
    return at == functions_.end() ? nullptr : at->second;
  }

  static bool find_in_schema(const Graph& graph, const Node& node, onnx::FunctionProto& function,
                             Attributes& defaults, ConvertContext& inner) {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(node.op, node.opset, node.domain);
    if (schema == nullptr) return false;
    for (const auto& [name, attribute] : schema->attributes())
      if (attribute.default_value.has_type())
        defaults.emplace(name, convert_attribute(attribute.default_value, inner));
    if (const onnx::FunctionProto* body = schema->GetFunction(node.opset, true)) {
      function = *body;
      return true;
    }
    return schema->HasContextDependentFunction() && node.op != "SequenceMap" &&
           build(graph, node, *schema, function);
  }

  static bool build(const Graph& graph, const Node& node, const onnx::OpSchema& schema,
                    onnx::FunctionProto& function) {
    const Encoder encoder(
        [](const Buffer& buffer, onnx::TensorProto& out) {
          if (bits_of(buffer.type()) < 8) return out.set_raw_data(pack(buffer));
          out.set_raw_data(buffer.data(), buffer.byte_size());
        },
        onnx::Version::IR_VERSION);
    std::vector<onnx::TypeProto> types;
    for (const ValueId input : node.inputs) {
      types.emplace_back();
      if (!input.valid()) continue;
      // The library's builders assert that they know all types; sequences are not run anyway.
      const TensorType& type = graph.value(input).type;
      if (type.element == ElementType::kInvalid) return false;
      types.back() = type_proto_of(type);
    }
    // The context points into the node's attributes: the node must outlive it.
    const onnx::NodeProto proto = encoder.node(graph, node);
    const onnx::FunctionBodyBuildContextImpl context(proto, types);
    return schema.BuildContextDependentFunction(context, function, node.opset);
  }

  const LocalFunctions& functions_;
  ConvertContext& context_;
  TensorReader literals_ = TensorReader::of_literals();
};

}  // namespace

LocalFunctions local_functions_of(const onnx::ModelProto& model) {
  LocalFunctions functions;
  for (const auto& function : model.functions())
    functions[function.domain() + ":" + function.name() + ":" + function.overload()] = &function;
  return functions;
}

Errors infer_and_expand(Graph& graph, const LocalFunctions& functions, ConvertContext& context) {
  return Expander(functions, context).run(graph, 0);
}

}  // namespace hone
