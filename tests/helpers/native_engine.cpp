#include "helpers/native_engine.h"

#include "driver/compile.h"
#include "graph/interpreter.h"

namespace hone::test {
namespace {

Result<std::vector<Buffer>> run_native(const Model& model, std::span<const Buffer> inputs) {
  InputShapes shapes;
  std::vector<const void*> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].empty_handle() || inputs[i].type() == ElementType::kString)
      return fail(ErrorKind::kUnsupported, "input", "absent or text");
    shapes[model.graph.value(model.graph.inputs()[i]).name] = inputs[i].dims();
    in.push_back(inputs[i].data());
  }
  CompileOptions options;
  Result<Compiled> compiled = compile_native(model, shapes, options);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  const hone_program& program = *compiled->program;
  std::vector<Buffer> outputs;
  std::vector<void*> out;
  for (int64_t i = 0; i < program.output_count; ++i) {
    const auto dims = dims_of(program.outputs[i]);
    outputs.push_back(Buffer::allocate(element_of(program.outputs[i]), {dims.begin(), dims.end()}));
    out.push_back(outputs.back().mutable_data());
  }
  hone_context* context = hone_context_create(&program, 1);
  const char* problem = hone_context_run(context, in.data(), out.data());
  hone_context_destroy(context);
  if (problem != nullptr) return fail(ErrorKind::kUnsupported, "run", problem);
  return outputs;
}

}  // namespace

CaseEngine native_engine(bool allow_reference) {
  return [=](const Model& model, std::span<const Buffer> inputs) -> Result<std::vector<Buffer>> {
    Result<std::vector<Buffer>> result = run_native(model, inputs);
    if (result || !allow_reference || result.error().kind != ErrorKind::kUnsupported) return result;
    return interpret(model.graph, inputs);
  };
}

}  // namespace hone::test
