#include <algorithm>
#include <cmath>
#include <cstring>

#include "expr/vm/dispatch.h"
#include "expr/vm/lowering.h"
#include "loop/interpreter.h"
#include "support/check.h"
#include "tensor/buffer.h"

namespace hone::loop {
namespace {

// From memory to lanes: formats that are not their own compute type are decoded.
void decode(ElementType type, const std::byte* from, std::byte* to) {
  if (lane_type(type) == type || is_integer(type)) {
    std::memcpy(to, from, size_of(type));
    return;
  }
  uint16_t bits = 0;
  std::memcpy(&bits, from, size_of(type));
  const float decoded = decode_float(type, bits);
  std::memcpy(to, &decoded, sizeof(decoded));
}

}  // namespace

ElementType lane_type(ElementType type) { return vm::compute_type(type, vm::Numbers::kNative); }

std::byte* Arena::take(size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    const size_t size = std::max(bytes, kChunk);
    chunks_.push_back({std::make_unique<std::byte[]>(size), size});
  }
  used_ += bytes;
  return chunks_[chunk_].memory.get() + used_ - bytes;
}

std::byte* Interpreter::lanes(const Type& type) {
  return arena_.take(static_cast<size_t>(type.lanes) * size_of(lane_type(type.element)));
}

int64_t Interpreter::integer(const Expr& expr) {
  const ExprNode& node = *expr;
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
      return node.integer;
    case ExprNode::Kind::kExtent:
      return extents_[static_cast<size_t>(node.integer)];
    case ExprNode::Kind::kApply:
      if (node.args.size() == 2 && node.args[0].type() == Type{}) {
        if (node.fn == Fn::kAdd)
          return vm::Add::apply(integer(node.args[0]), integer(node.args[1]));
        if (node.fn == Fn::kMul)
          return vm::Mul::apply(integer(node.args[0]), integer(node.args[1]));
      }
      break;
    default:
      break;
  }
  int64_t result = 0;
  std::memcpy(&result, value(expr), sizeof(result));
  return result;
}

const std::byte* Interpreter::value(const Expr& expr) {
  const ExprNode& node = *expr;
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
    case ExprNode::Kind::kExtent:
    case ExprNode::Kind::kNumber:
      return number(node);
    case ExprNode::Kind::kVar:
      return vars_[node.var.index()].data();
    case ExprNode::Kind::kLoad:
      return load(node);
    case ExprNode::Kind::kBroadcast: {
      const size_t size = size_of(lane_type(node.type.element));
      const std::byte* scalar = value(node.args[0]);
      std::byte* out = lanes(node.type);
      for (int i = 0; i < node.type.lanes; ++i)
        std::memcpy(out + size * static_cast<size_t>(i), scalar, size);
      return out;
    }
    case ExprNode::Kind::kRamp:
      return ramp(node);
    case ExprNode::Kind::kApply:
      return node.fn == Fn::kCast || node.fn == Fn::kCastWrap ? cast(node) : apply(node);
    case ExprNode::Kind::kFma:
      return fma(node);
    case ExprNode::Kind::kFold:
      return fold(node);
    case ExprNode::Kind::kShuffle:
      return shuffle(node);
  }
  return nullptr;
}

const std::byte* Interpreter::number(const ExprNode& node) {
  Literal literal = node.number;
  if (node.kind == ExprNode::Kind::kInteger) literal = Literal(node.integer);
  if (node.kind == ExprNode::Kind::kExtent)
    literal = Literal(extents_[static_cast<size_t>(node.integer)]);
  const ElementType type = lane_type(node.type.element);
  const auto bytes = vm::constant_of(literal, type, 0);
  std::byte* out = lanes(node.type);
  const size_t size = size_of(type);
  for (int i = 0; i < node.type.lanes; ++i)
    std::memcpy(out + size * static_cast<size_t>(i), bytes.data(), size);
  return out;
}

const std::byte* Interpreter::load(const ExprNode& node) {
  const auto places = elements(node.buffer, node.args[0], node.type.lanes, node.stride,
                               node.args.size() > 1 ? node.args[1] : Expr(), false);
  const ElementType type = node.type.element;
  const size_t size = size_of(type);
  const size_t lane_size = size_of(lane_type(type));
  std::byte* out = lanes(node.type);
  std::memset(out, 0, lane_size * places.size());
  const std::byte* memory = buffers_[node.buffer.index()];
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] >= 0)
      decode(type, memory + size * static_cast<size_t>(places[i]), out + lane_size * i);
  return out;
}

const std::byte* Interpreter::ramp(const ExprNode& node) {
  const int64_t base = integer(node.args[0]);
  const int64_t step = integer(node.args[1]);
  std::byte* out = lanes(node.type);
  for (int64_t i = 0; i < node.type.lanes; ++i) {
    const int64_t lane = vm::Add::apply(base, vm::Mul::apply(i, step));
    std::memcpy(out + sizeof(lane) * static_cast<size_t>(i), &lane, sizeof(lane));
  }
  return out;
}

const std::byte* Interpreter::apply(const ExprNode& node) {
  const ElementType operands = lane_type(node.args.back().type().element);
  const vm::KernelSet kernel = vm::find_kernel(node.fn, operands);
  HONE_CHECK(kernel.arrays != nullptr, "the function is not defined on this type");
  vm::KernelArgs args{nullptr, {}, node.type.lanes, 0, static_cast<int>(node.fn)};
  for (size_t i = 0; i < node.args.size(); ++i) args.in[i] = value(node.args[i]);
  args.out = lanes(node.type);
  kernel.arrays(args);
  return args.out;
}

const std::byte* Interpreter::cast(const ExprNode& node) {
  const ElementType from = lane_type(node.args[0].type().element);
  const ElementType to = lane_type(node.type.element);
  vm::KernelArgs args{nullptr, {value(node.args[0])}, node.type.lanes, 0, 0};
  if (from != to) {
    args.out = lanes(node.type);
    vm::find_cast(from, to)(args);
    args.in[0] = args.out;
  }
  const vm::Kernel narrow = vm::find_narrowing(node.type.element);
  if (narrow == nullptr) return args.in[0];
  args.tag = static_cast<int>(node.type.element) | (node.fn == Fn::kCastWrap ? vm::kWrap : 0);
  args.out = lanes(node.type);
  narrow(args);
  return args.out;
}

const std::byte* Interpreter::fma(const ExprNode& node) {
  const std::byte* in[3] = {value(node.args[0]), value(node.args[1]), value(node.args[2])};
  std::byte* out = lanes(node.type);
  vm::with_type(lane_type(node.type.element), [&]<typename T>(T) {
    if constexpr (vm::Real<T> || vm::Int<T>) {
      for (size_t i = 0; i < static_cast<size_t>(node.type.lanes); ++i) {
        T a, b, c;
        std::memcpy(&a, in[0] + sizeof(T) * i, sizeof(T));
        std::memcpy(&b, in[1] + sizeof(T) * i, sizeof(T));
        std::memcpy(&c, in[2] + sizeof(T) * i, sizeof(T));
        T result;
        if constexpr (vm::Real<T>)
          result = std::fma(a, b, c);
        else
          result = vm::Add::apply(vm::Mul::apply(a, b), c);
        std::memcpy(out + sizeof(T) * i, &result, sizeof(T));
      }
    }
  });
  return out;
}

// Halves on halves; an odd lane joins at the end.
const std::byte* Interpreter::fold(const ExprNode& node) {
  const ElementType type = lane_type(node.type.element);
  const vm::Kernel kernel = vm::find_kernel(node.fn, type).arrays;
  HONE_CHECK(kernel != nullptr, "the function is not defined on this type");
  const size_t size = size_of(type);
  const std::byte* vector = value(node.args[0]);
  std::vector<const std::byte*> odd;
  int64_t count = node.args[0].type().lanes;
  while (count > 1) {
    if (count % 2 != 0) odd.push_back(vector + size * static_cast<size_t>(count - 1));
    count /= 2;
    std::byte* out = arena_.take(size * static_cast<size_t>(count));
    kernel({out,
            {vector, vector + size * static_cast<size_t>(count)},
            count,
            0,
            static_cast<int>(node.fn)});
    vector = out;
  }
  while (!odd.empty()) {
    std::byte* out = arena_.take(size);
    kernel({out, {vector, odd.back()}, 1, 0, static_cast<int>(node.fn)});
    odd.pop_back();
    vector = out;
  }
  return vector;
}

const std::byte* Interpreter::shuffle(const ExprNode& node) {
  const size_t size = size_of(lane_type(node.type.element));
  const int first = node.args[0].type().lanes;
  const std::byte* a = value(node.args[0]);
  const std::byte* b = node.args[1].valid() ? value(node.args[1]) : nullptr;
  std::byte* out = lanes(node.type);
  for (size_t i = 0; i < node.lanes.size(); ++i) {
    const int lane = node.lanes[i];
    const std::byte* from = lane < first ? a + size * static_cast<size_t>(lane)
                                         : b + size * static_cast<size_t>(lane - first);
    std::memcpy(out + size * i, from, size);
  }
  return out;
}

}  // namespace hone::loop
