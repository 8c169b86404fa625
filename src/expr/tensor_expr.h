// A tensor expression: what an operator (or a fused subgraph) computes, as stages of
//   result[axes] = combine over reduction axes of body(axes, reduction axes)
// plus scatters and scans. The one definition from which everything else is derived.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/scalar.h"
#include "support/error.h"
#include "tensor/type.h"

namespace hone {

struct Axis {
  std::string name;  // for people; no meaning
  Dim extent;
};

enum class Combiner : uint8_t {
  kNone,  // no reduction axes; in a scatter: the last update wins
  kSum,
  kProduct,
  kMax,
  kMin,
  kAnd,
  kOr,
  kArgMaxFirst,
  kArgMaxLast,
  kArgMinFirst,
  kArgMinLast,  // one reduction axis; result is i64
};
[[nodiscard]] std::string_view name_of(Combiner combiner);  // "sum", "argmax", "argmax_last", ...

// A tensor that stages read or define. Operands come first, then results in order of definition.
struct TensorDecl {
  std::string name;
  ElementType type;
  Shape shape;
};

// Constants along one axis: index tables (Resize nearest) or coefficients (Resize linear).
struct Table {
  std::string name;
  std::vector<int64_t> indices;  // one of the two is empty
  std::vector<Literal> literals;
};

struct Stage {
  enum class Kind : uint8_t {
    kMap,      // result[axes] = combine_{reduce} body
    kScatter,  // result[axes] = body; then for all reduce axes, in order:
               //   result[target] = combine(result[target], update), if target is inside
    kScan,     // for step = 0 .. extent-1: run `inner`; state <- next
  } kind = Kind::kMap;

  int result = -1;           // tensor defined here (kMap, kScatter)
  std::vector<Axis> axes;    // output axes; AxisId 0 ..
  std::vector<Axis> reduce;  // AxisId axes.size() ..
  Combiner combiner = Combiner::kNone;
  Scalar body;

  std::vector<Index> target;  // kScatter
  Scalar update;              // kScatter

  Axis step;  // kScan; AxisId -1 inside `inner` (-2 in a scan nested deeper)
  std::vector<Stage> inner;
  struct Carried {
    int state;  // tensor that `inner` reads: the value before this step
    int init;   // tensor with the first value
    int next;   // tensor defined in `inner`: the value after this step
    int final;  // tensor defined by the scan: the value after the last step
  };
  std::vector<Carried> carried;
  struct Collected {
    int source;  // tensor defined in `inner`, or a state
    int result;  // tensor defined by the scan: the sources of all steps, stacked on a first axis
  };
  std::vector<Collected> collected;
};

// Two dimensions that must agree for the expression to mean anything.
struct DimEquality {
  Dim left, right;
  std::string what;  // for the message: "inner dimensions"
  friend bool operator==(const DimEquality& a, const DimEquality& b) {
    return a.left == b.left && a.right == b.right;
  }
};

struct TensorExpr {
  std::vector<TensorDecl> tensors;  // operands first
  int operand_count = 0;
  std::vector<Table> tables;
  std::vector<Stage> stages;
  std::vector<int> outputs;  // tensor ids; an output may be an operand
  std::vector<DimEquality> equalities;

  [[nodiscard]] TensorType output_type(size_t i) const {
    const TensorDecl& t = tensors[static_cast<size_t>(outputs[i])];
    return {t.type, t.shape};
  }
  // Structural, without names.
  [[nodiscard]] uint64_t hash() const;
  friend bool operator==(const TensorExpr& a, const TensorExpr& b);
};
using ExprRef = std::shared_ptr<const TensorExpr>;

// Checks the form: ids in range and defined before use, ranks of reads, types, axis ids, shapes of
// carried state, combiners that fit. All problems at once.
[[nodiscard]] Errors verify(const TensorExpr& expr);

// The expression with symbols replaced, as when a shape becomes known.
[[nodiscard]] TensorExpr substitute_symbols(const TensorExpr& expr,
                                            const std::map<std::string, Dim>& values);

}  // namespace hone
