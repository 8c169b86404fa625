// Loop IR: explicit loops, buffers with scopes, and vector expressions. One Function is one kernel.
//
//   kernel relu(x: f32[4096] in, y: f32[4096] out)
//     parallel i = 0 .. 512
//       y[8*i :8] = max(x[8*i :8], f32x8(0))
//
// Buffers are flat; an index is an integer expression. `[i :8]` is eight consecutive elements,
// `[i :8*s]` eight with stride s. Register buffers hold vectors: they must be indexed by constants
// after unrolling, and become SSA values. Loops with the kind `unrolled` have constant extents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/scalar.h"
#include "support/error.h"
#include "support/ids.h"
#include "tensor/element_type.h"

namespace hone::loop {

using VarId = Id<struct VarTag>;
using BufferId = Id<struct BufferTag>;

struct Type {
  ElementType element = ElementType::kI64;
  int lanes = 1;
  friend bool operator==(const Type&, const Type&) = default;
};

class Expr;

struct ExprNode {
  enum class Kind : uint8_t {
    kInteger,    // `integer`, an i64 (or bool) scalar
    kNumber,     // `number`, a literal of any type, in all lanes
    kVar,        // loop variable (i64) or let (any type)
    kExtent,     // argument `integer` of the kernel: an extent left open
    kLoad,       // buffer[index], lanes elements with `stride`; a vector index gathers
    kBroadcast,  // args[0] in all lanes
    kRamp,       // args[0] + lane * args[1], integers
    kApply,      // fn(args), lane by lane
    kFma,        // args[0] * args[1] + args[2]
    kFold,       // the lanes of args[0], combined by `fn` (kAdd, kMul, kMax, kMin, kAnd, kOr)
    kShuffle,    // lane i is lane `lanes[i]` of args[0] followed by args[1]
  } kind;
  Type type;
  int64_t integer = 0;
  Literal number;
  VarId var;
  BufferId buffer;
  int64_t stride = 1;
  Fn fn = Fn::kAdd;
  std::vector<int> lanes;  // kShuffle
  std::vector<Expr> args;  // kLoad: index, then the mask if any
};

class Expr {
 public:
  Expr() = default;
  Expr(int64_t value);  // NOLINT: integers are expressions
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  static Expr var(VarId id, Type type = {});
  static Expr extent(int64_t argument);
  static Expr number(Type type, Literal value);
  static Expr load(ElementType element, BufferId buffer, Expr index, int lanes = 1,
                   int64_t stride = 1, Expr mask = {});
  static Expr broadcast(Expr scalar, int lanes);
  static Expr ramp(Expr base, Expr stride, int lanes);
  static Expr apply(Fn fn, std::vector<Expr> args);
  static Expr cast(ElementType to, Expr value, bool saturate = true);
  static Expr fma(Expr a, Expr b, Expr c);
  static Expr fold(Fn fn, Expr vector);
  static Expr shuffle(Expr a, Expr b, std::vector<int> lanes);

  [[nodiscard]] bool valid() const { return node_ != nullptr; }
  [[nodiscard]] const ExprNode* operator->() const { return node_.get(); }
  [[nodiscard]] const ExprNode& operator*() const { return *node_; }
  [[nodiscard]] const Type& type() const { return node_->type; }
  [[nodiscard]] bool is_integer() const { return node_->kind == ExprNode::Kind::kInteger; }
  [[nodiscard]] bool is(int64_t value) const { return is_integer() && node_->integer == value; }

 private:
  std::shared_ptr<const ExprNode> node_;
};

// Integer arithmetic on indices, simplified; division and modulo round down and expect the
// dividend not to be negative.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator%(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);

enum class Scope : uint8_t {
  kIn,        // argument, read
  kOut,       // argument, written (and read back)
  kConstant,  // argument, packed at compile time, read
  kThread,    // scratch memory of one thread
  kRegister,  // vector registers
};

struct BufferDecl {
  std::string name;
  ElementType element;
  int64_t size = 0;  // elements
  Scope scope = Scope::kIn;
  int alignment = 64;  // bytes that the start is a multiple of
};

struct Stmt;
using Block = std::vector<Stmt>;

enum class LoopKind : uint8_t { kSerial, kParallel, kUnrolled };

struct Stmt {
  enum class Kind : uint8_t {
    kFor,       // for var = begin .. begin + extent, step 1
    kLet,       // var = value, seen by the statements after it in the same block
    kIf,        // if value (a bool) then `body`
    kStore,     // buffer[index] = value, lanes elements with `stride`, where mask
    kAlloc,     // `buffer` (thread or register scope) exists in `body`
    kPrefetch,  // buffer[index] will be read soon; may lie outside the buffer
  } kind;
  LoopKind loop = LoopKind::kSerial;
  VarId var;
  Expr begin, extent;
  Expr value;
  BufferId buffer;
  Expr index, mask;
  int64_t stride = 1;
  Block body;
};

struct VarDecl {
  std::string name;
  Type type;
};

// At most one parallel loop, outside all others: its iterations are the kernel's tasks.
struct Function {
  std::string name;
  std::vector<BufferDecl> buffers;  // arguments first, in order of the kernel's pointers
  int argument_count = 0;
  std::vector<std::string> extents;  // integer arguments
  std::vector<VarDecl> vars;
  Block body;

  VarId add_var(std::string wanted, Type type = {});
  BufferId add_buffer(BufferDecl decl);
  [[nodiscard]] const BufferDecl& buffer(BufferId id) const { return buffers[id.index()]; }
};

Stmt make_for(LoopKind kind, VarId var, Expr extent, Block body, Expr begin = 0);
Stmt make_let(VarId var, Expr value);
Stmt make_if(Expr condition, Block body);
Stmt make_store(BufferId buffer, Expr index, Expr value, int64_t stride = 1, Expr mask = {});
Stmt make_alloc(BufferId buffer, Block body);
Stmt make_prefetch(BufferId buffer, Expr index);

// Bytes of scratch memory that a task needs: all thread buffers, each from a multiple of 64.
[[nodiscard]] int64_t scratch_bytes(const Function& function);
// The extent of the parallel loop; 1 where there is none.
[[nodiscard]] Expr task_count(const Function& function);

}  // namespace hone::loop
