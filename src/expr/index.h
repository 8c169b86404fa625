// Index expressions: sums of axes times constants or symbols, with floor-div, mod, min and max,
// look-ups in index tables, and values read from tensors (data-dependent reads).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensor/dim.h"

namespace hone {

class Scalar;
struct ScalarNode;

// An axis of the stage it occurs in: first the output axes in order, then the reduction axes (of
// a scatter: the update axes). Step axes of enclosing scans count down from -1, innermost first.
struct AxisId {
  int value = 0;
  friend auto operator<=>(AxisId, AxisId) = default;
};

struct TableId {
  int value = 0;
  friend auto operator<=>(TableId, TableId) = default;
};

struct IndexAtom;
using IndexAtomRef = std::shared_ptr<const IndexAtom>;

struct IndexTerm {
  Dim coefficient;
  IndexAtomRef atom;
};

// offset + sum of coefficient * atom; terms sorted and merged, so equal sums compare equal.
class Index {
 public:
  Index(int64_t value = 0) : offset_(value) {}        // NOLINT
  Index(Dim value) : offset_(std::move(value)) {}     // NOLINT
  Index(AxisId axis);                                 // NOLINT
  static Index table(TableId table, Index position);  // entry of an index table
  static Index value(Scalar read);                    // an integer read from a tensor

  [[nodiscard]] const std::vector<IndexTerm>& terms() const { return terms_; }
  [[nodiscard]] const Dim& offset() const { return offset_; }
  [[nodiscard]] bool is_const() const { return terms_.empty(); }
  // The axis, when the index is exactly one axis.
  [[nodiscard]] const AxisId* as_axis() const;
  // True when the sum has only axes (no div, mod, min, max, table or value).
  [[nodiscard]] bool is_affine() const;
  // Coefficient of an axis in the sum (0 if absent); other atoms that contain the axis not counted.
  [[nodiscard]] Dim coefficient(AxisId axis) const;
  [[nodiscard]] bool mentions(AxisId axis) const;
  [[nodiscard]] uint64_t hash() const;

  friend bool operator==(const Index& a, const Index& b);
  friend int compare(const Index& a, const Index& b);
  friend Index operator+(const Index& a, const Index& b);
  friend Index operator-(const Index& a, const Index& b);
  friend Index operator*(const Index& a, const Dim& factor);
  friend Index floor_div(const Index& a, const Dim& divisor);
  friend Index mod(const Index& a, const Dim& divisor);
  friend Index min(const Index& a, const Index& b);
  friend Index max(const Index& a, const Index& b);

 private:
  friend struct IndexBuilder;
  Dim offset_;
  std::vector<IndexTerm> terms_;
};

struct IndexAtom {
  enum class Kind : uint8_t { kAxis, kFloorDiv, kMod, kMin, kMax, kTable, kValue } kind;
  AxisId axis;        // kAxis
  Index left, right;  // kFloorDiv, kMod: left; kMin, kMax: both; kTable: left is the position
  Dim divisor;        // kFloorDiv, kMod
  TableId table;      // kTable
  std::shared_ptr<const ScalarNode> read;  // kValue
};

// How axes, tensors and symbols are replaced when an expression moves to another place.
struct Substitution {
  std::function<Index(AxisId)> axis;      // null: unchanged
  std::function<int(int)> tensor;         // null: unchanged
  std::function<TableId(TableId)> table;  // null: unchanged
  const std::map<std::string, Dim>* symbols = nullptr;
};
[[nodiscard]] Index substitute(const Index& index, const Substitution& how);

}  // namespace hone
