// The tables of a compiled model, as runtime/program.h has them, in an object file.
#pragma once

#include <string>

#include "driver/elf_object.h"
#include "driver/plan.h"
#include "runtime/library.h"

namespace hone {

// Kernels are the symbols <prefix>_<kernel>; defines <prefix>_program and <prefix>_weights. The
// plan must outlive the object.
[[nodiscard]] ElfObject library_data(const Plan& plan, ElfObject::Machine machine,
                                     const std::string& prefix, bool with_weights);

[[nodiscard]] hone_weights weights_header(const Plan& plan);

// Inputs or outputs of a plan as the runtime describes them, without pointers.
[[nodiscard]] hone_tensor_info info_of(const PlanValue& value);

}  // namespace hone
