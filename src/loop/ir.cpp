#include "loop/ir.h"

#include <algorithm>
#include <utility>

#include "support/check.h"
#include "tensor/dim.h"

namespace hone::loop {
namespace {

Expr make(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

ExprNode node_of(ExprNode::Kind kind, Type type) {
  ExprNode node{};
  node.kind = kind;
  node.type = type;
  return node;
}

constexpr Type kIndexType{ElementType::kI64, 1};

}  // namespace

Expr::Expr(int64_t value) {
  ExprNode node = node_of(ExprNode::Kind::kInteger, kIndexType);
  node.integer = value;
  node_ = std::make_shared<const ExprNode>(std::move(node));
}

Expr Expr::var(VarId id, Type type) {
  ExprNode node = node_of(ExprNode::Kind::kVar, type);
  node.var = id;
  return make(std::move(node));
}

Expr Expr::extent(int64_t argument) {
  ExprNode node = node_of(ExprNode::Kind::kExtent, kIndexType);
  node.integer = argument;
  return make(std::move(node));
}

Expr Expr::number(Type type, Literal value) {
  ExprNode node = node_of(ExprNode::Kind::kNumber, type);
  node.number = value;
  return make(std::move(node));
}

Expr Expr::load(ElementType element, BufferId buffer, Expr index, int lanes, int64_t stride,
                Expr mask) {
  if (index.type().lanes > 1) lanes = index.type().lanes;
  ExprNode node = node_of(ExprNode::Kind::kLoad, {element, lanes});
  node.buffer = buffer;
  node.stride = stride;
  node.args.push_back(std::move(index));
  if (mask.valid()) node.args.push_back(std::move(mask));
  return make(std::move(node));
}

Expr Expr::broadcast(Expr scalar, int lanes) {
  if (lanes == scalar.type().lanes) return scalar;
  HONE_CHECK(scalar.type().lanes == 1, "only a scalar can be broadcast");
  if (scalar->kind == ExprNode::Kind::kNumber)
    return number({scalar.type().element, lanes}, scalar->number);
  ExprNode node = node_of(ExprNode::Kind::kBroadcast, {scalar.type().element, lanes});
  node.args.push_back(std::move(scalar));
  return make(std::move(node));
}

Expr Expr::ramp(Expr base, Expr stride, int lanes) {
  if (lanes == 1) return base;
  ExprNode node = node_of(ExprNode::Kind::kRamp, {ElementType::kI64, lanes});
  node.args = {std::move(base), std::move(stride)};
  return make(std::move(node));
}

Expr Expr::apply(Fn fn, std::vector<Expr> args) {
  const FnInfo& info = info_of(fn);
  HONE_CHECK(static_cast<int>(args.size()) == info.arity, "wrong number of arguments");
  int lanes = 1;
  for (const Expr& arg : args) lanes = std::max(lanes, arg.type().lanes);
  for (Expr& arg : args) arg = broadcast(arg, lanes);
  const ElementType element =
      info.boolean_result ? ElementType::kBool : args[fn == Fn::kSelect ? 1 : 0].type().element;
  ExprNode node = node_of(ExprNode::Kind::kApply, {element, lanes});
  node.fn = fn;
  node.args = std::move(args);
  return make(std::move(node));
}

Expr Expr::cast(ElementType to, Expr value, bool saturate) {
  if (value.type().element == to) return value;
  ExprNode node = node_of(ExprNode::Kind::kApply, {to, value.type().lanes});
  node.fn = saturate ? Fn::kCast : Fn::kCastWrap;
  node.args.push_back(std::move(value));
  return make(std::move(node));
}

Expr Expr::fma(Expr a, Expr b, Expr c) {
  const int lanes = std::max({a.type().lanes, b.type().lanes, c.type().lanes});
  ExprNode node = node_of(ExprNode::Kind::kFma, {c.type().element, lanes});
  node.args = {broadcast(std::move(a), lanes), broadcast(std::move(b), lanes),
               broadcast(std::move(c), lanes)};
  return make(std::move(node));
}

Expr Expr::fold(Fn fn, Expr vector) {
  if (vector.type().lanes == 1) return vector;
  ExprNode node = node_of(ExprNode::Kind::kFold, {vector.type().element, 1});
  node.fn = fn;
  node.args.push_back(std::move(vector));
  return make(std::move(node));
}

Expr Expr::shuffle(Expr a, Expr b, std::vector<int> lanes) {
  ExprNode node =
      node_of(ExprNode::Kind::kShuffle, {a.type().element, static_cast<int>(lanes.size())});
  node.lanes = std::move(lanes);
  node.args = {std::move(a), std::move(b)};
  return make(std::move(node));
}

namespace {

// x + 3: the constant stands at the right, and only once.
bool has_constant(const Expr& e) {
  return e->kind == ExprNode::Kind::kApply && e->fn == Fn::kAdd && e->args[1].is_integer();
}

}  // namespace

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_integer() && b.is_integer()) return {a->integer + b->integer};
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  if (a.is_integer()) return b + a;
  if (has_constant(a))
    return b.is_integer() ? a->args[0] + Expr(a->args[1]->integer + b->integer)
                          : (a->args[0] + b) + a->args[1];
  if (has_constant(b)) return (a + b->args[0]) + b->args[1];
  return Expr::apply(Fn::kAdd, {a, b});
}

Expr operator-(const Expr& a, const Expr& b) {
  if (b.is_integer()) return a + Expr(-b->integer);
  return Expr::apply(Fn::kSub, {a, b});
}

Expr operator*(const Expr& a, const Expr& b) {
  if (a.is_integer() && b.is_integer()) return {a->integer * b->integer};
  if (a.is(0) || b.is(0)) return {0};
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a.is_integer()) return b * a;
  if (b.is_integer() && has_constant(a))
    return a->args[0] * b + Expr(a->args[1]->integer * b->integer);
  return Expr::apply(Fn::kMul, {a, b});
}

Expr operator/(const Expr& a, const Expr& b) {
  if (b.is(1)) return a;
  if (a.is_integer() && b.is_integer()) return {floor_div(a->integer, b->integer)};
  return Expr::apply(Fn::kDiv, {a, b});
}

Expr operator%(const Expr& a, const Expr& b) {
  if (b.is(1)) return {0};
  if (a.is_integer() && b.is_integer()) return {floor_mod(a->integer, b->integer)};
  return Expr::apply(Fn::kMod, {a, b});
}

Expr min(const Expr& a, const Expr& b) {
  if (a.is_integer() && b.is_integer()) return {std::min(a->integer, b->integer)};
  return Expr::apply(Fn::kMin, {a, b});
}

Expr max(const Expr& a, const Expr& b) {
  if (a.is_integer() && b.is_integer()) return {std::max(a->integer, b->integer)};
  return Expr::apply(Fn::kMax, {a, b});
}

VarId Function::add_var(std::string wanted, Type type) {
  vars.push_back({std::move(wanted), type});
  return {static_cast<int32_t>(vars.size()) - 1};
}

BufferId Function::add_buffer(BufferDecl decl) {
  const bool argument = decl.scope <= Scope::kConstant;
  HONE_CHECK(!argument || argument_count == static_cast<int>(buffers.size()),
             "arguments come before other buffers");
  if (argument) ++argument_count;
  buffers.push_back(std::move(decl));
  return {static_cast<int32_t>(buffers.size()) - 1};
}

Stmt make_for(LoopKind kind, VarId var, Expr extent, Block body, Expr begin) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kFor;
  stmt.loop = kind;
  stmt.var = var;
  stmt.begin = std::move(begin);
  stmt.extent = std::move(extent);
  stmt.body = std::move(body);
  return stmt;
}

Stmt make_let(VarId var, Expr value) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kLet;
  stmt.var = var;
  stmt.value = std::move(value);
  return stmt;
}

Stmt make_if(Expr condition, Block body) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kIf;
  stmt.value = std::move(condition);
  stmt.body = std::move(body);
  return stmt;
}

Stmt make_store(BufferId buffer, Expr index, Expr value, int64_t stride, Expr mask) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kStore;
  stmt.buffer = buffer;
  stmt.index = std::move(index);
  stmt.value = std::move(value);
  stmt.stride = stride;
  stmt.mask = std::move(mask);
  return stmt;
}

Stmt make_prefetch(BufferId buffer, Expr index) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kPrefetch;
  stmt.buffer = buffer;
  stmt.index = std::move(index);
  return stmt;
}

Stmt make_alloc(BufferId buffer, Block body) {
  Stmt stmt{};
  stmt.kind = Stmt::Kind::kAlloc;
  stmt.buffer = buffer;
  stmt.body = std::move(body);
  return stmt;
}

int64_t scratch_bytes(const Function& function) {
  int64_t bytes = 0;
  for (const BufferDecl& buffer : function.buffers)
    if (buffer.scope == Scope::kThread)
      bytes += (buffer.size * static_cast<int64_t>(size_of(buffer.element)) + 63) / 64 * 64;
  return bytes;
}

Expr task_count(const Function& function) {
  for (const Block* block = &function.body; !block->empty();) {
    const Block* next = nullptr;
    for (const Stmt& stmt : *block) {
      if (stmt.kind == Stmt::Kind::kFor && stmt.loop == LoopKind::kParallel) return stmt.extent;
      if (!stmt.body.empty()) next = &stmt.body;
    }
    if (next == nullptr) break;
    block = next;
  }
  return {1};
}

}  // namespace hone::loop
