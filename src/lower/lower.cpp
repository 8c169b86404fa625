#include "lower/lower.h"

#include <algorithm>
#include <optional>

#include "lower/tile.h"
#include "support/check.h"

namespace hone {
namespace {

using loop::BufferDecl;
using loop::BufferId;
using loop::Scope;

Scope scope_of(KernelTensor::Role role) {
  switch (role) {
    case KernelTensor::Role::kIn:
      return Scope::kIn;
    case KernelTensor::Role::kOut:
      return Scope::kOut;
    case KernelTensor::Role::kConstant:
      return Scope::kConstant;
    case KernelTensor::Role::kLocal:
      return Scope::kThread;
  }
  return Scope::kIn;
}

ElementType table_type(const Table& table) {
  return table.indices.empty() ? ElementType::kF64 : ElementType::kI64;
}

int64_t table_size(const Table& table) {
  return static_cast<int64_t>(table.indices.empty() ? table.literals.size() : table.indices.size());
}

}  // namespace

Lowered lower(const Kernel& kernel, const Schedule& schedule, std::string name) {
  HONE_CHECK(schedule.nests.size() == kernel.nests.size(), "one schedule a nest");
  Lowered result;
  loop::Function& function = result.function;
  function.name = std::move(name);
  // Steps of the scans around it, innermost first.
  for (size_t i = 0; i < kernel.nests[0].steps.size(); ++i)
    function.extents.push_back("step" + std::to_string(i));

  // Packing changes nests and tensors; a tensor packed at run time gets a local copy.
  Kernel packed = kernel;
  std::vector<PreparedNest> nests;
  for (size_t i = 0; i < kernel.nests.size(); ++i)
    nests.push_back(prepare(packed, i, schedule.nests[i], result.packed));

  std::vector<BufferId> tensors(packed.tensors.size());
  std::vector<BufferId> tables;
  const auto declare = [&](size_t i) {
    const KernelTensor& tensor = packed.tensors[i];
    const bool local = tensor.role == KernelTensor::Role::kLocal;
    tensors[i] =
        function.add_buffer({tensor.name, tensor.type, tensor.elements, scope_of(tensor.role),
                             local ? 64 : static_cast<int>(size_of(tensor.type))});
    if (!local) result.arguments.push_back(static_cast<int>(i));
  };
  for (size_t i = 0; i < packed.tensors.size(); ++i)
    if (packed.tensors[i].role != KernelTensor::Role::kLocal) declare(i);
  for (size_t i = 0; i < packed.tables.size(); ++i) {
    const Table& table = packed.tables[i];
    tables.push_back(
        function.add_buffer({table.name.empty() ? "table" : table.name, table_type(table),
                             table_size(table), Scope::kConstant, 8}));
    result.arguments.push_back(-1 - static_cast<int>(i));
  }
  for (size_t i = 0; i < packed.tensors.size(); ++i)
    if (packed.tensors[i].role == KernelTensor::Role::kLocal) declare(i);

  function.body = emit_kernel(function, packed, nests, tensors, tables);
  for (size_t i = packed.tensors.size(); i-- > 0;)
    if (packed.tensors[i].role == KernelTensor::Role::kLocal) {
      loop::Block inner = std::move(function.body);
      function.body.clear();
      function.body.push_back(loop::make_alloc(tensors[i], std::move(inner)));
    }
  return result;
}

}  // namespace hone
