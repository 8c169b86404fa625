#include "loop/verify_types.h"

#include <algorithm>

#include "expr/vm/kernels.h"
#include "loop/text.h"

namespace hone::loop {
namespace {

constexpr Type kIndex{ElementType::kI64, 1};

std::string is_but(std::string_view what, Type type, std::string_view wanted) {
  return std::string(what) + " is " + to_text(type) + ", not " + std::string(wanted);
}

bool defined_on(Fn fn, ElementType type) {
  if (type <= ElementType::kInvalid || type > ElementType::kF4E2M1) return false;
  const ElementType lane = vm::compute_type(type, vm::Numbers::kNative);
  return vm::find_kernel(fn, lane).arrays != nullptr;
}

std::string operands_problem(const ExprNode& node) {
  for (const Expr& arg : node.args)
    if (arg.type().lanes != node.type.lanes)
      return is_but("an operand", arg.type(), std::to_string(node.type.lanes) + " lanes wide");
  return {};
}

std::string apply_problem(const ExprNode& node) {
  if (auto problem = operands_problem(node); !problem.empty()) return problem;
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap) return {};
  const ElementType operand = node.args.back().type().element;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const bool condition = node.fn == Fn::kSelect && i == 0;
    const ElementType wanted = condition ? ElementType::kBool : operand;
    if (node.args[i].type().element != wanted)
      return is_but("an operand", node.args[i].type(), name_of(wanted));
  }
  const ElementType result = info_of(node.fn).boolean_result ? ElementType::kBool : operand;
  if (node.type.element != result) return is_but("the result", node.type, name_of(result));
  if (!defined_on(node.fn, operand))
    return std::string(info_of(node.fn).name) + " is not defined on " +
           std::string(name_of(operand));
  return {};
}

std::string fma_problem(const ExprNode& node) {
  for (const Expr& arg : node.args)
    if (arg.type() != node.type) return is_but("an operand", arg.type(), to_text(node.type));
  return defined_on(Fn::kMul, node.type.element)
             ? ""
             : "fma is not defined on " + std::string(name_of(node.type.element));
}

std::string fold_problem(const ExprNode& node) {
  if (fold_word(node.fn).empty())
    return "lanes cannot be folded by " + std::string(info_of(node.fn).name);
  const Type operand = node.args[0].type();
  if (node.type != Type{operand.element, 1})
    return is_but("the result", node.type, name_of(operand.element));
  if (!defined_on(node.fn, operand.element))
    return "the fold is not defined on " + std::string(name_of(operand.element));
  return {};
}

std::string shuffle_problem(const ExprNode& node) {
  int count = 0;
  for (const Expr& arg : node.args) {
    if (arg.type().element != node.type.element)
      return is_but("an operand", arg.type(), name_of(node.type.element));
    count += arg.type().lanes;
  }
  if (node.lanes.size() != static_cast<size_t>(node.type.lanes))
    return "the result has " + std::to_string(node.type.lanes) + " lanes, " +
           std::to_string(node.lanes.size()) + " are named";
  for (const int lane : node.lanes)
    if (lane < 0 || lane >= count)
      return "there is no lane " + std::to_string(lane) + " among " + std::to_string(count);
  return {};
}

std::string broadcast_problem(const ExprNode& node) {
  const Type wanted{node.type.element, 1};
  return node.args[0].type() == wanted
             ? ""
             : is_but("the operand", node.args[0].type(), to_text(wanted));
}

std::string ramp_problem(const ExprNode& node) {
  if (node.type.element != ElementType::kI64) return is_but("the result", node.type, "of i64");
  for (const Expr& arg : node.args)
    if (arg.type() != kIndex) return is_but("an operand", arg.type(), "i64");
  return {};
}

std::string load_problem(const ExprNode& node, const Function& function) {
  const BufferDecl& buffer = function.buffer(node.buffer);
  if (node.type.element != buffer.element)
    return is_but("the value", node.type, name_of(buffer.element));
  return access_problem(buffer, node.type, node.args[0],
                        node.args.size() > 1 ? node.args[1] : Expr());
}

}  // namespace

bool has_operands(const ExprNode& node) {
  const size_t count = node.args.size();
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
    case ExprNode::Kind::kNumber:
    case ExprNode::Kind::kVar:
    case ExprNode::Kind::kExtent:
      return count == 0;
    case ExprNode::Kind::kLoad:
      return count == 1 || count == 2;
    case ExprNode::Kind::kBroadcast:
    case ExprNode::Kind::kFold:
      return count == 1;
    case ExprNode::Kind::kRamp:
    case ExprNode::Kind::kShuffle:
      return count == 2;
    case ExprNode::Kind::kApply:
      return static_cast<int>(count) == info_of(node.fn).arity;
    case ExprNode::Kind::kFma:
      return count == 3;
  }
  return false;
}

std::string access_problem(const BufferDecl& buffer, Type value, const Expr& index,
                           const Expr& mask) {
  if (value.element != buffer.element) return is_but("the value", value, name_of(buffer.element));
  const Type at = index.type();
  if (at.element != ElementType::kI64) return is_but("the index", at, "i64");
  if (at.lanes != 1 && at.lanes != value.lanes)
    return is_but("the index", at, std::to_string(value.lanes) + " lanes wide");
  const Type wanted{ElementType::kBool, value.lanes};
  if (mask.valid() && mask.type() != wanted)
    return is_but("the mask", mask.type(), to_text(wanted));
  return {};
}

std::string type_problem(const ExprNode& node, const Function& function) {
  if (node.type.lanes < 1) return "it has " + std::to_string(node.type.lanes) + " lanes";
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
      return node.type == kIndex || node.type == Type{ElementType::kBool, 1}
                 ? ""
                 : is_but("the integer", node.type, "i64");
    case ExprNode::Kind::kNumber:
      return node.type.element == ElementType::kInvalid ? "the number has no type" : "";
    case ExprNode::Kind::kVar: {
      const Type type = function.vars[node.var.index()].type;
      return node.type == type ? "" : is_but("the variable", type, to_text(node.type));
    }
    case ExprNode::Kind::kExtent:
      return node.type == kIndex ? "" : is_but("the extent", node.type, "i64");
    case ExprNode::Kind::kLoad:
      return load_problem(node, function);
    case ExprNode::Kind::kBroadcast:
      return broadcast_problem(node);
    case ExprNode::Kind::kRamp:
      return ramp_problem(node);
    case ExprNode::Kind::kApply:
      return apply_problem(node);
    case ExprNode::Kind::kFma:
      return fma_problem(node);
    case ExprNode::Kind::kFold:
      return fold_problem(node);
    case ExprNode::Kind::kShuffle:
      return shuffle_problem(node);
  }
  return {};
}

}  // namespace hone::loop
