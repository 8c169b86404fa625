// Scalar expressions: the body of a stage. Immutable, typed, shared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/index.h"
#include "expr/literal.h"
#include "tensor/element_type.h"

namespace hone {

// Scalar functions. Their meaning: expr/functions.h, one table row each.
enum class Fn : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNeg,
  kAbs,
  kMin,
  kMax,
  kPow,
  kMod,
  kFmod,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSqrt,
  kErf,
  kTanh,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kEq,
  kLt,
  kLe,
  kAnd,
  kOr,
  kXor,
  kNot,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kShiftLeft,
  kShiftRight,
  kIsNan,
  kIsInf,
  kSelect,
  kCast,
  kCastWrap,
};
inline constexpr int kFnCount = static_cast<int>(Fn::kCastWrap) + 1;

// Facts about a scalar function that every interpretation shares.
struct FnInfo {
  std::string_view name;  // in the text form: "exp", or the operator sign for infix ones
  int arity;
  int infix;            // binding strength, 0 when written as a call
  bool boolean_result;  // comparison or test
  bool commutative;
  bool opaque_in_field;  // a seeded random function in F_p
  int flops;             // operations it counts for
};
[[nodiscard]] const FnInfo& info_of(Fn fn);

struct ScalarNode {
  enum class Kind : uint8_t {
    kLiteral,    // literal
    kParameter,  // name: a scalar attribute left symbolic
    kIndex,      // index as an i64 value
    kTable,      // table[index] of a table of literals
    kRead,       // tensor[indices], or `outside` where an index leaves the tensor's box
    kApply,      // fn(args)
  } kind;
  ElementType type;
  Literal literal;
  std::string name;
  Index index;
  TableId table;
  int tensor = -1;
  std::vector<Index> indices;
  std::shared_ptr<const ScalarNode> outside;  // null: the read never leaves the box
  Fn fn = Fn::kAdd;
  std::vector<Scalar> args;
  uint64_t hash = 0;  // of the structure; names of axes play no part
};

class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(std::shared_ptr<const ScalarNode> node) : node_(std::move(node)) {}
  static Scalar literal(ElementType type, Literal value);
  static Scalar parameter(ElementType type, std::string name);
  static Scalar index(Index value);  // i64
  static Scalar table(ElementType type, TableId table, Index position);
  static Scalar read(ElementType type, int tensor, std::vector<Index> indices);
  static Scalar read_or(ElementType type, int tensor, std::vector<Index> indices, Scalar outside);
  // Checks arity and types (a Failure otherwise) and folds what is exact on literals.
  static Scalar apply(Fn fn, std::vector<Scalar> args);
  static Scalar cast(ElementType to, Scalar value, bool saturate = true);

  [[nodiscard]] bool valid() const { return node_ != nullptr; }
  [[nodiscard]] const ScalarNode& operator*() const { return *node_; }
  [[nodiscard]] const ScalarNode* operator->() const { return node_.get(); }
  [[nodiscard]] const std::shared_ptr<const ScalarNode>& node() const { return node_; }
  [[nodiscard]] ElementType type() const { return node_->type; }
  [[nodiscard]] bool is_literal() const { return node_->kind == ScalarNode::Kind::kLiteral; }
  [[nodiscard]] bool is_literal(int64_t v) const { return is_literal() && node_->literal.is(v); }
  friend bool operator==(const Scalar& a, const Scalar& b);  // structural

 private:
  std::shared_ptr<const ScalarNode> node_;
};

[[nodiscard]] Scalar substitute(const Scalar& scalar, const Substitution& how);

// Algebra, so that definitions read as formulas. A Literal takes the type of its partner.
Scalar operator+(const Scalar& a, const Scalar& b);
Scalar operator-(const Scalar& a, const Scalar& b);
Scalar operator*(const Scalar& a, const Scalar& b);
Scalar operator/(const Scalar& a, const Scalar& b);
Scalar operator+(const Scalar& a, const Literal& b);
Scalar operator-(const Scalar& a, const Literal& b);
Scalar operator*(const Scalar& a, const Literal& b);
Scalar operator/(const Scalar& a, const Literal& b);
Scalar operator+(const Literal& a, const Scalar& b);
Scalar operator-(const Literal& a, const Scalar& b);
Scalar operator*(const Literal& a, const Scalar& b);
Scalar operator/(const Literal& a, const Scalar& b);
Scalar operator-(const Scalar& a);
Scalar min(const Scalar& a, const Scalar& b);
Scalar max(const Scalar& a, const Scalar& b);
Scalar min(const Scalar& a, const Literal& b);
Scalar max(const Scalar& a, const Literal& b);
Scalar pow(const Scalar& a, const Scalar& b);
Scalar abs(const Scalar& a);
Scalar exp(const Scalar& a);
Scalar log(const Scalar& a);
Scalar sqrt(const Scalar& a);
Scalar tanh(const Scalar& a);
Scalar erf(const Scalar& a);
Scalar equal(const Scalar& a, const Scalar& b);
Scalar less(const Scalar& a, const Scalar& b);
Scalar less_equal(const Scalar& a, const Scalar& b);
Scalar less(const Scalar& a, const Literal& b);
Scalar less_equal(const Scalar& a, const Literal& b);
// Conditions on indices: guards.
Scalar equal(const Index& a, const Index& b);
Scalar less(const Index& a, const Index& b);
Scalar less_equal(const Index& a, const Index& b);
Scalar logical_and(const Scalar& a, const Scalar& b);
Scalar logical_or(const Scalar& a, const Scalar& b);
Scalar logical_not(const Scalar& a);
// Only the chosen branch is evaluated: reads in the other may lie outside their box.
Scalar select(const Scalar& condition, const Scalar& then, const Scalar& otherwise);
Scalar select(const Scalar& condition, const Scalar& then, const Literal& otherwise);
Scalar select(const Scalar& condition, const Literal& then, const Scalar& otherwise);

}  // namespace hone
