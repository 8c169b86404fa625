#include <algorithm>
#include <limits>

#include <llvm/IR/MDBuilder.h>

#include "codegen/emitter.h"
#include "codegen/functions.h"
#include "codegen/storage.h"
#include "support/check.h"

namespace hone {

using loop::Expr;
using loop::ExprNode;

namespace {

// A literal as an integer: infinities are the largest and least ones, other fractions are cut.
uint64_t integer_of(const Literal& literal, ElementType type) {
  const auto bits = static_cast<unsigned>(8 * size_of(type));
  const auto largest =
      is_signed_int(type) ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  if (literal.kind() == Literal::Kind::kPositiveInfinity) return largest.getZExtValue();
  if (literal.kind() == Literal::Kind::kNegativeInfinity) return (~largest).getZExtValue();
  if (literal.kind() == Literal::Kind::kNan) return 0;
  if (const auto exact = literal.to_int()) return static_cast<uint64_t>(*exact);
  if (!literal.negative() && literal.denominator() == 1 && literal.radicand() == 1 &&
      literal.exponent() >= 0 && literal.exponent() < 64)
    return literal.numerator() << literal.exponent();
  const double value = literal.to_double();
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// Whether min and max with numbers keep a float within i32, so that one instruction converts it.
bool is_clamped(const Expr& expr, bool from_below, bool from_above) {
  if (from_below && from_above) return true;
  if (expr->kind != ExprNode::Kind::kApply) return false;
  if (expr->fn == Fn::kRound || expr->fn == Fn::kFloor || expr->fn == Fn::kCeil ||
      expr->fn == Fn::kTrunc)
    return is_clamped(expr->args[0], from_below, from_above);
  if (expr->fn != Fn::kMin && expr->fn != Fn::kMax) return false;
  for (const size_t side : {0U, 1U}) {
    const Expr& bound = expr->args[side];
    if (bound->kind != ExprNode::Kind::kNumber || !bound->number.is_finite()) continue;
    const double value = bound->number.to_double();
    if (value < -0x1p30 || value > 0x1p30) continue;
    return is_clamped(expr->args[1 - side], from_below || expr->fn == Fn::kMax,
                      from_above || expr->fn == Fn::kMin);
  }
  return false;
}

bool fits_a_byte_or_two(ElementType type) {
  return is_integer(type) && size_of(compute_element(type)) <= 2;
}

}  // namespace

Value* Emitter::emit(const Expr& expr) {
  const auto at = done_.find(&*expr);
  if (at != done_.end()) return at->second;
  Value* value = emit_node(*expr);
  done_.emplace(&*expr, value);
  return value;
}

Value* Emitter::emit_node(const ExprNode& node) {
  switch (node.kind) {
    case ExprNode::Kind::kInteger:
      return Builder::integer(value_type(context_, node.type.element), node.integer);
    case ExprNode::Kind::kNumber:
      return emit_number(node);
    case ExprNode::Kind::kVar:
      HONE_CHECK(vars_[node.var.index()] != nullptr, "a variable is used before it is defined");
      return vars_[node.var.index()];
    case ExprNode::Kind::kExtent:
      return emit_extent(node);
    case ExprNode::Kind::kLoad:
      return emit_load(node);
    case ExprNode::Kind::kBroadcast:
      return b_.splat(emit(node.args[0]), node.type.lanes);
    case ExprNode::Kind::kRamp:
      return emit_ramp(node);
    case ExprNode::Kind::kApply:
      return emit_apply(node);
    case ExprNode::Kind::kFma: {
      Value *x = emit(node.args[0]), *y = emit(node.args[1]), *z = emit(node.args[2]);
      if (is_float(node.type.element)) return b_.fused(x, y, z);
      return b_.CreateAdd(b_.CreateMul(x, y), z);
    }
    case ExprNode::Kind::kFold:
      return emit_fold(b_, node.fn, node.type.element, emit(node.args[0]));
    case ExprNode::Kind::kShuffle:
      return emit_shuffle(node);
  }
  check_failed(__FILE__, __LINE__, "emit_node", "unknown kind of expression");
}

// LLVM's shuffle takes two vectors of one width.
Value* Emitter::emit_shuffle(const ExprNode& node) {
  const int first = node.args[0].type().lanes, second = node.args[1].type().lanes;
  if (node.type.lanes == 1) {
    const int at = node.lanes[0];
    return at < first ? b_.lane(emit(node.args[0]), at) : b_.lane(emit(node.args[1]), at - first);
  }
  const int width = std::max({first, second, 2});
  std::vector<int> lanes;
  for (const int lane : node.lanes) lanes.push_back(lane < first ? lane : lane - first + width);
  return b_.CreateShuffleVector(b_.widened(emit(node.args[0]), width),
                                b_.widened(emit(node.args[1]), width), lanes);
}

Value* Emitter::emit_number(const ExprNode& node) {
  llvm::Type* type = value_type(context_, node.type.element, node.type.lanes);
  if (is_float(node.type.element)) return Builder::real(type, node.number.to_double());
  if (node.type.element == ElementType::kBool)
    return Builder::integer(type, node.number.is_zero() ? 0 : 1);
  return Builder::integer(type, static_cast<int64_t>(integer_of(node.number, node.type.element)));
}

Value* Emitter::emit_extent(const ExprNode& node) {
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::LoadInst* value = b_.CreateLoad(
      i64, b_.CreateConstInBoundsGEP1_64(i64, extents_, static_cast<uint64_t>(node.integer)));
  value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  const auto bound = [](uint64_t number) { return llvm::APInt(64, number); };
  llvm::MDBuilder metadata(context_);
  value->setMetadata(llvm::LLVMContext::MD_range,
                     metadata.createRange(bound(0), bound(uint64_t{1} << 48)));
  return mark_index(value);
}

Value* Emitter::emit_ramp(const ExprNode& node) {
  const int lanes = node.type.lanes;
  std::vector<llvm::Constant*> steps;
  for (int lane = 0; lane < lanes; ++lane)
    steps.push_back(b_.getInt64(static_cast<uint64_t>(lane)));
  Value* step = b_.splat(emit(node.args[1]), lanes);
  Value* scaled = b_.CreateMul(llvm::ConstantVector::get(steps), step);
  return b_.CreateAdd(b_.splat(emit(node.args[0]), lanes), scaled);
}

Value* Emitter::emit_apply(const ExprNode& node) {
  if (node.fn == Fn::kLt)
    if (Value* prefix = emit_prefix(node)) return prefix;
  std::vector<Value*> args;
  for (const Expr& arg : node.args) args.push_back(emit(arg));
  const ElementType from = node.args.back().type().element;
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap) {
    const ElementType to = node.type.element;
    if (is_float(from) && fits_a_byte_or_two(to) && is_clamped(node.args[0], false, false))
      return emit_small_cast(b_, to, args[0]);
    return emit_cast(b_, from, to, node.fn == Fn::kCast, args[0]);
  }
  if (args.size() == 2 && from == ElementType::kI64 && is_index(args[0]) && is_index(args[1]))
    if (Value* index = emit_index_function(node.fn, args[0], args[1])) return index;
  return emit_function(b_, node.fn, from, args);
}

// Arithmetic on indices; null for what is none.
Value* Emitter::emit_index_function(Fn fn, Value* x, Value* y) {
  switch (fn) {
    case Fn::kAdd:
      return mark_index(b_.CreateNSWAdd(x, y));
    case Fn::kSub:
      return mark_index(b_.CreateNSWSub(x, y));
    case Fn::kMul:
      return mark_index(b_.CreateNSWMul(x, y));
    case Fn::kDiv:
    case Fn::kMod:
    case Fn::kMin:
    case Fn::kMax: {
      Value* const args[] = {x, y};
      return mark_index(emit_function(b_, fn, ElementType::kI64, args));
    }
    default:
      return nullptr;
  }
}

// ramp(base, 1) < limit, a mask of the first lanes: compared in 32 bits, which takes a quarter of
// the instructions that i64 takes.
Value* Emitter::emit_prefix(const ExprNode& node) {
  const Expr &ramp = node.args[0], &limit = node.args[1];
  if (ramp->kind != ExprNode::Kind::kRamp || !ramp->args[1].is(1)) return nullptr;
  if (limit->kind != ExprNode::Kind::kBroadcast && limit->kind != ExprNode::Kind::kNumber)
    return nullptr;
  Value* base = emit(ramp->args[0]);
  Value* end =
      limit->kind == ExprNode::Kind::kBroadcast ? emit(limit->args[0]) : b_.lane(emit(limit), 0);
  if (!is_index(base) || !is_index(end)) return nullptr;
  const int lanes = node.type.lanes;
  Value* count = b_.CreateNSWSub(end, base);
  count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count,
                                   b_.getInt64(static_cast<uint64_t>(lanes)));
  count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, b_.getInt64(0));
  Value* limits = b_.splat(b_.CreateTrunc(count, b_.getInt32Ty()), lanes);
  std::vector<llvm::Constant*> positions;
  for (int lane = 0; lane < lanes; ++lane)
    positions.push_back(b_.getInt32(static_cast<uint32_t>(lane)));
  return b_.CreateICmpSLT(llvm::ConstantVector::get(positions), limits);
}

}  // namespace hone
