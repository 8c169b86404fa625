// What the extents of axes tell about indices: behind analysis.h, and for lowering.
//
// Symbols are >= 0, divisors are not 0, and inside a stage every axis has at least one step: an
// extent K means K >= 1 there.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "expr/analysis.h"

namespace hone {

class IndexFacts {
 public:
  // Extents of the stage's axes, and of the scans around it, outermost first.
  IndexFacts(std::vector<Dim> extents, std::vector<Dim> steps);

  [[nodiscard]] bool at_least(const Dim& a, const Dim& b) const;
  [[nodiscard]] Range range(const Index& index) const;
  // low <= index <= high for all values of the axes?
  [[nodiscard]] bool within(const Index& index, const Dim& low, const Dim& high) const;

  [[nodiscard]] Index simplify(const Index& index);
  [[nodiscard]] Scalar simplify(const Scalar& scalar, const TensorExpr* expr);

 private:
  [[nodiscard]] Range range(const IndexAtom& atom) const;
  [[nodiscard]] Range range(AxisId axis) const;
  Index simplify_atom(const IndexAtomRef& atom);
  Index divide(const Index& a, const Dim& divisor);
  Index modulo(const Index& a, const Dim& divisor);
  Index choose(const Index& a, const Index& b, bool least);
  Index recombine(Index sum);
  Scalar rebuild(const ScalarNode& node, const TensorExpr* expr);
  Scalar rebuild_read(const ScalarNode& node, const TensorExpr* expr);
  Scalar decide(Fn fn, const std::vector<Scalar>& args) const;

  std::vector<Dim> extents_, steps_;
  std::map<std::string, Dim> positive_;  // K -> K + 1 for symbols that are at least 1
  std::unordered_map<const ScalarNode*, Scalar> done_;
};

// index = divisor * multiple + rest, with every divisible term in `multiple`; where the divisor and
// the offset are numbers, 0 <= offset of rest < divisor.
struct IndexSplit {
  Index multiple, rest;
};
[[nodiscard]] IndexSplit split(const Index& index, const Dim& divisor);

}  // namespace hone
