#include <cstring>

#include "expr/vm/kernels.h"
#include "loop/interpret.h"
#include "loop/interpreter.h"
#include "loop/text.h"
#include "support/check.h"
#include "tensor/buffer.h"

namespace hone::loop {
namespace {

// From a lane to memory: rounded to the format, or its upper bits dropped.
void encode(ElementType type, const std::byte* from, std::byte* to) {
  if (lane_type(type) == type) {
    std::memcpy(to, from, size_of(type));
    return;
  }
  if (is_integer(type)) {
    vm::find_narrowing(type)({to, {from}, 1, 0, static_cast<int>(type)});
    return;
  }
  float value = 0;
  std::memcpy(&value, from, sizeof(value));
  const uint16_t bits = encode_float(type, value, false);
  std::memcpy(to, &bits, size_of(type));
}

}  // namespace

Interpreter::Interpreter(const Function& function, std::span<void* const> buffers,
                         std::span<const int64_t> extents, int64_t begin, int64_t end)
    : function_(function),
      extents_(extents),
      begin_(begin),
      end_(end),
      buffers_(function.buffers.size()),
      vars_(function.vars.size()) {
  HONE_CHECK(static_cast<int>(buffers.size()) == function.argument_count,
             "one pointer per argument");
  HONE_CHECK(extents.size() == function.extents.size(), "one number per extent");
  for (size_t i = 0; i < buffers.size(); ++i) buffers_[i] = static_cast<std::byte*>(buffers[i]);
  for (size_t v = 0; v < vars_.size(); ++v) {
    const Type& type = function.vars[v].type;
    vars_[v].resize(static_cast<size_t>(type.lanes) * size_of(lane_type(type.element)));
  }
}

void Interpreter::block(const Block& block) {
  for (const Stmt& stmt : block) statement(stmt);
}

void Interpreter::statement(const Stmt& stmt) {
  arena_.clear();
  switch (stmt.kind) {
    case Stmt::Kind::kFor:
      return loop(stmt);
    case Stmt::Kind::kLet: {
      auto& var = vars_[stmt.var.index()];
      std::memcpy(var.data(), value(stmt.value), var.size());
      return;
    }
    case Stmt::Kind::kIf: {
      const bool holds = *value(stmt.value) != std::byte{0};
      if (holds) block(stmt.body);
      return;
    }
    case Stmt::Kind::kStore:
      return store(stmt);
    case Stmt::Kind::kPrefetch:
      return;
    case Stmt::Kind::kAlloc:
      return alloc(stmt);
  }
}

void Interpreter::loop(const Stmt& stmt) {
  const int64_t first = integer(stmt.begin);
  const int64_t extent = integer(stmt.extent);
  int64_t from = 0;
  int64_t to = extent;
  if (stmt.loop == LoopKind::kParallel) {
    if (begin_ < 0 || end_ > extent)
      throw Failure{{ErrorKind::kInvalid, function_.name,
                     "tasks " + std::to_string(begin_) + " .. " + std::to_string(end_) + " of " +
                         std::to_string(extent) + " are asked for",
                     ""}};
    from = begin_;
    to = end_;
  }
  auto& var = vars_[stmt.var.index()];
  for (int64_t i = from; i < to; ++i) {
    const int64_t position = first + i;
    std::memcpy(var.data(), &position, sizeof(position));
    block(stmt.body);
  }
}

void Interpreter::store(const Stmt& stmt) {
  const ElementType type = function_.buffer(stmt.buffer).element;
  const std::byte* from = value(stmt.value);
  const auto places =
      elements(stmt.buffer, stmt.index, stmt.value.type().lanes, stmt.stride, stmt.mask, true);
  const size_t size = size_of(type);
  const size_t lane_size = size_of(lane_type(type));
  std::byte* memory = buffers_[stmt.buffer.index()];
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] >= 0)
      encode(type, from + lane_size * i, memory + size * static_cast<size_t>(places[i]));
}

void Interpreter::alloc(const Stmt& stmt) {
  const BufferDecl& decl = function_.buffer(stmt.buffer);
  std::vector<std::byte> memory(static_cast<size_t>(decl.size) * size_of(decl.element),
                                std::byte{0xff});
  buffers_[stmt.buffer.index()] = memory.data();
  block(stmt.body);
  buffers_[stmt.buffer.index()] = nullptr;
}

std::span<const int64_t> Interpreter::elements(BufferId buffer, const Expr& index, int count,
                                               int64_t stride, const Expr& mask, bool writes) {
  const auto lane_count = static_cast<size_t>(count);
  auto* places = reinterpret_cast<int64_t*>(arena_.take(lane_count * sizeof(int64_t)));
  if (index.type().lanes > 1) {
    std::memcpy(places, value(index), lane_count * sizeof(int64_t));
  } else {
    const int64_t first = integer(index);
    for (int64_t i = 0; i < count; ++i) places[i] = first + i * stride;
  }
  const std::byte* active = mask.valid() ? value(mask) : nullptr;
  const int64_t size = function_.buffer(buffer).size;
  for (size_t i = 0; i < lane_count; ++i) {
    if (active != nullptr && active[i] == std::byte{0})
      places[i] = -1;
    else if (places[i] < 0 || places[i] >= size)
      leaves(buffer, index, count, stride, places[i], writes);
  }
  return {places, lane_count};
}

void Interpreter::leaves(BufferId buffer, const Expr& index, int count, int64_t stride,
                         int64_t element, bool writes) const {
  const BufferDecl& decl = function_.buffer(buffer);
  const Expr access = Expr::load(decl.element, buffer, index, count, stride);
  throw Failure{{ErrorKind::kInvalid, function_.name,
                 to_text(access, function_) + (writes ? " writes" : " reads") + " element " +
                     std::to_string(element) + " of " + std::to_string(decl.size),
                 ""}};
}

Result<void> interpret(const Function& function, std::span<void* const> buffers,
                       std::span<const int64_t> extents, int64_t begin, int64_t end) {
  try {
    Interpreter(function, buffers, extents, begin, end).run();
  } catch (const Failure& failure) {
    return std::unexpected(failure.error);
  }
  return {};
}

}  // namespace hone::loop
