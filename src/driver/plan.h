// What a compiled model consists of before it is machine code: kernels, steps, constants, memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "loop/ir.h"
#include "partition/program.h"
#include "runtime/program.h"
#include "support/error.h"
#include "tensor/buffer.h"

namespace hone {

// Where an argument of a step lies; an offset in bytes.
struct PlanPlace {
  int32_t kind = HONE_IN_ARENA;
  int32_t index = 0;
  int64_t offset = 0;
};

struct PlanStep {
  int kernel = -1;  // -1: the host runs it
  std::vector<PlanPlace> places;
  std::vector<int64_t> extents;
  int64_t tasks = 1;
  std::string label;
  double flops = 0, bytes = 0;
  NodeId host;
  const Graph* host_graph = nullptr;
  std::vector<TensorType> host_inputs, host_outputs;  // kInvalid: absent
};

struct PlanValue {
  std::string name;
  TensorType type;
};

struct Plan {
  std::shared_ptr<const Graph> graph;  // kept for host steps
  std::vector<loop::Function> kernels;
  std::vector<std::string> schedules;  // per kernel, as text
  std::vector<PlanStep> steps;
  std::vector<PlanValue> inputs, outputs;
  Buffer constants;  // u8
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;
  std::vector<std::string> host_notes;  // what is not native, and why
};

// Kernels, constants and memory for a fused program.
[[nodiscard]] Result<std::shared_ptr<Plan>> make_plan(TensorProgram program,
                                                      std::shared_ptr<const Graph> graph,
                                                      const struct CompileOptions& options);

}  // namespace hone
