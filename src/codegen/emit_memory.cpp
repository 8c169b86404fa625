#include <optional>

#include "codegen/emitter.h"
#include "codegen/functions.h"
#include "codegen/storage.h"
#include "support/check.h"

namespace hone {

using loop::BufferId;
using loop::Expr;
using loop::ExprNode;
using loop::Stmt;

namespace {

llvm::Align alignment_of(ElementType type) { return llvm::Align(size_of(type)); }

// n when the mask is constant and selects the first n lanes.
std::optional<int> prefix_length(Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return std::nullopt;
  const int lanes = Builder::lanes_of(mask);
  int count = 0;
  for (int i = 0; i < lanes; ++i) {
    const auto* bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(
        lanes == 1 ? constant : constant->getAggregateElement(static_cast<unsigned>(i)));
    if (bit == nullptr) return std::nullopt;
    if (bit->isOne() && count != i) return std::nullopt;
    if (bit->isOne()) ++count;
  }
  return count;
}

// Powers of two that sum up to the count, largest first.
std::vector<std::pair<int, int>> pieces_of(int count) {
  std::vector<std::pair<int, int>> pieces;
  for (int at = 0, size = 1 << 30; at < count;) {
    while (size > count - at) size /= 2;
    pieces.emplace_back(at, size);
    at += size;
  }
  return pieces;
}

std::vector<int> lane_range(int first, int count) {
  std::vector<int> lanes;
  for (int i = 0; i < count; ++i) lanes.push_back(first + i);
  return lanes;
}

// `part` in the lanes from `at` of `whole`.
Value* put_lanes(Builder& b, Value* whole, Value* part, int at) {
  const int lanes = Builder::lanes_of(whole), count = Builder::lanes_of(part);
  if (count == lanes) return part;
  if (count == 1) return b.CreateInsertElement(whole, part, static_cast<uint64_t>(at));
  std::vector<int> widen = lane_range(0, lanes), mix = lane_range(0, lanes);
  for (int i = 0; i < lanes; ++i) {
    widen[static_cast<size_t>(i)] = i < at || i >= at + count ? -1 : i - at;
    if (i >= at && i < at + count) mix[static_cast<size_t>(i)] = lanes + i;
  }
  return b.CreateShuffleVector(whole, b.CreateShuffleVector(part, widen), mix);
}

}  // namespace

Value* Emitter::address(BufferId buffer, Value* index, int64_t offset) {
  llvm::Type* type = storage_type(context_, function_.buffer(buffer).element);
  Value* base = b_.CreateInBoundsGEP(type, pointers_[buffer.index()], index);
  if (offset == 0) return base;
  return b_.CreateInBoundsGEP(type, base, b_.getInt64(static_cast<uint64_t>(offset)));
}

Value* Emitter::emit_mask(const Expr& mask) {
  if (!mask.valid()) return nullptr;
  Value* value = emit(mask);
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant != nullptr && constant->isAllOnesValue() ? nullptr : value;
}

Value* Emitter::load_plain(BufferId buffer, Value* index, int lanes, int64_t offset) {
  const ElementType element = function_.buffer(buffer).element;
  return b_.CreateAlignedLoad(storage_type(context_, element, lanes),
                              address(buffer, index, offset), alignment_of(element));
}

Value* Emitter::emit_load(const ExprNode& node) {
  Value* index = emit(node.args[0]);
  Value* mask = node.args.size() > 1 ? emit_mask(node.args[1]) : nullptr;
  const bool gather = node.args[0].type().lanes > 1;
  Value* stored = nullptr;
  if (gather || (node.type.lanes > 1 && node.stride != 1 && mask != nullptr))
    stored = load_lanes(node, index, mask);
  else if (node.type.lanes > 1 && node.stride != 1)
    stored = load_strided(node, index);
  else if (mask != nullptr)
    stored = load_masked(node, index, mask);
  else
    stored = load_plain(node.buffer, index, node.type.lanes);
  return decode(b_, function_.buffer(node.buffer).element, stored);
}

// One load per lane. A lane that is masked out reads element 0, and its value is dropped: that is
// cheaper than a branch.
Value* Emitter::load_lanes(const ExprNode& node, Value* index, Value* mask) {
  const int lanes = node.type.lanes;
  const bool gather = Builder::lanes_of(index) > 1;
  llvm::Type* type = storage_type(context_, function_.buffer(node.buffer).element, lanes);
  Value* result = llvm::Constant::getNullValue(type);
  for (int i = 0; i < lanes; ++i) {
    Value* selected = mask == nullptr ? b_.getTrue() : b_.lane(mask, i);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(selected);
    if (known != nullptr && known->isZero()) continue;
    Value* at = gather ? b_.lane(index, i)
                       : b_.CreateAdd(index, Builder::integer(index->getType(), i * node.stride));
    if (known == nullptr) at = b_.CreateSelect(selected, at, b_.getInt64(0));
    Value* element = load_plain(node.buffer, at, 1);
    if (known == nullptr)
      element =
          b_.CreateSelect(selected, element, llvm::Constant::getNullValue(element->getType()));
    result = b_.CreateInsertElement(result, element, static_cast<uint64_t>(i));
  }
  return result;
}

// Strides that a few contiguous loads inside the same range serve; other ones lane by lane.
Value* Emitter::load_strided(const ExprNode& node, Value* index) {
  const int lanes = node.type.lanes;
  if (node.stride == 0) return b_.splat(load_plain(node.buffer, index, 1), lanes);
  if (node.stride == -1) {
    std::vector<int> reversed;
    for (int i = lanes - 1; i >= 0; --i) reversed.push_back(i);
    return b_.CreateShuffleVector(load_plain(node.buffer, index, lanes, 1 - lanes), reversed);
  }
  if (node.stride != 2) return load_lanes(node, index, nullptr);
  Value* low = load_plain(node.buffer, index, lanes);
  Value* high = load_plain(node.buffer, index, lanes, lanes - 1);
  std::vector<int> even;
  for (int i = 0; i < lanes; ++i) even.push_back(2 * i < lanes ? 2 * i : 2 * i + 1);
  return b_.CreateShuffleVector(low, high, even);
}

Value* Emitter::load_masked(const ExprNode& node, Value* index, Value* mask) {
  const ElementType element = function_.buffer(node.buffer).element;
  llvm::Type* type = storage_type(context_, element, node.type.lanes);
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  if (const auto count = prefix_length(mask);
      count && (!b_.target.masked_words || size_of(element) < 4 || pieces_of(*count).size() < 2)) {
    Value* result = zero;
    for (const auto& [at, size] : pieces_of(*count))
      result = put_lanes(b_, result, load_plain(node.buffer, index, size, at), at);
    return result;
  }
  const bool in_hardware = b_.target.avx512 || (b_.target.masked_words && size_of(element) >= 4);
  if (!in_hardware || node.type.lanes == 1) return load_lanes(node, index, mask);
  return b_.CreateMaskedLoad(type, address(node.buffer, index), alignment_of(element), mask, zero);
}

// For reading, into the second level; the address may lie behind the buffer.
void Emitter::emit_prefetch(const Stmt& stmt) {
  llvm::Type* element = storage_type(context_, function_.buffer(stmt.buffer).element);
  Value* at = b_.CreateGEP(element, pointers_[stmt.buffer.index()], emit(stmt.index));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                     {at, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
}

void Emitter::emit_store(const Stmt& stmt) {
  const ElementType element = function_.buffer(stmt.buffer).element;
  Value* stored = encode(b_, element, emit(stmt.value));
  Value* index = emit(stmt.index);
  Value* mask = emit_mask(stmt.mask);
  const bool scatter = Builder::lanes_of(index) > 1;
  if (scatter || (Builder::lanes_of(stored) > 1 && stmt.stride != 1))
    return store_lanes(stmt, stored, index, mask);
  if (mask != nullptr) return store_masked(stmt.buffer, stored, index, mask);
  b_.CreateAlignedStore(stored, address(stmt.buffer, index), alignment_of(element));
}

// One store per lane, in their order.
void Emitter::store_lanes(const Stmt& stmt, Value* stored, Value* index, Value* mask) {
  const ElementType element = function_.buffer(stmt.buffer).element;
  const bool scatter = Builder::lanes_of(index) > 1;
  for (int i = 0; i < Builder::lanes_of(stored); ++i) {
    Value* selected = mask == nullptr ? b_.getTrue() : b_.lane(mask, i);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(selected);
    if (known != nullptr && known->isZero()) continue;
    llvm::BasicBlock* after = nullptr;
    if (known == nullptr) {
      llvm::Function* parent = b_.GetInsertBlock()->getParent();
      auto* then = llvm::BasicBlock::Create(context_, "lane", parent);
      after = llvm::BasicBlock::Create(context_, "next", parent);
      b_.CreateCondBr(selected, then, after);
      b_.SetInsertPoint(then);
    }
    Value* at = scatter ? address(stmt.buffer, b_.lane(index, i))
                        : address(stmt.buffer, index, i * stmt.stride);
    b_.CreateAlignedStore(b_.lane(stored, i), at, alignment_of(element));
    if (after != nullptr) {
      b_.CreateBr(after);
      b_.SetInsertPoint(after);
    }
  }
}

void Emitter::store_masked(BufferId buffer, Value* stored, Value* index, Value* mask) {
  const ElementType element = function_.buffer(buffer).element;
  const auto count = prefix_length(mask);
  const bool in_hardware = b_.target.avx512 || (b_.target.masked_words && size_of(element) >= 4);
  if (count && !b_.target.masked_stores) {
    for (const auto& [at, size] : pieces_of(*count)) {
      Value* piece =
          size == 1 ? b_.lane(stored, at) : b_.CreateShuffleVector(stored, lane_range(at, size));
      b_.CreateAlignedStore(piece, address(buffer, index, at), alignment_of(element));
    }
    return;
  }
  if (in_hardware && Builder::lanes_of(stored) > 1) {
    b_.CreateMaskedStore(stored, address(buffer, index), alignment_of(element), mask);
    return;
  }
  Stmt stmt{};
  stmt.buffer = buffer;
  store_lanes(stmt, stored, index, mask);
}

}  // namespace hone
