#include "graph/control_flow.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hone {
namespace {

using Buffers = std::vector<Buffer>;

const Graph* body_of(const Node& node, const std::string& attribute) {
  const auto at = node.attributes.find(attribute);
  if (at == node.attributes.end()) return nullptr;
  const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&at->second);
  return graph == nullptr ? nullptr : graph->get();
}

bool truth(const Buffer& condition) { return condition.count() > 0 && condition.as_int(0) != 0; }

// Buffers of equal type and shape, stacked along a new axis.
Result<Buffer> stack(const Node& node, const Buffers& parts, ElementType type, int axis,
                     bool reversed) {
  std::vector<int64_t> dims = parts.empty() ? std::vector<int64_t>{} : parts[0].dims();
  for (const Buffer& part : parts)
    if (part.dims() != dims || part.type() != parts[0].type())
      return fail(ErrorKind::kInvalid, node.label(), "iterations give outputs of different shapes");
  if (axis < 0) axis += static_cast<int>(dims.size()) + 1;
  if (axis < 0 || axis > static_cast<int>(dims.size()))
    return fail(ErrorKind::kInvalid, node.label(), "an output axis is out of range");
  const auto split = dims.begin() + axis;
  int64_t outer = 1;
  for (auto d = dims.begin(); d != split; ++d) outer *= *d;
  dims.insert(split, static_cast<int64_t>(parts.size()));
  Buffer result = Buffer::allocate(parts.empty() ? type : parts[0].type(), dims);
  if (result.byte_size() == 0) return result;
  const size_t block = parts[0].byte_size() / static_cast<size_t>(outer);
  for (size_t p = 0; p < parts.size(); ++p) {
    const size_t position = reversed ? parts.size() - 1 - p : p;
    for (size_t o = 0; o < static_cast<size_t>(outer); ++o)
      std::memcpy(result.mutable_data() + (o * parts.size() + position) * block,
                  parts[p].data() + o * block, block);
  }
  return result;
}

// Element `position` of an axis, which disappears.
Result<Buffer> slice(const Node& node, const Buffer& buffer, int axis, int64_t position) {
  std::vector<int64_t> dims = buffer.dims();
  if (axis < 0) axis += buffer.rank();
  if (axis < 0 || axis >= buffer.rank())
    return fail(ErrorKind::kInvalid, node.label(), "an input axis is out of range");
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (position >= extent)
    return fail(ErrorKind::kInvalid, node.label(), "scan inputs have different lengths");
  int64_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= dims[static_cast<size_t>(d)];
  dims.erase(dims.begin() + axis);
  Buffer result = Buffer::allocate(buffer.type(), dims);
  if (result.byte_size() == 0) return result;
  const size_t block = result.byte_size() / static_cast<size_t>(outer);
  for (size_t o = 0; o < static_cast<size_t>(outer); ++o)
    std::memcpy(
        result.mutable_data() + o * block,
        buffer.data() + (o * static_cast<size_t>(extent) + static_cast<size_t>(position)) * block,
        block);
  return result;
}

Result<Buffers> run_if(const Node& node, std::span<const Buffer> operands,
                       const InterpretOptions& options) {
  if (operands.empty() || operands[0].empty_handle())
    return fail(ErrorKind::kInvalid, node.label(), "has no condition");
  const Graph* body = body_of(node, truth(operands[0]) ? "then_branch" : "else_branch");
  if (body == nullptr) return fail(ErrorKind::kInvalid, node.label(), "has no branch");
  return interpret(*body, {}, options);
}

constexpr int64_t kMaxIterations = 1'000'000;

Result<Buffers> run_loop(const Node& node, std::span<const Buffer> operands,
                         const InterpretOptions& options) {
  const Graph* body = body_of(node, "body");
  if (body == nullptr || operands.size() < 2 || body->inputs().size() != operands.size() ||
      body->outputs().size() + 1 < operands.size())
    return fail(ErrorKind::kInvalid, node.label(), "its body does not fit its inputs");
  const int64_t limit = operands[0].empty_handle() ? kMaxIterations : operands[0].as_int(0);
  bool go_on = operands[1].empty_handle() || truth(operands[1]);
  Buffers state(operands.begin() + 2, operands.end());
  const size_t scans = body->outputs().size() - 1 - state.size();
  std::vector<Buffers> collected(scans);
  for (int64_t i = 0; i < limit && go_on; ++i) {
    if (i == kMaxIterations) return fail(ErrorKind::kUnsupported, node.label(), "loops too long");
    Buffer yes = Buffer::allocate(ElementType::kBool, {});
    yes.as_mutable<uint8_t>()[0] = 1;
    Buffers inputs = {Buffer::scalar_int(i), yes};
    inputs.insert(inputs.end(), state.begin(), state.end());
    Result<Buffers> outputs = interpret(*body, inputs, options);
    if (!outputs) return outputs;
    go_on = truth((*outputs)[0]);
    for (size_t k = 0; k < state.size(); ++k) state[k] = (*outputs)[1 + k];
    for (size_t k = 0; k < scans; ++k) collected[k].push_back((*outputs)[1 + state.size() + k]);
  }
  for (size_t k = 0; k < scans; ++k) {
    const ElementType type =
        body->value(body->outputs()[1 + (operands.size() - 2) + k]).type.element;
    Result<Buffer> stacked = stack(node, collected[k], type, 0, false);
    if (!stacked) return std::unexpected(std::move(stacked.error()));
    state.push_back(*std::move(stacked));
  }
  return state;
}

int64_t entry(const Node& node, const std::string& attribute, size_t i) {
  const auto at = node.attributes.find(attribute);
  if (at == node.attributes.end()) return 0;
  const auto* values = std::get_if<std::vector<int64_t>>(&at->second);
  return values != nullptr && i < values->size() ? (*values)[i] : 0;
}

Result<Buffers> run_scan(const Node& node, std::span<const Buffer> operands,
                         const InterpretOptions& options) {
  const Graph* body = body_of(node, "body");
  const auto count = node.attributes.find("num_scan_inputs");
  if (body == nullptr || count == node.attributes.end() || node.opset < 9)
    return fail(ErrorKind::kUnsupported, node.label(), "only Scan of opset 9 and later is run");
  const auto* scan_inputs = std::get_if<int64_t>(&count->second);
  const auto inputs_scanned = static_cast<size_t>(scan_inputs != nullptr ? *scan_inputs : 0);
  if (inputs_scanned == 0 || inputs_scanned > operands.size() ||
      body->inputs().size() != operands.size() ||
      body->outputs().size() < operands.size() - inputs_scanned)
    return fail(ErrorKind::kInvalid, node.label(), "its body does not fit its inputs");
  const size_t states = operands.size() - inputs_scanned;
  Buffers state(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(states));
  const size_t scans = body->outputs().size() - states;
  std::vector<Buffers> collected(scans);
  const Buffer& first = operands[states];
  const auto first_axis = static_cast<int>(entry(node, "scan_input_axes", 0));
  const int normalised = first_axis < 0 ? first_axis + first.rank() : first_axis;
  if (normalised < 0 || normalised >= first.rank())
    return fail(ErrorKind::kInvalid, node.label(), "a scan axis is out of range");
  const int64_t length = first.dims()[static_cast<size_t>(normalised)];
  for (int64_t i = 0; i < length; ++i) {
    Buffers inputs = state;
    for (size_t k = 0; k < inputs_scanned; ++k) {
      const bool backward = entry(node, "scan_input_directions", k) != 0;
      Result<Buffer> part =
          slice(node, operands[states + k], static_cast<int>(entry(node, "scan_input_axes", k)),
                backward ? length - 1 - i : i);
      if (!part) return std::unexpected(std::move(part.error()));
      inputs.push_back(*std::move(part));
    }
    Result<Buffers> outputs = interpret(*body, inputs, options);
    if (!outputs) return outputs;
    for (size_t k = 0; k < states; ++k) state[k] = (*outputs)[k];
    for (size_t k = 0; k < scans; ++k) collected[k].push_back((*outputs)[states + k]);
  }
  for (size_t k = 0; k < scans; ++k) {
    const ElementType type = body->value(body->outputs()[states + k]).type.element;
    Result<Buffer> stacked =
        stack(node, collected[k], type, static_cast<int>(entry(node, "scan_output_axes", k)),
              entry(node, "scan_output_directions", k) != 0);
    if (!stacked) return std::unexpected(std::move(stacked.error()));
    state.push_back(*std::move(stacked));
  }
  return state;
}

}  // namespace

bool is_control_flow(const Node& node) {
  return node.domain.empty() && (node.op == "If" || node.op == "Loop" || node.op == "Scan");
}

Result<Buffers> run_control_flow(const Node& node, std::span<const Buffer> operands,
                                 const std::map<std::string, Buffer>& captured,
                                 const InterpretOptions& options) {
  InterpretOptions inner = options;
  inner.progress = nullptr;
  inner.outer = &captured;
  inner.allow_absent_inputs = false;
  if (node.op == "If") return run_if(node, operands, inner);
  if (node.op == "Loop") return run_loop(node, operands, inner);
  return run_scan(node, operands, inner);
}

}  // namespace hone
