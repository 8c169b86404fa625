#include "driver/session.h"

#include <algorithm>

#include "ops/onnx_types.h"

namespace hone {
namespace {

std::string type_text(ElementType element, std::span<const int64_t> dims) {
  std::string text = std::string(name_of(element)) + "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

// Checks of inputs rest on the program's own idea of them.
void check_program(const hone_program& program, const std::vector<InterfaceValue>& inputs,
                   const InputShapes& shapes) {
  HONE_CHECK(program.input_count == static_cast<int64_t>(inputs.size()), "inputs went missing");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const hone_tensor_info& info = program.inputs[i];
    HONE_CHECK(element_of(info) == inputs[i].type.element, "an input changed its type");
    HONE_CHECK(std::ranges::equal(dims_of(info), shapes.at(inputs[i].name)),
               "an input changed its shape");
  }
}

}  // namespace

Result<void> Session::read_interface() {
  Result<std::vector<InterfaceValue>> inputs =
      fixed_inputs(model_.graph, options_.shapes, options_.symbols);
  if (!inputs) return std::unexpected(std::move(inputs.error()));
  inputs_ = *std::move(inputs);
  outputs_ = outputs_of(model_.graph);
  return {};
}

Result<std::unique_ptr<Session>> Session::create(Model model, std::shared_ptr<const void> owner,
                                                 Compiler compiler, SessionOptions options) {
  if (options.threads < 1)
    return fail(ErrorKind::kInvalid, "threads",
                std::to_string(options.threads) + " is no number of threads", "1 or more");
  std::unique_ptr<Session> session(new Session);
  session->owner_ = std::move(owner);
  session->model_ = std::move(model);
  session->compiler_ = std::move(compiler);
  session->options_ = std::move(options);
  if (Result<void> read = session->read_interface(); !read)
    return std::unexpected(std::move(read.error()));
  const Result<InputShapes> shapes = concrete_shapes(session->inputs_);
  if (!shapes) return session;  // open: the first run will tell
  auto compiled = session->find_or_compile(*shapes);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  session->model_ = {};  // there is no other shape to come: its weights may go
  return session;
}

Result<InputShapes> Session::check_inputs(std::span<const TensorView> inputs) const {
  if (inputs.size() != inputs_.size())
    return fail(ErrorKind::kInvalid, "",
                std::to_string(inputs.size()) + " inputs are given, the model has " +
                    std::to_string(inputs_.size()),
                names_of(inputs_));
  InputShapes shapes;
  std::map<std::string, int64_t> bindings;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InterfaceValue& declared = inputs_[i];
    const bool absent = inputs[i].data == nullptr && inputs[i].element == ElementType::kInvalid;
    if (absent && declared.default_value.empty_handle())
      return fail(ErrorKind::kInvalid, "input '" + declared.name + "'", "is missing",
                  declared.type.to_string());
    const TensorView given = absent ? view_of(declared.default_value) : inputs[i];
    const std::vector<int64_t> dims(given.dims.begin(), given.dims.end());
    const bool negative = std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; });
    if (given.element != declared.type.element || negative ||
        (declared.type.shape && !unify(*declared.type.shape, dims, bindings)))
      return fail(ErrorKind::kInvalid, "input '" + declared.name + "'",
                  "is " + type_text(given.element, given.dims) + ", but the model expects " +
                      declared.type.to_string());
    if (given.data == nullptr && std::ranges::find(dims, 0) == dims.end())
      return fail(ErrorKind::kInvalid, "input '" + declared.name + "'", "is a null pointer");
    shapes[declared.name] = dims;
  }
  return shapes;
}

std::shared_ptr<Specialization> Session::find(const InputShapes& shapes) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::ranges::find(cache_, shapes, &Entry::shapes);
  if (at == cache_.end()) return nullptr;
  cache_.splice(cache_.begin(), cache_, at);
  return at->specialization;
}

void Session::keep(Entry entry) {
  const std::scoped_lock lock(mutex_);
  ++counts_.compiled;
  cache_.push_front(std::move(entry));
  while (cache_.size() > std::max<size_t>(options_.cache_size, 1)) {
    cache_.pop_back();  // runs that are under way hold it themselves
    ++counts_.dropped;
  }
}

Result<std::shared_ptr<Specialization>> Session::find_or_compile(const InputShapes& shapes) {
  const std::scoped_lock lock(compiling_);
  if (auto found = find(shapes)) return found;  // another thread was quicker
  Result<Compiled> compiled = compiler_(model_, shapes);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  check_program(*compiled->program, inputs_, shapes);
  auto specialization = std::make_shared<Specialization>(*std::move(compiled), options_.threads);
  keep({shapes, specialization});
  return specialization;
}

Result<std::shared_ptr<Specialization>> Session::specialize(std::span<const TensorView> inputs) {
  const Result<InputShapes> shapes = check_inputs(inputs);
  if (!shapes) return std::unexpected(shapes.error());
  if (auto found = find(*shapes)) {
    const std::scoped_lock lock(mutex_);
    ++counts_.hits;
    return found;
  }
  return find_or_compile(*shapes);
}

CacheCounts Session::cache_counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

std::string Session::report() const {
  const std::scoped_lock lock(mutex_);
  return cache_.empty() ? std::string() : cache_.front().specialization->report();
}

ElementType element_of(const hone_tensor_info& info) {
  return element_type_of_onnx(info.element_type).value_or(ElementType::kInvalid);
}

std::span<const int64_t> dims_of(const hone_tensor_info& info) {
  return {info.dims, static_cast<size_t>(info.rank)};
}

TensorView view_of(const Buffer& buffer) { return {buffer.type(), buffer.dims(), buffer.data()}; }

}  // namespace hone
