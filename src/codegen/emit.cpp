#include "codegen/emit.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <map>

#include "codegen/emit_math.h"
#include "support/check.h"

namespace hone {
namespace {

using llvm::Value;
using loop::BufferDecl;
using loop::BufferId;
using loop::ExprNode;
using loop::Scope;
using loop::Stmt;

llvm::Type* element_type(ElementType type, llvm::LLVMContext& context) {
  using enum ElementType;
  switch (type) {
    case kF32: return llvm::Type::getFloatTy(context);
    case kF64: return llvm::Type::getDoubleTy(context);
    case kF16: return llvm::Type::getHalfTy(context);
    case kBF16: return llvm::Type::getBFloatTy(context);
    case kI8: case kU8: return llvm::Type::getInt8Ty(context);
    case kI16: case kU16: return llvm::Type::getInt16Ty(context);
    case kI32: case kU32: return llvm::Type::getInt32Ty(context);
    case kI64: case kU64: return llvm::Type::getInt64Ty(context);
    case kBool: return llvm::Type::getInt1Ty(context);
    default: break;
  }
  check_failed(__FILE__, __LINE__, "element type", "no machine type");
}

class Emitter {
 public:
  Emitter(const loop::Function& function, llvm::Module& module)
      : function_(function), module_(module), context_(module.getContext()), b_(context_) {
    llvm::FastMathFlags flags;
    flags.setAllowContract();
    b_.setFastMathFlags(flags);
  }

  void run() {
    llvm::Function* inner = declare_inner();
    emit_entry(inner);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", inner));
    entry_ = b_.GetInsertBlock();
    emit(function_.body);
    b_.CreateRetVoid();
  }

 private:
  // The body is a function of its own, whose arguments say that buffers do not overlap.
  llvm::Function* declare_inner() {
    llvm::Type* pointer = b_.getPtrTy();
    llvm::Type* i64 = b_.getInt64Ty();
    std::vector<llvm::Type*> types(static_cast<size_t>(function_.argument_count), pointer);
    types.insert(types.end(), {pointer, i64, i64, pointer});
    auto* inner = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                                         llvm::Function::InternalLinkage,
                                         function_.name + ".body", module_);
    inner->addFnAttr(llvm::Attribute::NoInline);
    inner->addFnAttr(llvm::Attribute::NoUnwind);
    unsigned i = 0;
    for (llvm::Argument& argument : inner->args()) {
      if (i < static_cast<unsigned>(function_.argument_count)) {
        const BufferDecl& buffer = function_.buffers[i];
        argument.addAttr(llvm::Attribute::NoAlias);
        argument.addAttr(llvm::Attribute::getWithAlignment(
            context_, llvm::Align(static_cast<uint64_t>(buffer.alignment))));
        if (buffer.scope != Scope::kOut) argument.addAttr(llvm::Attribute::ReadOnly);
        argument.setName(buffer.name);
        pointers_[BufferId{static_cast<int32_t>(i)}] = &argument;
      }
      ++i;
    }
    const auto count = static_cast<unsigned>(function_.argument_count);
    extents_ = inner->getArg(count);
    begin_ = inner->getArg(count + 1);
    end_ = inner->getArg(count + 2);
    scratch_ = inner->getArg(count + 3);
    return inner;
  }

  void emit_entry(llvm::Function* inner) {
    llvm::Type* pointer = b_.getPtrTy();
    llvm::Type* i64 = b_.getInt64Ty();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, i64, i64, pointer}, false);
    auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, function_.name, module_);
    entry->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", entry));
    std::vector<Value*> arguments;
    for (int i = 0; i < function_.argument_count; ++i)
      arguments.push_back(b_.CreateLoad(
          pointer, b_.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), static_cast<uint64_t>(i))));
    for (unsigned i = 1; i < 5; ++i) arguments.push_back(entry->getArg(i));
    b_.CreateCall(inner, arguments);
    b_.CreateRetVoid();
  }

  void emit(const loop::Block& block) {
    for (const Stmt& stmt : block) emit(stmt);
  }

  void emit(const Stmt& stmt) {
    switch (stmt.kind) {
      case Stmt::Kind::kFor: return emit_for(stmt);
      case Stmt::Kind::kLet: vars_[stmt.var] = emit(stmt.value); return;
      case Stmt::Kind::kIf: return emit_if(stmt);
      case Stmt::Kind::kStore: return emit_store(stmt);
      case Stmt::Kind::kAlloc: return emit_alloc(stmt);
    }
  }

  void emit_for(const Stmt& stmt) {
    if (stmt.loop == loop::LoopKind::kUnrolled) return emit_unrolled(stmt);
    const bool parallel = stmt.loop == loop::LoopKind::kParallel && !inside_parallel_;
    Value* first = parallel ? b_.CreateAdd(emit(stmt.begin), begin_) : emit(stmt.begin);
    Value* last = parallel ? b_.CreateAdd(emit(stmt.begin), end_)
                           : b_.CreateAdd(first, emit(stmt.extent));
    const bool outer = inside_parallel_;
    inside_parallel_ = inside_parallel_ || parallel;
    emit_counted(stmt, first, last);
    inside_parallel_ = outer;
  }

  void emit_unrolled(const Stmt& stmt) {
    HONE_CHECK(stmt.extent.is_integer(), "an unrolled loop has a constant extent");
    Value* begin = emit(stmt.begin);
    for (int64_t i = 0; i < stmt.extent->integer; ++i) {
      vars_[stmt.var] = b_.CreateAdd(begin, b_.getInt64(static_cast<uint64_t>(i)));
      emit(stmt.body);
    }
  }

  void emit_counted(const Stmt& stmt, Value* first, Value* last) {
    llvm::Function* parent = b_.GetInsertBlock()->getParent();
    const std::string& name = function_.vars[stmt.var.index()];
    auto* before = b_.GetInsertBlock();
    auto* body = llvm::BasicBlock::Create(context_, name, parent);
    auto* after = llvm::BasicBlock::Create(context_, name + ".end", parent);
    b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, after);
    b_.SetInsertPoint(body);
    llvm::PHINode* var = b_.CreatePHI(b_.getInt64Ty(), 2, name);
    var->addIncoming(first, before);
    vars_[stmt.var] = var;
    emit(stmt.body);
    Value* next = b_.CreateNSWAdd(var, b_.getInt64(1));
    var->addIncoming(next, b_.GetInsertBlock());
    llvm::BranchInst* back = b_.CreateCondBr(b_.CreateICmpSLT(next, last), body, after);
    keep_as_written(back);
    b_.SetInsertPoint(after);
  }

  // Loops are already vectorised and unrolled as the schedule says.
  void keep_as_written(llvm::BranchInst* back) {
    llvm::MDBuilder md(context_);
    const auto flag = [&](const char* name) {
      return llvm::MDNode::get(context_, {llvm::MDString::get(context_, name)});
    };
    llvm::MDNode* id = llvm::MDNode::getDistinct(
        context_, {nullptr, flag("llvm.loop.unroll.disable"),
                   llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.vectorize.enable"),
                                                md.createConstant(b_.getFalse())})});
    id->replaceOperandWith(0, id);
    back->setMetadata(llvm::LLVMContext::MD_loop, id);
  }

  void emit_if(const Stmt& stmt) {
    llvm::Function* parent = b_.GetInsertBlock()->getParent();
    auto* then = llvm::BasicBlock::Create(context_, "then", parent);
    auto* after = llvm::BasicBlock::Create(context_, "endif", parent);
    b_.CreateCondBr(emit(stmt.value), then, after);
    b_.SetInsertPoint(then);
    emit(stmt.body);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  void emit_alloc(const Stmt& stmt) {
    const BufferDecl& buffer = function_.buffer(stmt.buffer);
    if (buffer.scope == Scope::kThread) {
      pointers_[stmt.buffer] = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_,
                                                             static_cast<uint64_t>(scratch_used_));
      scratch_used_ += (buffer.size * static_cast<int64_t>(size_of(buffer.element)) + 63) / 64 * 64;
    } else {
      // Registers: a stack slot that is promoted away, because all its indices are constant.
      llvm::IRBuilder<> at_entry(entry_, entry_->begin());
      auto* type = llvm::ArrayType::get(memory_type(buffer.element), static_cast<uint64_t>(buffer.size));
      auto* slot = at_entry.CreateAlloca(type, nullptr, buffer.name);
      slot->setAlignment(llvm::Align(64));
      pointers_[stmt.buffer] = slot;
    }
    emit(stmt.body);
  }

  // bool takes a byte in memory.
  llvm::Type* memory_type(ElementType type) {
    return type == ElementType::kBool ? b_.getInt8Ty() : element_type(type, context_);
  }

  llvm::Type* value_type(const loop::Type& type) {
    llvm::Type* element = element_type(type.element, context_);
    return type.lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(type.lanes));
  }

  Value* address(BufferId buffer, Value* index) {
    return b_.CreateInBoundsGEP(memory_type(function_.buffer(buffer).element), pointers_.at(buffer), index);
  }

  llvm::Align natural(ElementType type) { return llvm::Align(size_of(type)); }

  void emit_store(const Stmt& stmt) {
    const ElementType element = function_.buffer(stmt.buffer).element;
    Value* value = emit(stmt.value);
    const int lanes = stmt.value.type().lanes;
    if (element == ElementType::kBool) value = b_.CreateZExt(value, widened(b_.getInt8Ty(), lanes));
    Value* index = emit(stmt.index);
    if (lanes > 1 && stmt.stride != 1) {
      HONE_CHECK(!stmt.mask.valid(), "strided stores are not masked");
      for (int lane = 0; lane < lanes; ++lane)
        b_.CreateAlignedStore(b_.CreateExtractElement(value, static_cast<uint64_t>(lane)),
                              address(stmt.buffer, offset(index, lane * stmt.stride)), natural(element));
      return;
    }
    Value* at = address(stmt.buffer, index);
    if (stmt.mask.valid()) b_.CreateMaskedStore(value, at, natural(element), emit(stmt.mask));
    else b_.CreateAlignedStore(value, at, natural(element));
  }

  Value* offset(Value* index, int64_t by) {
    return by == 0 ? index : b_.CreateNSWAdd(index, b_.getInt64(static_cast<uint64_t>(by)));
  }

  static llvm::Type* widened(llvm::Type* element, int lanes) {
    return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  }

  Value* emit_load(const ExprNode& node) {
    const ElementType element = node.type.element;
    llvm::Type* memory = memory_type(element);
    Value* index = emit(node.args[0]);
    Value* result = nullptr;
    if (node.type.lanes > 1 && node.stride != 1) {
      result = llvm::PoisonValue::get(widened(memory, node.type.lanes));
      for (int lane = 0; lane < node.type.lanes; ++lane)
        result = b_.CreateInsertElement(
            result,
            b_.CreateAlignedLoad(memory, address(node.buffer, offset(index, lane * node.stride)), natural(element)),
            static_cast<uint64_t>(lane));
    } else if (node.args.size() > 1) {
      llvm::Type* type = widened(memory, node.type.lanes);
      result = b_.CreateMaskedLoad(type, address(node.buffer, index), natural(element),
                                   emit(node.args[1]), llvm::Constant::getNullValue(type));
    } else {
      result = b_.CreateAlignedLoad(widened(memory, node.type.lanes), address(node.buffer, index),
                                    natural(element));
    }
    if (element == ElementType::kBool) result = b_.CreateICmpNE(result, llvm::Constant::getNullValue(result->getType()));
    return result;
  }

  Value* emit(const loop::Expr& expr) {
    const ExprNode& node = *expr;
    switch (node.kind) {
      case ExprNode::Kind::kInteger: return b_.getInt64(static_cast<uint64_t>(node.integer));
      case ExprNode::Kind::kNumber: return emit_number(node);
      case ExprNode::Kind::kVar: return vars_.at(node.var);
      case ExprNode::Kind::kExtent:
        return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), extents_, static_cast<uint64_t>(node.integer)));
      case ExprNode::Kind::kLoad: return emit_load(node);
      case ExprNode::Kind::kBroadcast:
        return b_.CreateVectorSplat(static_cast<unsigned>(node.type.lanes), emit(node.args[0]));
      case ExprNode::Kind::kRamp: return emit_ramp(node);
      case ExprNode::Kind::kApply: return emit_apply(node);
      case ExprNode::Kind::kFma:
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {value_type(node.type)},
                                  {emit(node.args[0]), emit(node.args[1]), emit(node.args[2])});
      case ExprNode::Kind::kFold: return emit_fold(b_, node.fn, node.type.element, emit(node.args[0]));
    }
    return nullptr;
  }

  Value* emit_number(const ExprNode& node) {
    llvm::Type* type = value_type(node.type);
    if (is_float(node.type.element)) return llvm::ConstantFP::get(type, node.number.to_double());
    const auto integer = node.number.to_int();
    HONE_CHECK(integer.has_value(), "an integer literal is out of range");
    return llvm::ConstantInt::get(type, static_cast<uint64_t>(*integer));
  }

  Value* emit_ramp(const ExprNode& node) {
    const auto lanes = static_cast<unsigned>(node.type.lanes);
    std::vector<llvm::Constant*> steps;
    for (unsigned lane = 0; lane < lanes; ++lane) steps.push_back(b_.getInt64(lane));
    Value* scaled = b_.CreateMul(llvm::ConstantVector::get(steps), b_.CreateVectorSplat(lanes, emit(node.args[1])));
    return b_.CreateAdd(b_.CreateVectorSplat(lanes, emit(node.args[0])), scaled);
  }

  Value* emit_apply(const ExprNode& node) {
    std::vector<Value*> args;
    for (const loop::Expr& arg : node.args) args.push_back(emit(arg));
    const ElementType from = node.args.back().type().element;
    if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
      return emit_cast(b_, from, node.type.element, value_type(node.type), args[0]);
    return emit_function(b_, node.fn, from, args);
  }

  const loop::Function& function_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* entry_ = nullptr;
  Value *extents_ = nullptr, *begin_ = nullptr, *end_ = nullptr, *scratch_ = nullptr;
  std::map<loop::VarId, Value*> vars_;
  std::map<BufferId, Value*> pointers_;
  int64_t scratch_used_ = 0;
  bool inside_parallel_ = false;
};

const Stmt* find_parallel(const loop::Block& block) {
  for (const Stmt& stmt : block) {
    if (stmt.kind == Stmt::Kind::kFor && stmt.loop == loop::LoopKind::kParallel) return &stmt;
    if (const Stmt* inner = find_parallel(stmt.body)) return inner;
  }
  return nullptr;
}

}  // namespace

void emit(const loop::Function& function, llvm::Module& module) { Emitter(function, module).run(); }

int64_t scratch_bytes(const loop::Function& function) {
  int64_t bytes = 0;
  for (const BufferDecl& buffer : function.buffers)
    if (buffer.scope == Scope::kThread)
      bytes += (buffer.size * static_cast<int64_t>(size_of(buffer.element)) + 63) / 64 * 64;
  return bytes;
}

loop::Expr parallel_extent(const loop::Function& function) {
  const Stmt* parallel = find_parallel(function.body);
  return parallel == nullptr ? loop::Expr(1) : parallel->extent;
}

}  // namespace hone
