// The example of an operator: one use of it as text, for documentation and tests.
//
//   Name(x: f32[2, 3], s: i64[2] = [1, 2], absent) {axis = 1, mode = "x"} -> (y, z)
//
// An operand with a value is known before a run; a name without a type is an absent input. The
// outputs may be left out: then the operator's required ones are meant.
#pragma once

#include <string>
#include <vector>

#include "ops/table.h"

namespace hone {

struct Example {
  std::vector<OperandInfo> operands;
  Attributes attributes;
  size_t output_count = 1;
};

// The newest opset that the operators of ai.onnx are written for.
inline constexpr int kNewestOpset = 28;

[[nodiscard]] Result<Example> parse_example(const OperatorDef& def);
// What a definition sees of the example; `example` must outlive it.
[[nodiscard]] OpContext context_of(const OperatorDef& def, const Example& example,
                                   int opset = kNewestOpset);

}  // namespace hone
