// A program for people.
#include "expr/printer.h"
#include "partition/program.h"

namespace hone {
namespace {

std::string dims_text(const std::vector<int64_t>& dims) { return to_string(to_shape(dims)); }

PrintNames names_of(const TensorProgram& program, const Op& op) {
  PrintNames names;
  for (size_t i = 0; i < program.tensors.size(); ++i)
    names.tensors.push_back("%" + std::to_string(i));
  for (size_t i = 0; i < program.tables.size(); ++i)
    names.tables.push_back("c" + std::to_string(i));
  for (size_t i = 0; i < op.extents.size(); ++i)
    names.axes.push_back((i < op.outputs ? "i" : "k") + std::to_string(i));
  for (size_t i = 0; i < op.steps.size(); ++i) names.steps.push_back("s" + std::to_string(i));
  return names;
}

std::string op_text(const TensorProgram& program, const Op& op, const std::string& indent) {
  std::string out = indent + "# " + op.label + "\n";
  if (op.host_graph != nullptr) return out + indent + "host: " + op.why_host + "\n";
  if (op.scan) {
    out += indent + "scan " + std::to_string(op.scan->extent) + "\n";
    for (const Op& inner : op.scan->ops) out += op_text(program, inner, indent + "  ");
    return out;
  }
  const PrintNames names = names_of(program, op);
  out += indent + (op.serial ? "serial" : "for");
  for (size_t i = 0; i < op.extents.size(); ++i)
    out += " " + names.axes[i] + "<" + std::to_string(op.extents[i]);
  out += "\n";
  if (op.reduces())
    out += indent + "  #-1 = " + std::string(name_of(op.combiner)) + " " +
           print_scalar(op.body, names, std::nullopt) + "\n";
  for (const Op::Write& write : op.writes) {
    std::string at;
    for (const Index& index : write.at) at += (at.empty() ? "" : ", ") + print_index(index, names);
    out += indent + "  " + names.tensor(write.tensor) + "[" + at +
           "] = " + print_scalar(write.value, names, std::nullopt);
    if (write.inner.valid())
      out += " where #-1 = " + print_scalar(write.inner, names, std::nullopt);
    if (write.condition.valid()) out += " if " + print_scalar(write.condition, names, std::nullopt);
    out += "\n";
  }
  return out;
}

}  // namespace

std::string to_text(const TensorProgram& program) {
  std::string out;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const ProgramTensor& tensor = program.tensors[i];
    if (tensor.kind == ProgramTensor::Kind::kResult && !tensor.is_output) continue;
    out += tensor.kind == ProgramTensor::Kind::kInput      ? "input"
           : tensor.kind == ProgramTensor::Kind::kConstant ? "constant"
                                                           : "output";
    out += " %" + std::to_string(i) + ": " + std::string(name_of(tensor.type)) +
           dims_text(tensor.dims) + "  # " + tensor.name + "\n";
  }
  for (const Op& op : program.ops) out += op_text(program, op, "");
  return out;
}

}  // namespace hone
