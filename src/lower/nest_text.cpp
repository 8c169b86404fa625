// Kernels for people, and as keys: equal text means equal code.
#include "expr/printer.h"
#include "lower/nest.h"

namespace hone {
namespace {

std::string_view role_name(KernelTensor::Role role) {
  switch (role) {
    case KernelTensor::Role::kIn:
      return "in";
    case KernelTensor::Role::kOut:
      return "out";
    case KernelTensor::Role::kConstant:
      return "constant";
    case KernelTensor::Role::kLocal:
      return "local";
  }
  return "";
}

PrintNames names_of(const Kernel& kernel, const Nest& nest) {
  PrintNames names;
  for (size_t i = 0; i < kernel.tensors.size(); ++i)
    names.tensors.push_back("t" + std::to_string(i));
  for (size_t i = 0; i < kernel.tables.size(); ++i) names.tables.push_back("c" + std::to_string(i));
  for (size_t i = 0; i < nest.extents.size(); ++i)
    names.axes.push_back((i < nest.outputs ? "i" : "k") + std::to_string(i));
  for (size_t i = 0; i < nest.steps.size(); ++i) names.steps.push_back("s" + std::to_string(i));
  return names;
}

}  // namespace

std::string to_text(const Kernel& kernel) {
  std::string out;
  for (size_t i = 0; i < kernel.tensors.size(); ++i) {
    const KernelTensor& tensor = kernel.tensors[i];
    out += std::string(role_name(tensor.role)) + " t" + std::to_string(i) + ": " +
           std::string(name_of(tensor.type)) + "[" + std::to_string(tensor.elements) + "]\n";
  }
  for (size_t i = 0; i < kernel.tables.size(); ++i) {
    out += "table c" + std::to_string(i) + " =";
    for (const int64_t entry : kernel.tables[i].indices) out += " " + std::to_string(entry);
    for (const Literal& entry : kernel.tables[i].literals) out += " " + entry.to_string();
    out += "\n";
  }
  if (kernel.shared > 0) out += "shared " + std::to_string(kernel.shared) + "\n";
  for (const Nest& nest : kernel.nests) {
    const PrintNames names = names_of(kernel, nest);
    out += nest.serial ? "serial nest" : "nest";
    for (size_t i = 0; i < nest.extents.size(); ++i)
      out += " " + names.axes[i] + "<" + std::to_string(nest.extents[i]);
    for (size_t i = 0; i < nest.steps.size(); ++i)
      out += " " + names.steps[i] + "<" + std::to_string(nest.steps[i]);
    out += "\n";
    if (nest.reduces())
      out += "  #-1 = " + std::string(name_of(nest.combiner)) + " " +
             print_scalar(nest.body, names, std::nullopt) + "\n";
    for (const Nest::Store& store : nest.stores) {
      out += "  " + names.tensor(store.tensor) + "[" + print_index(store.at, names) +
             "] = " + print_scalar(store.value, names, std::nullopt);
      if (store.inner.valid())
        out += " where #-1 = " + print_scalar(store.inner, names, std::nullopt);
      if (store.condition.valid())
        out += " if " + print_scalar(store.condition, names, std::nullopt);
      out += "\n";
    }
  }
  return out;
}

}  // namespace hone
