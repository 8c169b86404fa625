#include "helpers/random_loops.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace hone {
namespace {

using namespace loop;

constexpr int64_t kPart = kRandomLoopElements / kRandomLoopTasks;

// An index with all values that it can take.
struct Ranged {
  Expr expr;
  int64_t least = 0, most = 0;
};

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Function run() {
    function_.name = "random_" + std::to_string(pick(1000));
    function_.extents = {"n"};
    x_ = argument("x", ElementType::kF32, Scope::kIn);
    h_ = argument("h", ElementType::kF64, Scope::kIn);
    n_ = argument("n", ElementType::kI32, Scope::kIn);
    at_ = argument("at", ElementType::kI64, Scope::kIn);
    w_ = argument("w", ElementType::kF32, Scope::kConstant);
    y_ = argument("y", ElementType::kF32, Scope::kOut);
    z_ = argument("z", ElementType::kI32, Scope::kOut);
    const VarId task = function_.add_var("t");
    task_ = Expr::var(task);
    ranges_.push_back({task_, 0, kRandomLoopTasks - 1});
    function_.body.push_back(make_for(LoopKind::kParallel, task, kRandomLoopTasks, block(3)));
    return std::move(function_);
  }

 private:
  int pick(int count) { return static_cast<int>(random_() % static_cast<uint64_t>(count)); }
  bool chance(int percent) { return pick(100) < percent; }
  int lanes() { return 1 << pick(4); }

  BufferId argument(std::string name, ElementType element, Scope scope) {
    const int alignment = 1 << (3 + pick(4));
    return function_.add_buffer({std::move(name), element, kRandomLoopElements, scope, alignment});
  }
  std::string var_name() { return std::string(1, "ijkuv"[pick(5)]); }

  Block block(int depth) {
    const auto ranges = ranges_;
    const auto values = values_;
    const auto registers = registers_;
    Block result;
    for (int count = 1 + pick(3); count > 0; --count) result.push_back(statement(depth));
    result.push_back(store());
    ranges_ = ranges;
    values_ = values;
    registers_ = registers;
    return result;
  }

  Stmt statement(int depth) {
    const int kind = pick(depth > 0 ? 8 : 3);
    if (kind == 0) return let_index();
    if (kind == 1) return let_value();
    if (kind == 2) return store();
    if (kind == 3) return make_if(condition(1), block(depth - 1));
    if (kind == 4) return registers(depth);
    return loop(depth);
  }

  Stmt loop(int depth) {
    const LoopKind kind = chance(40) ? LoopKind::kUnrolled : LoopKind::kSerial;
    const int64_t begin = chance(30) ? pick(5) : 0;
    const int64_t extent = 1 + pick(4);
    const VarId var = function_.add_var(var_name());
    const auto outside = ranges_;
    Expr first(begin);
    Ranged range{Expr::var(var), begin, begin + extent - 1};
    if (kind == LoopKind::kSerial && chance(20)) {
      const Ranged start = index();
      first = start.expr;
      range.least += start.least - begin;
      range.most += start.most - begin;
    }
    ranges_.push_back(range);
    Stmt stmt = make_for(kind, var, extent, block(depth - 1), first);
    ranges_ = outside;
    return stmt;
  }

  Stmt let_index() {
    const VarId var = function_.add_var(var_name());
    Ranged value = index();
    Stmt stmt = make_let(var, value.expr);
    ranges_.push_back({Expr::var(var), value.least, value.most});
    return stmt;
  }

  Stmt let_value() {
    const Type type{chance(70) ? ElementType::kF32 : ElementType::kI32, lanes()};
    Expr defined = value(type, 3);
    const VarId var = function_.add_var(var_name(), defined.type());
    values_.push_back(Expr::var(var, defined.type()));
    return make_let(var, defined);
  }

  // A register buffer, set whole before anything reads it.
  Stmt registers(int depth) {
    const int width = lanes();
    const int count = 1 + pick(3);
    const BufferId id = function_.add_buffer(
        {"acc", ElementType::kF32, int64_t{count} * width, Scope::kRegister, 64});
    const VarId var = function_.add_var("u");
    Block body;
    body.push_back(make_for(
        LoopKind::kUnrolled, var, count,
        {make_store(id, Expr::var(var) * Expr(width), value({ElementType::kF32, width}, 2))}));
    registers_.push_back({id, width, count});
    for (Stmt& stmt : block(depth - 1)) body.push_back(std::move(stmt));
    registers_.pop_back();
    return make_alloc(id, std::move(body));
  }

  // To the task's part of an output.
  Stmt store() {
    const bool floats = chance(70);
    const int width = lanes();
    const int64_t stride = width > 1 && chance(30) ? 1 + pick(3) : 1;
    const int64_t span = (width - 1) * stride + 1;
    const Ranged place = within(index(), kPart - span);
    const Expr at = task_ * Expr(kPart) + place.expr;
    Expr mask = width > 1 && chance(30) ? condition(width) : Expr();
    const Type type{floats ? ElementType::kF32 : ElementType::kI32, width};
    return make_store(floats ? y_ : z_, at, value(type, 4), stride, std::move(mask));
  }

  Ranged index() {
    Ranged a = ranges_[static_cast<size_t>(pick(static_cast<int>(ranges_.size())))];
    for (int steps = pick(4); steps > 0; --steps) a = longer(a);
    return within(std::move(a), 1000);
  }

  Ranged longer(const Ranged& a) {
    const Ranged b = ranges_[static_cast<size_t>(pick(static_cast<int>(ranges_.size())))];
    const int64_t c = 1 + pick(7);
    switch (pick(8)) {
      case 0:
        return {a.expr + b.expr, a.least + b.least, a.most + b.most};
      case 1:
        return {a.expr * Expr(c), a.least * c, a.most * c};
      case 2:
        return {a.expr + Expr(-c), a.least - c, a.most - c};
      case 3:
        return {max(a.expr, 0) / Expr(c), 0, std::max<int64_t>(a.most, 0) / c};
      case 4:
        return {max(a.expr, 0) % Expr(c), 0, c - 1};
      case 5:
        return {a.expr - b.expr, a.least - b.most, a.most - b.least};
      case 6:
        return {min(a.expr, b.expr), std::min(a.least, b.least), std::min(a.most, b.most)};
      default: {
        Expr read = Expr::load(ElementType::kI64, at_, within(b, kRandomLoopElements - 1).expr);
        return {min(max(read, 0), Expr(c)), 0, c};
      }
    }
  }

  // 0 <= index <= limit, by clamping or by a remainder where it is not so yet.
  Ranged within(Ranged a, int64_t limit) {
    if (a.least >= 0 && a.most <= limit) return a;
    if (a.least < 0) {
      a.expr = max(a.expr, 0);
      a.least = 0;
      a.most = std::max<int64_t>(a.most, 0);
    }
    if (a.most <= limit) return a;
    return {chance(50) ? min(a.expr, Expr(limit)) : a.expr % Expr(limit + 1), 0, limit};
  }

  Expr load(Type type, BufferId buffer) {
    if (type.lanes > 1 && chance(20)) {
      Expr base = Expr::broadcast(within(index(), kRandomLoopElements - 1).expr, type.lanes);
      Expr steps = Expr::ramp(0, 1 + pick(3), type.lanes);
      Expr spread = Expr::apply(Fn::kAdd, {base, steps});
      Expr last = Expr::broadcast(kRandomLoopElements - 1, type.lanes);
      return Expr::load(type.element, buffer, Expr::apply(Fn::kMin, {spread, last}));
    }
    const int64_t stride = type.lanes > 1 && chance(30) ? pick(4) : 1;
    const Ranged at = within(index(), kRandomLoopElements - 1 - (type.lanes - 1) * stride);
    Expr mask = type.lanes > 1 && chance(20) ? condition(type.lanes) : Expr();
    return Expr::load(type.element, buffer, at.expr, type.lanes, stride, std::move(mask));
  }

  Expr condition(int width) {
    const Fn compare = std::array{Fn::kLt, Fn::kLe, Fn::kEq}[static_cast<size_t>(pick(3))];
    Expr test;
    if (width == 1 && chance(60)) {
      test = Expr::apply(compare, {index().expr, chance(30) ? Expr::extent(0) : index().expr});
    } else {
      const Type type{ElementType::kF32, width};
      test = Expr::apply(compare, {value(type, 1), value(type, 1)});
    }
    if (chance(20)) return Expr::apply(Fn::kNot, {test});
    if (chance(20)) return Expr::apply(chance(50) ? Fn::kAnd : Fn::kOr, {test, condition(width)});
    return test;
  }

  Expr value(Type type, int depth) {
    if (depth == 0 || chance(15)) return leaf(type);
    return type.element == ElementType::kF32 ? float_value(type, depth - 1)
                                             : int_value(type, depth - 1);
  }

  Expr leaf(Type type) {
    for (const Expr& known : values_)
      if (known.type() == type && chance(50)) return known;
    if (type.element == ElementType::kI32) {
      if (chance(40)) return Expr::number(type, Literal(pick(2000) - 1000));
      return load(type, n_);
    }
    for (const auto& [id, width, count] : registers_)
      if (width == type.lanes && chance(50))
        return Expr::load(ElementType::kF32, id, Expr(int64_t{pick(count)} * width), width);
    if (chance(30)) return Expr::number(type, Literal::rational(pick(200) - 100, 1 + pick(20)));
    return load(type, chance(70) ? x_ : w_);
  }

  Expr float_value(Type type, int depth) {
    constexpr std::array kBinary = {Fn::kAdd, Fn::kSub, Fn::kMul, Fn::kMin, Fn::kMax};
    constexpr std::array kUnary = {Fn::kNeg, Fn::kAbs, Fn::kFloor, Fn::kSqrt};
    switch (pick(9)) {
      case 0:
        return Expr::fma(value(type, depth), value(type, depth), value(type, depth));
      case 1:
        return Expr::apply(kUnary[static_cast<size_t>(pick(4))], {value(type, depth)});
      case 2:
        return Expr::apply(Fn::kSelect,
                           {condition(type.lanes), value(type, depth), value(type, depth)});
      case 3:
        return Expr::cast(ElementType::kF32, value({ElementType::kI32, type.lanes}, depth));
      case 4:
        return Expr::cast(ElementType::kF32, load({ElementType::kF64, type.lanes}, h_));
      case 5:
        return spread(type, depth);
      default:
        return Expr::apply(kBinary[static_cast<size_t>(pick(5))],
                           {value(type, depth), value(type, depth)});
    }
  }

  // Between lanes: folds, broadcasts and shuffles.
  Expr spread(Type type, int depth) {
    if (type.lanes == 1) {
      const Fn fn =
          std::array{Fn::kAdd, Fn::kMul, Fn::kMax, Fn::kMin}[static_cast<size_t>(pick(4))];
      return Expr::fold(fn, value({type.element, lanes()}, depth));
    }
    if (chance(50)) return Expr::broadcast(value({type.element, 1}, depth), type.lanes);
    std::vector<int> order;
    const int width = lanes();
    for (int i = 0; i < type.lanes; ++i) order.push_back(pick(2 * width));
    Expr a = value({type.element, width}, depth);
    Expr b = value({type.element, width}, depth);
    return Expr::shuffle(std::move(a), std::move(b), std::move(order));
  }

  Expr int_value(Type type, int depth) {
    constexpr std::array kBinary = {Fn::kAdd, Fn::kSub, Fn::kMul, Fn::kMin, Fn::kMax, Fn::kBitXor};
    switch (pick(6)) {
      case 0:
        return Expr::apply(Fn::kSelect,
                           {condition(type.lanes), value(type, depth), value(type, depth)});
      case 1:
        return spread(type, depth);
      case 2: {
        Expr base = index().expr;
        Expr ramp = Expr::ramp(base, 1 + pick(3), type.lanes);
        return Expr::cast(type.element, ramp, false);
      }
      default:
        return Expr::apply(kBinary[static_cast<size_t>(pick(6))],
                           {value(type, depth), value(type, depth)});
    }
  }

  struct Registers {
    BufferId id;
    int width, count;
  };

  std::mt19937_64 random_;
  Function function_;
  BufferId x_, h_, n_, at_, w_, y_, z_;
  Expr task_;
  std::vector<Ranged> ranges_;  // integers in scope
  std::vector<Expr> values_;
  std::vector<Registers> registers_;
};

}  // namespace

loop::Function random_loops(uint64_t seed) { return Generator(seed).run(); }

}  // namespace hone
