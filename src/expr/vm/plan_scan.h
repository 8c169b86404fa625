// Scans: the inner stages once per step, with state carried from step to step.
#pragma once

#include "expr/vm/plan.h"

namespace hone::vm {

[[nodiscard]] PlanRef plan_scan(const Environment& environment, const Stage& stage);

}  // namespace hone::vm
