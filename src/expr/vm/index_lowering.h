// Linear functions of the axes from index expressions, with floor-div and mod removed where
// ranges allow; what remains becomes a value of the code.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "expr/vm/lowering.h"

namespace hone::vm {

// Builds code; equal values are shared.
class CodeBuilder {
 public:
  explicit CodeBuilder(Code& code) : code_(code) {}

  int add(Value value, std::optional<Interval> range = {});
  int constant(ElementType type, std::array<std::byte, 8> bytes, std::string name);
  int as_value(const Linear& linear);
  // floor(linear / divisor), divisor > 0. Mod is a - divisor * floor(a / divisor), so that
  // the two cancel in addresses of reshaped tensors.
  Linear floor_divide(const Linear& linear, int64_t divisor);
  [[nodiscard]] std::optional<Interval> range_of(const Linear& linear) const;
  [[nodiscard]] const Value& operator[](int id) const {
    return code_.values[static_cast<size_t>(id)];
  }

 private:
  Linear divide_rest(const Linear& rest, int64_t divisor);

  Code& code_;
  std::vector<std::optional<Interval>> ranges_;  // of i64 values
  std::unordered_multimap<uint64_t, int> by_hash_;
};

class IndexLowering {
 public:
  // `images` gives each AxisId of the stage as a function of the slots; `read` lowers a scalar
  // to an i64 value.
  IndexLowering(const Environment& environment, const Nest& nest, CodeBuilder& builder,
                std::vector<Linear> images, std::function<int(const Scalar&, bool)> read);
  // Guarded: tables and reads inside may miss, as in a branch that is not taken.
  Linear lower(const Index& index, bool guarded);
  // From the expression's form, which shows more than the lowered sum.
  [[nodiscard]] std::optional<Interval> range_of(const Index& index) const;

 private:
  Linear lower(const Index& index);
  Linear lower_atom(const IndexAtom& atom);
  Linear lower_extreme(const IndexAtom& atom);
  Linear lower_table(const IndexAtom& atom);

  const Environment& environment_;
  const Nest& nest_;
  CodeBuilder& builder_;
  std::vector<Linear> images_;
  std::function<int(const Scalar&, bool)> read_;
  AxisRanges ranges_;
  bool guarded_ = false;
};

}  // namespace hone::vm
