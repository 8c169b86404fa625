// The state of emitting one kernel: what its variables and buffers are in LLVM IR.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/builder.h"
#include "loop/ir.h"

namespace hone {

class Emitter {
 public:
  Emitter(const loop::Function& function, llvm::Module& module, const TargetFacts& target);
  void run();

 private:
  // The kernel itself unpacks its arguments and calls the body, whose parameters say what LLVM must
  // know of buffers: that they do not overlap, how they are aligned, how large they are.
  llvm::Function* declare_body();
  void describe_buffer(llvm::Argument& argument, const loop::BufferDecl& buffer);
  void emit_kernel(llvm::Function* body);
  [[nodiscard]] bool is_parameter(const loop::BufferDecl& buffer) const;

  // Statements: emitter.cpp.
  void emit(const loop::Block& block);
  void emit(const loop::Stmt& stmt);
  void emit_for(const loop::Stmt& stmt);
  void emit_unrolled(const loop::Stmt& stmt);
  void emit_counted(const loop::Stmt& stmt, Value* first, Value* last);
  void keep_as_written(llvm::Instruction* back);
  void emit_if(const loop::Stmt& stmt);
  void emit_alloc(const loop::Stmt& stmt);

  // Loads and stores: emit_memory.cpp.
  Value* address(loop::BufferId buffer, Value* index, int64_t offset = 0);
  void emit_store(const loop::Stmt& stmt);
  void emit_prefetch(const loop::Stmt& stmt);
  void store_lanes(const loop::Stmt& stmt, Value* stored, Value* index, Value* mask);
  void store_masked(loop::BufferId buffer, Value* stored, Value* index, Value* mask);
  Value* emit_load(const loop::ExprNode& node);
  Value* load_lanes(const loop::ExprNode& node, Value* index, Value* mask);
  Value* load_masked(const loop::ExprNode& node, Value* index, Value* mask);
  Value* load_plain(loop::BufferId buffer, Value* index, int lanes, int64_t offset = 0);
  Value* load_strided(const loop::ExprNode& node, Value* index);
  Value* emit_mask(const loop::Expr& mask);

  // Expressions: emit_expr.cpp. An expression is emitted once per statement.
  Value* emit(const loop::Expr& expr);
  Value* emit_node(const loop::ExprNode& node);
  Value* emit_number(const loop::ExprNode& node);
  Value* emit_shuffle(const loop::ExprNode& node);
  Value* emit_ramp(const loop::ExprNode& node);
  Value* emit_extent(const loop::ExprNode& node);
  Value* emit_apply(const loop::ExprNode& node);
  Value* emit_index_function(Fn fn, Value* x, Value* y);
  Value* emit_prefix(const loop::ExprNode& node);

  // Arithmetic on loop variables, extents and constants never overflows, and LLVM may know.
  [[nodiscard]] bool is_index(const Value* value) const;
  Value* mark_index(Value* value);

  const loop::Function& function_;
  llvm::LLVMContext& context_;
  Builder b_;
  llvm::BasicBlock* entry_ = nullptr;
  Value *extents_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
  std::vector<Value*> vars_;                                // by VarId
  std::vector<Value*> pointers_;                            // by BufferId
  std::unordered_map<const loop::ExprNode*, Value*> done_;  // in this statement
  std::unordered_set<const Value*> indices_;
  bool inside_parallel_ = false;
};

}  // namespace hone
