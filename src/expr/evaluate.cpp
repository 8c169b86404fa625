#include "expr/evaluate.h"

#include <algorithm>

#include "expr/field.h"
#include "expr/vm/plan.h"
#include "expr/vm/regions.h"

namespace hone {
namespace {

vm::Numbers numbers_of(Domain domain) {
  switch (domain) {
    case Domain::kDouble:
      return vm::Numbers::kDouble;
    case Domain::kField:
      return vm::Numbers::kField;
    case Domain::kNative:
      break;
  }
  return vm::Numbers::kNative;
}

std::string dims_text(const std::vector<int64_t>& dims) { return to_string(to_shape(dims)); }

// The expression with every symbol replaced by its number.
TensorExpr bind(const TensorExpr& expr, const std::vector<std::vector<int64_t>>& operand_dims,
                std::map<std::string, int64_t> symbols) {
  if (operand_dims.size() != static_cast<size_t>(expr.operand_count))
    throw_invalid("takes " + std::to_string(expr.operand_count) + " operands, not " +
                  std::to_string(operand_dims.size()));
  for (size_t i = 0; i < operand_dims.size(); ++i)
    if (!unify(expr.tensors[i].shape, operand_dims[i], symbols))
      throw_invalid("the operand '" + expr.tensors[i].name + "' has shape " +
                    dims_text(operand_dims[i]) + ", not " + to_string(expr.tensors[i].shape));
  std::map<std::string, Dim> values;
  for (const auto& [name, value] : symbols) values.emplace(name, value);
  TensorExpr bound = substitute_symbols(expr, values);
  for (size_t i = 0; i < operand_dims.size(); ++i)
    if (vm::numbers(bound.tensors[i].shape) != operand_dims[i])
      throw_invalid("the operand '" + expr.tensors[i].name + "' has shape " +
                    dims_text(operand_dims[i]) + ", not " + to_string(bound.tensors[i].shape));
  for (const TensorDecl& tensor : bound.tensors) {
    (void)checked_count(vm::numbers(tensor.shape));
    if (!is_float(tensor.type) && !is_integer(tensor.type) && tensor.type != ElementType::kBool)
      throw_unsupported("cannot compute with elements of type " +
                        std::string(name_of(tensor.type)));
  }
  for (const DimEquality& e : bound.equalities)
    if (vm::number(e.left) != vm::number(e.right))
      throw_invalid(e.what + " differ: " + e.left.to_string() + " and " + e.right.to_string());
  return bound;
}

}  // namespace

struct Program::Impl {
  TensorExpr expr;  // all dimensions are numbers
  EvaluateOptions options;
  std::vector<vm::TableImage> tables;
  std::vector<vm::PlanRef> plans;
  std::vector<bool> is_needed;  // per tensor

  [[nodiscard]] ElementType compute_type_of(const TensorDecl& tensor) const {
    return vm::compute_type(tensor.type, numbers_of(options.domain));
  }

  // Only what the regions name of each tensor.
  void plan(const std::vector<std::optional<vm::Region>>& regions) {
    for (const auto& region : regions) is_needed.push_back(region.has_value());
    const vm::Environment environment{
        expr, numbers_of(options.domain), options.seed, options.parameters, tables, {}};
    for (const Stage& stage : expr.stages) {
      if (!needs(stage)) continue;
      const bool is_map = stage.kind == Stage::Kind::kMap;
      plans.push_back(vm::plan_stage(
          environment, stage, is_map ? &*regions[static_cast<size_t>(stage.result)] : nullptr));
    }
  }

  [[nodiscard]] bool needs(const Stage& stage) const {
    const auto needed = [&](int tensor) {
      return tensor >= 0 && is_needed[static_cast<size_t>(tensor)];
    };
    if (stage.kind != Stage::Kind::kScan) return needed(stage.result);
    return std::any_of(stage.carried.begin(), stage.carried.end(),
                       [&](const auto& c) { return needed(c.final); }) ||
           std::any_of(stage.collected.begin(), stage.collected.end(),
                       [&](const auto& c) { return needed(c.result); });
  }

  void plan_all() {
    std::vector<std::optional<vm::Region>> regions;
    for (const TensorDecl& tensor : expr.tensors) regions.emplace_back(vm::whole_region(tensor));
    plan(regions);
  }

  [[nodiscard]] Buffer prepare_operand(const Buffer& buffer, size_t i) const {
    const TensorDecl& tensor = expr.tensors[i];
    const ElementType storage = storage_type(tensor.type, options.domain);
    if (buffer.type() != storage)
      throw_invalid("the operand '" + tensor.name + "' is " + std::string(name_of(buffer.type())) +
                    ", not " + std::string(name_of(storage)));
    if (buffer.dims() != vm::numbers(tensor.shape))
      throw_invalid("the operand '" + tensor.name + "' has shape " + dims_text(buffer.dims()) +
                    ", not " + hone::to_string(tensor.shape));
    const ElementType compute = compute_type_of(tensor);
    if (compute != storage) return convert(buffer, compute);
    const size_t size = std::max<size_t>(size_of(storage), 1);
    if (reinterpret_cast<uintptr_t>(buffer.data()) % size == 0) return buffer;
    Buffer aligned = Buffer::allocate(storage, buffer.dims());
    std::copy(buffer.bytes().begin(), buffer.bytes().end(), aligned.mutable_data());
    return aligned;
  }

  [[nodiscard]] std::vector<Buffer> run(std::span<const Buffer> operands) const {
    if (operands.size() != static_cast<size_t>(expr.operand_count))
      throw_invalid("takes " + std::to_string(expr.operand_count) + " operands, not " +
                    std::to_string(operands.size()));
    std::vector<Buffer> tensors(expr.tensors.size());
    vm::RunState state;
    for (size_t i = 0; i < tensors.size(); ++i) {
      std::byte* writable = nullptr;
      if (i < operands.size()) {
        tensors[i] = prepare_operand(operands[i], i);
      } else if (is_needed[i]) {
        tensors[i] =
            Buffer::allocate(compute_type_of(expr.tensors[i]), vm::numbers(expr.tensors[i].shape));
        writable = tensors[i].mutable_data();
      }
      state.memory.read.push_back(tensors[i].data());
      state.memory.write.push_back(writable);
    }
    for (const vm::TableImage& table : tables) state.memory.read.push_back(table.data());
    for (const vm::PlanRef& plan : plans) plan->run(state);
    return tensors;
  }

  // A tensor after a run, as its type is stored.
  [[nodiscard]] Buffer finish(std::span<const Buffer> operands, const Buffer& buffer,
                              int tensor) const {
    if (tensor < expr.operand_count) return operands[static_cast<size_t>(tensor)];
    const ElementType storage =
        storage_type(expr.tensors[static_cast<size_t>(tensor)].type, options.domain);
    // A cast has already decided between saturation and infinity; storing must not saturate again.
    return buffer.type() == storage ? buffer : convert(buffer, storage, false);
  }
};

Result<Program> Program::lower(const TensorExpr& expr,
                               const std::vector<std::vector<int64_t>>& operand_dims,
                               const EvaluateOptions& options,
                               const std::map<std::string, int64_t>& symbols) {
  try {
    auto impl = std::make_shared<Impl>();
    impl->expr = bind(expr, operand_dims, symbols);
    impl->options = options;
    impl->plan_all();
    Program program;
    program.impl_ = std::move(impl);
    return program;
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

Result<std::vector<Buffer>> Program::run(std::span<const Buffer> operands) const {
  try {
    const std::vector<Buffer> tensors = impl_->run(operands);
    std::vector<Buffer> outputs;
    for (const int output : impl_->expr.outputs)
      outputs.push_back(impl_->finish(operands, tensors[static_cast<size_t>(output)], output));
    return outputs;
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

std::string Program::to_string() const {
  std::string text;
  for (const vm::PlanRef& plan : impl_->plans) text += plan->to_string();
  return text;
}

namespace {

std::vector<std::vector<int64_t>> dims_of(std::span<const Buffer> operands) {
  std::vector<std::vector<int64_t>> dims;
  for (const Buffer& operand : operands) dims.push_back(operand.dims());
  return dims;
}

void check_box(const vm::Region& box, const TensorDecl& tensor) {
  const std::vector<int64_t> dims = vm::numbers(tensor.shape);
  bool fits = box.begin.size() == dims.size() && box.end.size() == dims.size();
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = box.begin[d] >= 0 && box.begin[d] <= box.end[d] && box.end[d] <= dims[d];
  if (!fits) throw_invalid("the box does not lie in the output " + to_string(tensor.shape));
}

Buffer slice(const Buffer& buffer, const vm::Region& box) {
  std::vector<int64_t> extents;
  for (size_t d = 0; d < box.begin.size(); ++d) extents.push_back(box.end[d] - box.begin[d]);
  Buffer result = Buffer::allocate(buffer.type(), extents);
  const std::vector<int64_t> strides = vm::row_major_strides(buffer.dims());
  const size_t size = size_of(buffer.type());
  std::vector<int64_t> at = box.begin;
  for (int64_t i = 0; i < result.count(); ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < at.size(); ++d) from += at[d] * strides[d];
    std::copy_n(buffer.data() + static_cast<size_t>(from) * size, size,
                result.mutable_data() + static_cast<size_t>(i) * size);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < box.end[d]) break;
      at[d] = box.begin[d];
    }
  }
  return result;
}

}  // namespace

Result<std::vector<Buffer>> evaluate(const TensorExpr& expr, std::span<const Buffer> operands,
                                     const EvaluateOptions& options) {
  const Result<Program> program = Program::lower(expr, dims_of(operands), options);
  if (!program) return std::unexpected(program.error());
  return program->run(operands);
}

Result<Buffer> evaluate_box(const TensorExpr& expr, std::span<const Buffer> operands, size_t output,
                            const Box& box, const EvaluateOptions& options) {
  try {
    HONE_CHECK(output < expr.outputs.size(), "no such output");
    const int tensor = expr.outputs[output];
    const vm::Region region{box.begin, box.end};
    Program::Impl impl;
    impl.expr = bind(expr, dims_of(operands), {});
    impl.options = options;
    check_box(region, impl.expr.tensors[static_cast<size_t>(tensor)]);
    impl.plan(vm::regions_for(impl.expr, tensor, region));
    const std::vector<Buffer> tensors = impl.run(operands);
    return slice(impl.finish(operands, tensors[static_cast<size_t>(tensor)], tensor), region);
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
}

ElementType storage_type(ElementType type, Domain domain) {
  if (!is_float(type) || domain == Domain::kNative) return type;
  return domain == Domain::kDouble ? ElementType::kF64 : ElementType::kField;
}

Buffer to_domain(const Buffer& buffer, Domain domain) {
  const ElementType storage = storage_type(buffer.type(), domain);
  if (storage == buffer.type()) return buffer;
  if (domain == Domain::kDouble) return convert(buffer, storage);
  Buffer image = Buffer::allocate(storage, buffer.dims());
  const std::span<Field> elements = image.as_mutable<Field>();
  for (int64_t i = 0; i < buffer.count(); ++i)
    elements[static_cast<size_t>(i)] = field_of(buffer.as_double(i));
  return image;
}

}  // namespace hone
