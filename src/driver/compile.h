// From a model to native code in this process.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "driver/plan.h"
#include "driver/session.h"
#include "graph/model.h"
#include "machine/cpu.h"

namespace hone {

struct CompileOptions {
  Cpu cpu = host_cpu();
  int threads = 1;
  bool winograd = true;  // faster, with errors some times those of the sum itself
  // Called with the name and the text of each stage: "program", "fused", "kernels", "loops".
  std::function<void(const std::string& stage, const std::string& text)> dump;
};

// Everything but machine code: kernels as loop IR, constants, memory plan. For object files too.
[[nodiscard]] Result<std::shared_ptr<Plan>> plan_model(const Model& model,
                                                       const InputShapes& shapes,
                                                       const CompileOptions& options);
[[nodiscard]] Result<Compiled> compile_native(const Model& model, const InputShapes& shapes,
                                              const CompileOptions& options);

}  // namespace hone
