// Values of a nest's body at one place of its loops, as loop IR: scalars or vectors.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "expr/index_facts.h"
#include "loop/ir.h"
#include "lower/nest.h"

namespace hone {

// What the axes are at a place. One axis may run over the lanes of a vector.
struct Place {
  std::vector<loop::Expr> axes;   // the lane axis: its value in lane 0
  std::vector<loop::Expr> steps;  // of the scans around, innermost first
  int lane_axis = -1;
  int lanes = 1;
  bool lanes_aligned = false;  // lane 0 is a multiple of the lanes
};

// The type that values of an element type have in registers: small floats compute as f32.
[[nodiscard]] ElementType register_type(ElementType type);

class Values {
 public:
  Values(loop::Function& function, const std::vector<loop::BufferId>& tensors,
         const std::vector<loop::BufferId>& tables)
      : function_(function), tensors_(tensors), tables_(tables) {}

  // Integer value of an index, a scalar, or a vector where the lane axis occurs in it.
  loop::Expr index(const Index& index, const Place& place);
  // Value of a scalar with the place's lanes or one lane, where `mask` (if valid) holds; elsewhere
  // anything, and nothing is read. Statements that must come first (reads that are shared) go to
  // `before`; each distinct read is made once until `forget` is called.
  loop::Expr value(const Scalar& scalar, const Place& place, loop::Block& before,
                   const loop::Expr& mask = {});
  void set_accumulator(loop::Expr value) { accumulator_ = std::move(value); }
  void forget() {
    known_.clear();
    computed_.clear();
  }
  // From now on this part of a value is that expression; none are left after `release`.
  void fix(const Scalar& scalar, loop::Expr value) { fixed_values_[&*scalar] = std::move(value); }
  void unfix(const Scalar& scalar) { fixed_values_.erase(&*scalar); }
  void release() { fixed_values_.clear(); }
  // Values that occur several times are computed once, as long as the place is the same.
  void share_values(bool on) {
    share_values_ = on;
    computed_.clear();
  }
  // Parts of indices without these axes are computed once, in `block`; null: no more.
  void hoist(loop::Block* block, std::vector<int> inner_axes) {
    hoisted_ = block;
    inner_ = std::move(inner_axes);
    fixed_.clear();
  }
  // Indices are those of this nest's axes from now on.
  void enter(const Nest& nest) {
    facts_.emplace(nest.dims(), std::vector<Dim>(nest.steps.begin(), nest.steps.end()));
  }

  // Where a flat index points in lane 0, and how far apart its lanes are.
  struct Lanes {
    enum class Kind : uint8_t { kUniform, kStrided, kShuffled, kGathered } kind;
    int64_t stride = 0;
    std::vector<int> pattern;  // kShuffled: lane -> element after the first
    Index first;               // kUniform, kStrided, kShuffled: as an index at lane 0
  };
  static Lanes lanes_of(const Index& index, const Place& place);

 private:
  loop::Expr read(const ScalarNode& node, const Place& place, loop::Block& before,
                  const loop::Expr& mask);
  loop::Expr load(int tensor, const Index& at, const Place& place, loop::Block& before,
                  const loop::Expr& mask);
  loop::Expr apply(const ScalarNode& node, const Place& place, loop::Block& before,
                   const loop::Expr& mask);
  loop::Expr atom(const IndexAtom& atom, const Place& place, bool vector);
  loop::Expr sum(const Index& index, const Place& place, bool vector);
  // How many divisors must be added so that the index is not negative.
  int64_t lifted(const Index& index, int64_t divisor) const;
  loop::Expr shared(loop::Expr value, loop::Block& before);

  loop::Function& function_;
  const std::vector<loop::BufferId>& tensors_;
  const std::vector<loop::BufferId>& tables_;
  loop::Expr align(Lanes& lanes, const Place& place, const loop::BufferDecl& buffer,
                   const loop::Expr& where);
  loop::Expr address(const Index& index, const Place& place);

  loop::Expr accumulator_;
  loop::Expr mask_;
  bool sharing_ = true;
  bool whole_ = false;  // the last `align` found a whole vector
  bool share_values_ = false;
  std::map<const ScalarNode*, loop::Expr> computed_, fixed_values_;
  loop::Block* hoisted_ = nullptr;
  std::vector<int> inner_;
  std::vector<std::pair<loop::Expr, loop::Expr>> fixed_;
  std::optional<IndexFacts> facts_;
  std::vector<std::pair<loop::Expr, loop::Expr>> known_;  // load -> variable that holds it
};

// Same structure?
[[nodiscard]] bool same(const loop::Expr& a, const loop::Expr& b);

}  // namespace hone
