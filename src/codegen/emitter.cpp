#include "codegen/emitter.h"

#include <algorithm>

#include "codegen/emit.h"
#include "codegen/storage.h"
#include "support/check.h"

namespace hone {

using loop::BufferDecl;
using loop::LoopKind;
using loop::Scope;
using loop::Stmt;

Emitter::Emitter(const loop::Function& function, llvm::Module& module, const TargetFacts& target)
    : function_(function),
      context_(module.getContext()),
      b_(module, target),
      vars_(function.vars.size()),
      pointers_(function.buffers.size()) {}

void Emitter::run() {
  llvm::Function* body = declare_body();
  emit_kernel(body);
  entry_ = llvm::BasicBlock::Create(context_, "entry", body);
  b_.SetInsertPoint(entry_);
  emit(function_.body);
  b_.CreateRetVoid();
}

bool Emitter::is_parameter(const BufferDecl& buffer) const {
  return buffer.scope != Scope::kRegister;
}

llvm::Function* Emitter::declare_body() {
  std::vector<llvm::Type*> types;
  for (const BufferDecl& buffer : function_.buffers)
    if (is_parameter(buffer)) types.push_back(b_.getPtrTy());
  types.insert(types.end(), {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt64Ty()});
  auto* body =
      llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                             llvm::Function::InternalLinkage, function_.name + ".body", b_.module);
  body->addFnAttr(llvm::Attribute::NoInline);
  body->setDoesNotThrow();
  unsigned i = 0;
  for (size_t k = 0; k < function_.buffers.size(); ++k) {
    if (!is_parameter(function_.buffers[k])) continue;
    describe_buffer(*body->getArg(i), function_.buffers[k]);
    pointers_[k] = body->getArg(i++);
  }
  extents_ = body->getArg(i++);
  begin_ = body->getArg(i++);
  end_ = body->getArg(i++);
  // Tasks are counted from 0.
  const llvm::ConstantRange range(llvm::APInt(64, 0), llvm::APInt(64, uint64_t{1} << 48));
  for (Value* bound : {begin_, end_})
    llvm::cast<llvm::Argument>(bound)->addAttr(
        llvm::Attribute::get(context_, llvm::Attribute::Range, range));
  return body;
}

void Emitter::describe_buffer(llvm::Argument& argument, const BufferDecl& buffer) {
  argument.setName(buffer.name);
  argument.addAttr(llvm::Attribute::NoAlias);
  argument.addAttr(llvm::Attribute::NoUndef);
  argument.addAttr(llvm::Attribute::getWithAlignment(
      context_, llvm::Align(static_cast<uint64_t>(std::max(1, buffer.alignment)))));
  if (buffer.scope == Scope::kIn || buffer.scope == Scope::kConstant)
    argument.addAttr(llvm::Attribute::ReadOnly);
  const auto bytes = static_cast<uint64_t>(buffer.size) * size_of(buffer.element);
  if (bytes > 0) argument.addAttr(llvm::Attribute::getWithDereferenceableBytes(context_, bytes));
}

void Emitter::emit_kernel(llvm::Function* body) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, i64, i64, pointer}, false);
  auto* kernel =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, function_.name, b_.module);
  kernel->setDoesNotThrow();
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", kernel));
  std::vector<Value*> arguments;
  uint64_t given = 0, scratch = 0;
  for (const BufferDecl& buffer : function_.buffers) {
    if (buffer.scope == Scope::kThread) {
      arguments.push_back(
          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), kernel->getArg(4), scratch));
      scratch += (static_cast<uint64_t>(buffer.size) * size_of(buffer.element) + 63) / 64 * 64;
    } else if (is_parameter(buffer)) {
      Value* slot = b_.CreateConstInBoundsGEP1_64(pointer, kernel->getArg(0), given++);
      arguments.push_back(b_.CreateLoad(pointer, slot));
    }
  }
  for (unsigned i = 1; i < 4; ++i) arguments.push_back(kernel->getArg(i));
  b_.CreateCall(body, arguments)->setTailCall();
  b_.CreateRetVoid();
}

void Emitter::emit(const loop::Block& block) {
  for (const Stmt& stmt : block) {
    done_.clear();
    emit(stmt);
  }
}

void Emitter::emit(const Stmt& stmt) {
  switch (stmt.kind) {
    case Stmt::Kind::kFor:
      return emit_for(stmt);
    case Stmt::Kind::kLet:
      vars_[stmt.var.index()] = emit(stmt.value);
      return;
    case Stmt::Kind::kIf:
      return emit_if(stmt);
    case Stmt::Kind::kStore:
      return emit_store(stmt);
    case Stmt::Kind::kPrefetch:
      return emit_prefetch(stmt);
    case Stmt::Kind::kAlloc:
      return emit_alloc(stmt);
  }
}

void Emitter::emit_for(const Stmt& stmt) {
  if (stmt.loop == LoopKind::kUnrolled) return emit_unrolled(stmt);
  const bool parallel = stmt.loop == LoopKind::kParallel && !inside_parallel_;
  Value* begin = emit(stmt.begin);
  if (!parallel && stmt.extent.is(1)) {
    vars_[stmt.var.index()] = begin;
    return emit(stmt.body);
  }
  Value* first = parallel ? emit_index_function(Fn::kAdd, begin, mark_index(begin_)) : begin;
  Value* last =
      emit_index_function(Fn::kAdd, begin, parallel ? mark_index(end_) : emit(stmt.extent));
  const bool outer = inside_parallel_;
  inside_parallel_ = inside_parallel_ || parallel;
  emit_counted(stmt, first, last);
  inside_parallel_ = outer;
}

void Emitter::emit_unrolled(const Stmt& stmt) {
  HONE_CHECK(stmt.extent.is_integer(), "an unrolled loop has a constant extent");
  Value* begin = emit(stmt.begin);
  for (int64_t i = 0; i < stmt.extent->integer; ++i) {
    vars_[stmt.var.index()] =
        emit_index_function(Fn::kAdd, begin, b_.getInt64(static_cast<uint64_t>(i)));
    emit(stmt.body);
  }
}

void Emitter::emit_counted(const Stmt& stmt, Value* first, Value* last) {
  llvm::Function* parent = b_.GetInsertBlock()->getParent();
  const std::string& name = function_.vars[stmt.var.index()].name;
  auto* before = b_.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(context_, name, parent);
  auto* after = llvm::BasicBlock::Create(context_, name + ".end", parent);
  b_.CreateCondBr(b_.CreateICmpSLT(first, last), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode* var = b_.CreatePHI(b_.getInt64Ty(), 2, name);
  var->addIncoming(first, before);
  vars_[stmt.var.index()] = mark_index(var);
  emit(stmt.body);
  Value* next = b_.CreateNSWAdd(var, b_.getInt64(1));
  var->addIncoming(next, b_.GetInsertBlock());
  keep_as_written(b_.CreateCondBr(b_.CreateICmpSLT(next, last), body, after));
  b_.SetInsertPoint(after);
}

// Loops are already vectorised and unrolled as the schedule says.
void Emitter::keep_as_written(llvm::Instruction* back) {
  llvm::MDNode* no_unroll =
      llvm::MDNode::get(context_, {llvm::MDString::get(context_, "llvm.loop.unroll.disable")});
  llvm::MDNode* id = llvm::MDNode::getDistinct(context_, {nullptr, no_unroll});
  id->replaceOperandWith(0, id);
  back->setMetadata(llvm::LLVMContext::MD_loop, id);
}

void Emitter::emit_if(const Stmt& stmt) {
  llvm::Function* parent = b_.GetInsertBlock()->getParent();
  auto* then = llvm::BasicBlock::Create(context_, "then", parent);
  auto* after = llvm::BasicBlock::Create(context_, "endif", parent);
  b_.CreateCondBr(emit(stmt.value), then, after);
  b_.SetInsertPoint(then);
  emit(stmt.body);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// Thread buffers are parameters already. Registers are a stack slot that is promoted away, because
// all its indices are constant.
void Emitter::emit_alloc(const Stmt& stmt) {
  const BufferDecl& buffer = function_.buffer(stmt.buffer);
  if (buffer.scope == Scope::kRegister && pointers_[stmt.buffer.index()] == nullptr) {
    llvm::IRBuilder<> at_entry(entry_, entry_->begin());
    auto* type = llvm::ArrayType::get(storage_type(context_, buffer.element),
                                      static_cast<uint64_t>(buffer.size));
    auto* slot = at_entry.CreateAlloca(type, nullptr, buffer.name);
    slot->setAlignment(llvm::Align(64));
    pointers_[stmt.buffer.index()] = slot;
  }
  emit(stmt.body);
}

bool Emitter::is_index(const Value* value) const {
  return llvm::isa<llvm::ConstantInt>(value) || indices_.contains(value);
}

Value* Emitter::mark_index(Value* value) {
  indices_.insert(value);
  return value;
}

void emit(const loop::Function& function, llvm::Module& module, const TargetFacts& target) {
  Emitter(function, module, target).run();
}

}  // namespace hone
