#include "loop/equal.h"

#include <algorithm>

namespace hone::loop {
namespace {

bool same(const BufferDecl& a, const BufferDecl& b) {
  return a.name == b.name && a.element == b.element && a.size == b.size && a.scope == b.scope &&
         a.alignment == b.alignment;
}

class Comparison {
 public:
  Comparison(const Function& a, const Function& b)
      : a_(a), b_(b), vars_(a.vars.size()), buffers_(a.buffers.size()) {}

  bool run() {
    if (a_.name != b_.name || a_.extents != b_.extents || a_.argument_count != b_.argument_count)
      return false;
    for (int i = 0; i < a_.argument_count; ++i)
      if (!match_buffer({i}, {i})) return false;
    return block(a_.body, b_.body);
  }

 private:
  bool match_buffer(BufferId a, BufferId b) {
    buffers_[a.index()] = b;
    return same(a_.buffer(a), b_.buffer(b));
  }
  bool match_var(VarId a, VarId b) {
    const VarDecl& left = a_.vars[a.index()];
    const VarDecl& right = b_.vars[b.index()];
    vars_[a.index()] = b;
    return left.name == right.name && left.type == right.type;
  }

  bool block(const Block& a, const Block& b) {
    return std::ranges::equal(a, b, [&](const Stmt& x, const Stmt& y) { return statement(x, y); });
  }

  bool statement(const Stmt& a, const Stmt& b) {
    if (a.kind != b.kind) return false;
    switch (a.kind) {
      case Stmt::Kind::kFor:
        return a.loop == b.loop && expr(a.begin, b.begin) && expr(a.extent, b.extent) &&
               match_var(a.var, b.var) && block(a.body, b.body);
      case Stmt::Kind::kLet:
        return expr(a.value, b.value) && match_var(a.var, b.var);
      case Stmt::Kind::kIf:
        return expr(a.value, b.value) && block(a.body, b.body);
      case Stmt::Kind::kStore:
        return buffers_[a.buffer.index()] == b.buffer && a.stride == b.stride &&
               expr(a.index, b.index) && expr(a.value, b.value) && expr(a.mask, b.mask);
      case Stmt::Kind::kPrefetch:
        return buffers_[a.buffer.index()] == b.buffer && expr(a.index, b.index);
      case Stmt::Kind::kAlloc:
        return match_buffer(a.buffer, b.buffer) && block(a.body, b.body);
    }
    return false;
  }

  bool expr(const Expr& a, const Expr& b) {
    if (!a.valid() || !b.valid()) return a.valid() == b.valid();
    if (a->kind != b->kind || a->type != b->type || a->integer != b->integer ||
        a->number != b->number || a->stride != b->stride || a->fn != b->fn || a->lanes != b->lanes)
      return false;
    if (a->kind == ExprNode::Kind::kVar && vars_[a->var.index()] != b->var) return false;
    if (a->kind == ExprNode::Kind::kLoad && buffers_[a->buffer.index()] != b->buffer) return false;
    return std::ranges::equal(a->args, b->args,
                              [&](const Expr& x, const Expr& y) { return expr(x, y); });
  }

  const Function& a_;
  const Function& b_;
  std::vector<VarId> vars_;  // of b, for those of a
  std::vector<BufferId> buffers_;
};

}  // namespace

bool equal(const Function& a, const Function& b) { return Comparison(a, b).run(); }

}  // namespace hone::loop
