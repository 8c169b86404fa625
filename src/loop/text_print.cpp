#include <algorithm>
#include <limits>
#include <utility>

#include "loop/text.h"
#include "support/lexer.h"

namespace hone::loop {
namespace {

// Binding strength of what was printed; an operand weaker than its place needs parentheses.
constexpr int kPrimary = 10;
constexpr int kPrefix = 6;
constexpr int kProduct = 5;
constexpr int kSum = 4;

struct Printed {
  std::string text;
  int strength = kPrimary;
};

std::string at_least(int strength, const Printed& printed) {
  return printed.strength >= strength ? printed.text : "(" + printed.text + ")";
}

std::string plain_name(const std::string& name) {
  if (is_word(name)) return "`" + name + "`";
  return is_reserved(name) ? name : name_text(name);  // reserved elsewhere
}

class Printer {
 public:
  explicit Printer(const Function& function)
      : function_(function),
        var_hidden_(function.vars.size(), false),
        buffer_hidden_(function.buffers.size(), false) {}

  std::string run() {
    signature();
    block(function_.body, 1);
    return std::move(out_);
  }
  Printed print(const Expr& expr);

 private:
  void signature();
  void block(const Block& block, int depth);
  void statement(const Stmt& stmt, int depth, bool last);
  void loop(const Stmt& stmt);
  void store(const Stmt& stmt);
  void alloc(const Stmt& stmt, int depth, bool last);

  Printed integer(const ExprNode& node) const;
  Printed apply(const ExprNode& node);
  Printed infix(const ExprNode& node, std::string_view sign, int strength);
  std::string call(std::string_view name, const std::vector<Expr>& args);
  std::string access(BufferId buffer, const Expr& index, int lanes, int64_t stride,
                     const Expr& mask);
  std::string shuffle(const ExprNode& node);
  std::string text(const Expr& expr) { return print(expr).text; }

  // Marks a variable or buffer as hidden when one of that name is already in scope.
  template <typename Decls>
  void define(std::vector<int>& scope, std::vector<bool>& hidden, const Decls& decls, int id) {
    if (id < 0 || static_cast<size_t>(id) >= decls.size()) return;
    const auto same_name = [&](int other) {
      return other != id &&
             decls[static_cast<size_t>(other)].name == decls[static_cast<size_t>(id)].name;
    };
    hidden[static_cast<size_t>(id)] = std::ranges::any_of(scope, same_name);
    scope.push_back(id);
  }
  template <typename Decls>
  static std::string name(const Decls& decls, const std::vector<bool>& hidden, int id) {
    if (id < 0 || static_cast<size_t>(id) >= decls.size()) return "?@" + std::to_string(id);
    const std::string plain = plain_name(decls[static_cast<size_t>(id)].name);
    return hidden[static_cast<size_t>(id)] ? plain + "@" + std::to_string(id) : plain;
  }
  [[nodiscard]] std::string var_name(VarId id) const {
    return name(function_.vars, var_hidden_, id.value);
  }
  [[nodiscard]] std::string buffer_name(BufferId id) const {
    return name(function_.buffers, buffer_hidden_, id.value);
  }
  [[nodiscard]] std::string extent_name(int64_t argument) const;
  // The name of a variable that is defined here, with its type where the text does not imply it.
  std::string defined_var(VarId id, Type implied);
  [[nodiscard]] std::string declaration(BufferId id) const;

  const Function& function_;
  std::vector<bool> var_hidden_, buffer_hidden_;
  std::vector<int> vars_, buffers_;  // in scope
  std::string out_;
};

std::string Printer::declaration(BufferId id) const {
  if (!id.valid() || id.index() >= function_.buffers.size()) return buffer_name(id);
  const BufferDecl& decl = function_.buffer(id);
  std::string text = buffer_name(id) + ": " + std::string(name_of(decl.element)) + "[" +
                     std::to_string(decl.size) + "] " + std::string(word_of(decl.scope));
  if (decl.alignment != BufferDecl{}.alignment) text += " align " + std::to_string(decl.alignment);
  return text;
}

std::string Printer::defined_var(VarId id, Type implied) {
  define(vars_, var_hidden_, function_.vars, id.value);
  std::string text = var_name(id);
  if (id.valid() && id.index() < function_.vars.size() &&
      function_.vars[id.index()].type != implied)
    text += ": " + to_text(function_.vars[id.index()].type);
  return text;
}

// The number stands for an extent whose name is another one's, too.
std::string Printer::extent_name(int64_t argument) const {
  const auto& names = function_.extents;
  if (argument < 0 || !std::cmp_less(argument, names.size())) return std::to_string(argument);
  const std::string& name = names[static_cast<size_t>(argument)];
  return std::ranges::count(names, name) == 1 ? plain_name(name) : std::to_string(argument);
}

void Printer::signature() {
  out_ = "kernel " + plain_name(function_.name) + "(";
  for (int b = 0; b < function_.argument_count; ++b) {
    define(buffers_, buffer_hidden_, function_.buffers, b);
    out_ += (b == 0 ? "" : ", ") + declaration({b});
  }
  for (size_t e = 0; e < function_.extents.size(); ++e)
    out_ += (e == 0 ? "; " : ", ") + plain_name(function_.extents[e]);
  out_ += ")\n";
}

void Printer::block(const Block& block, int depth) {
  const size_t vars = vars_.size();
  const size_t buffers = buffers_.size();
  for (size_t i = 0; i < block.size(); ++i) statement(block[i], depth, i + 1 == block.size());
  vars_.resize(vars);
  buffers_.resize(buffers);
}

void Printer::statement(const Stmt& stmt, int depth, bool last) {
  out_.append(static_cast<size_t>(2 * depth), ' ');
  const size_t vars = vars_.size();
  switch (stmt.kind) {
    case Stmt::Kind::kFor:
      loop(stmt);
      block(stmt.body, depth + 1);
      vars_.resize(vars);
      return;
    case Stmt::Kind::kLet: {
      const std::string value = text(stmt.value);
      const Type type = stmt.value.valid() ? stmt.value.type() : Type{};
      out_ += "let " + defined_var(stmt.var, type) + " = " + value + "\n";
      return;
    }
    case Stmt::Kind::kIf:
      out_ += "if " + text(stmt.value) + "\n";
      return block(stmt.body, depth + 1);
    case Stmt::Kind::kStore:
      return store(stmt);
    case Stmt::Kind::kPrefetch:
      out_ += "prefetch " + access(stmt.buffer, stmt.index, 1, 1, {}) + "\n";
      return;
    case Stmt::Kind::kAlloc:
      return alloc(stmt, depth, last);
  }
}

void Printer::loop(const Stmt& stmt) {
  const std::string begin = stmt.begin.valid() ? text(stmt.begin) : "0";
  const std::string extent = text(stmt.extent);
  out_ +=
      std::string(word_of(stmt.loop)) + " " + defined_var(stmt.var, {}) + " = " + begin + " .. ";
  const bool zero = !stmt.begin.valid() || stmt.begin.is(0);
  int64_t end = 0;
  if (zero)
    out_ += extent;
  else if (stmt.begin.is_integer() && stmt.extent.is_integer() &&
           !__builtin_add_overflow(stmt.begin->integer, stmt.extent->integer, &end))
    out_ += std::to_string(end);
  else
    out_ += "+ " + extent;
  out_ += "\n";
}

void Printer::store(const Stmt& stmt) {
  const int lanes = stmt.value.valid() ? stmt.value.type().lanes : 1;
  out_ += access(stmt.buffer, stmt.index, lanes, stmt.stride, stmt.mask) + " = " +
          text(stmt.value) + "\n";
}

void Printer::alloc(const Stmt& stmt, int depth, bool last) {
  define(buffers_, buffer_hidden_, function_.buffers, stmt.buffer.value);
  out_ += "alloc " + declaration(stmt.buffer) + "\n";
  if (last) return block(stmt.body, depth);
  if (stmt.body.empty()) out_ += std::string(static_cast<size_t>(2 * depth + 2), ' ') + "pass\n";
  block(stmt.body, depth + 1);
  buffers_.pop_back();
}

Printed Printer::integer(const ExprNode& node) const {
  if (node.type.element == ElementType::kBool) return {node.integer == 0 ? "false" : "true"};
  return {std::to_string(node.integer), node.integer < 0 ? kPrefix - 1 : kPrimary};
}

std::string Printer::call(std::string_view callee, const std::vector<Expr>& args) {
  std::string result(callee);
  result += "(";
  for (size_t i = 0; i < args.size(); ++i) result += (i == 0 ? "" : ", ") + text(args[i]);
  return result + ")";
}

std::string Printer::access(BufferId buffer, const Expr& index, int lanes, int64_t stride,
                            const Expr& mask) {
  std::string result = buffer_name(buffer) + "[" + text(index);
  if (stride != 1 || !index.valid() || lanes != index.type().lanes) {
    result += " :" + std::to_string(lanes);
    if (stride != 1) result += "*" + std::to_string(stride);
  }
  if (mask.valid()) result += " if " + text(mask);
  return result + "]";
}

std::string Printer::shuffle(const ExprNode& node) {
  std::string result = "shuffle(" + text(node.args[0]);
  if (node.args.size() > 1 && node.args[1].valid()) result += ", " + text(node.args[1]);
  result += ", [";
  for (size_t i = 0; i < node.lanes.size(); ++i)
    result += (i == 0 ? "" : ", ") + std::to_string(node.lanes[i]);
  return result + "])";
}

Printed Printer::infix(const ExprNode& node, std::string_view sign, int strength) {
  const bool compares = sign == "==" || sign == "<" || sign == "<=";
  const std::string left = at_least(compares ? kSum : strength, print(node.args[0]));
  const Expr& second = node.args[1];
  const bool constant = second.valid() && second.is_integer() && second.type() == Type{};
  // (a + -3) is how the IR writes a difference: it shows as one.
  if (sign == "+" && constant && second->integer < 0 &&
      second->integer != std::numeric_limits<int64_t>::min())
    return {left + " - " + std::to_string(-second->integer), strength};
  std::string right = at_least(strength + 1, print(second));
  if (sign == "-" && constant && second->integer >= 0) right = "(" + right + ")";
  const bool tight = strength == kProduct && node.type == Type{};
  const std::string blank = tight ? "" : " ";
  return {left + blank + std::string(sign) + blank + right, strength};
}

Printed Printer::apply(const ExprNode& node) {
  const std::string type(name_of(node.type.element));
  if (node.fn == Fn::kCast) return {call("to_" + type, node.args)};
  if (node.fn == Fn::kCastWrap) return {call("wrap_" + type, node.args)};
  if (node.fn == Fn::kMod) return infix(node, "%", kProduct);
  const FnInfo& info = info_of(node.fn);
  if (info.infix != 0) return infix(node, info.name, info.infix);
  if (node.fn != Fn::kNeg) return {call(info.name, node.args)};
  const std::string operand = at_least(kPrefix, print(node.args[0]));
  // "-3" would be the number
  return {operand[0] >= '0' && operand[0] <= '9' ? "-(" + operand + ")" : "-" + operand, kPrefix};
}

Printed Printer::print(const Expr& expr) {
  if (!expr.valid()) return {"?"};
  const ExprNode& node = *expr;
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
      return integer(node);
    case ExprNode::Kind::kNumber:
      return {to_text(node.type) + "(" + node.number.to_string() + ")"};
    case ExprNode::Kind::kVar:
      return {var_name(node.var)};
    case ExprNode::Kind::kExtent:
      return {"$" + extent_name(node.integer)};
    case ExprNode::Kind::kLoad:
      return {access(node.buffer, node.args[0], node.type.lanes, node.stride,
                     node.args.size() > 1 ? node.args[1] : Expr())};
    case ExprNode::Kind::kBroadcast:
      return {call("x" + std::to_string(node.type.lanes), node.args)};
    case ExprNode::Kind::kRamp:
      return {"ramp(" + text(node.args[0]) + ", " + text(node.args[1]) + ", " +
              std::to_string(node.type.lanes) + ")"};
    case ExprNode::Kind::kApply:
      return apply(node);
    case ExprNode::Kind::kFma:
      return {call("fma", node.args)};
    case ExprNode::Kind::kFold:
      return {call("fold_" + std::string(fold_word(node.fn)), node.args)};
    case ExprNode::Kind::kShuffle:
      return {shuffle(node)};
  }
  return {};
}

}  // namespace

std::string to_text(const Function& function) { return Printer(function).run(); }

std::string to_text(const Expr& expr, const Function& function) {
  return Printer(function).print(expr).text;
}

}  // namespace hone::loop
