// Integer expressions as linear functions over an IndexSpace, and conditions on them.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "loop/index_space.h"
#include "loop/ir.h"

namespace hone::loop {

class IndexForms {
 public:
  IndexForms(const Function& function, IndexSpace& space)
      : space_(space), vars_(function.vars.size()) {}

  // A vector is a function of its lane, too.
  [[nodiscard]] Linear form(const Expr& expr);
  [[nodiscard]] Linear lane(int lanes) { return atom(lane_atom(lanes)); }
  // The condition, or its contrary, holds from here on in the space's scope.
  void require(const Expr& condition, bool holds = true);

  // Divisions of an integer that can be negative, and whether it certainly is at times.
  struct NegativeDividend {
    const ExprNode* node;
    bool certain;
  };
  [[nodiscard]] std::vector<NegativeDividend> take_negative_dividends() {
    return std::exchange(negative_dividends_, {});
  }

  void define_loop(const Stmt& stmt);
  void define_let(const Stmt& stmt);
  void forget(VarId var) { vars_[var.index()] = {}; }

 private:
  struct Defined {
    Linear form;     // of an integer
    Expr condition;  // of a bool
    bool known = false;
  };
  Linear apply(const ExprNode& node);
  Linear divide(const ExprNode& node);
  Linear choice(const ExprNode& node);
  Linear converted(const ExprNode& node);
  void compare(Fn fn, const Linear& a, const Linear& b, bool holds);
  int lane_atom(int lanes);

  IndexSpace& space_;
  std::vector<NegativeDividend> negative_dividends_;
  std::vector<Defined> vars_;
  std::unordered_map<int, int> lanes_;  // atom for each number of lanes
  std::unordered_map<int64_t, int> extents_;
};

// The values that an integer type holds.
[[nodiscard]] Interval range_of(ElementType type);

}  // namespace hone::loop
