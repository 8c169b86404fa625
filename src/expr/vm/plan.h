// A stage ready to run, in the way that suits it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expr/vm/frame.h"
#include "expr/vm/lowering.h"

namespace hone::vm {

struct RunState {
  Memory memory;
  std::vector<int64_t> steps;  // of enclosing scans, innermost first
};

class Plan {
 public:
  virtual ~Plan() = default;
  // A Failure when a read that must not leaves its tensor.
  virtual void run(RunState& state) const = 0;
  [[nodiscard]] virtual std::string to_string() const = 0;
};
using PlanRef = std::unique_ptr<const Plan>;

// One result of a nest, stored at `address`.
struct StageResult {
  int tensor;
  ElementType type;  // a compute type
  Linear address;
};

// For every point: the value.
[[nodiscard]] PlanRef plan_map(Code code, StageResult result);
// Combines over the reduction axes, tile by tile or along rows.
[[nodiscard]] PlanRef plan_reduce(Code code, StageResult result, Combiner combiner);
// A sum of products with axes that only one factor has; null where that form does not fit.
[[nodiscard]] PlanRef plan_contract(const Code& code, const StageResult& result);
// Updates at data-dependent places, in order. Roots: the update, then the target indices.
[[nodiscard]] PlanRef plan_updates(Code code, StageResult result, std::vector<int64_t> dims,
                                   Combiner combiner);

// A part of a tensor: begin <= index < end on each axis.
struct Region {
  std::vector<int64_t> begin, end;
};
// Any stage; of a map, only the points of a region of its result where one is given.
[[nodiscard]] PlanRef plan_stage(const Environment& environment, const Stage& stage,
                                 const Region* region = nullptr);

// Positions of all slots at the start of a stage.
[[nodiscard]] std::vector<int64_t> start_positions(const Space& space, const RunState& state);
[[nodiscard]] bool is_empty(const Space& space, int begin, int end);

}  // namespace hone::vm
