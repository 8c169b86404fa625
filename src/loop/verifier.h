// The walk over a kernel that verify() makes.
#pragma once

#include <map>
#include <set>
#include <unordered_set>

#include "loop/index_forms.h"
#include "loop/races.h"
#include "loop/verify.h"

namespace hone::loop {

class Verifier {
 public:
  Verifier(const Function& function, VerifyNotes& notes);
  Errors run();

 private:
  // An access, as far as bounds and races go.
  struct Access {
    BufferId buffer;
    const Expr* index;
    int lanes;
    int64_t stride;
    const Expr* mask;  // null: none
    bool writes;
  };

  // verify.cpp: statements, scopes
  void declarations();
  void block(const Block& block);
  void statement(const Stmt& stmt);
  void loop(const Stmt& stmt);
  void let(const Stmt& stmt);
  void conditional(const Stmt& stmt);
  void store(const Stmt& stmt);
  void prefetch(const Stmt& stmt);
  void alloc(const Stmt& stmt);
  void parallel_loop(const Stmt& stmt);
  void races();

  // verify_expr.cpp: expressions, accesses
  // Whether the expression is all right; checks the loads in it.
  bool check(const Expr& expr, std::string_view what);
  bool check_node(const ExprNode& node);
  bool check_names(const ExprNode& node);
  bool has_type(const Expr& expr, Type type, std::string_view what);
  void check_registers(const Access& access);
  void check_access(const Access& access);
  void check_place(const Access& access, const Expr& index);
  void check_bounds(const Access& access, const Linear& place);
  // Bounds of parts of a place; see TaskAccess.
  [[nodiscard]] std::vector<std::pair<Linear, Interval>> tight_parts(const Linear& place) const;
  void record(const Access& access, const Linear& place);
  [[nodiscard]] bool is_constant(const Expr& expr) const;
  [[nodiscard]] Expr as_load(const Access& access) const;
  [[nodiscard]] std::string text(const Access& access) const;
  void dividends();

  void error(std::string reason);
  void unclear(std::string reason);

  struct VarState {
    bool in_scope = false;
    bool constant = false;  // once loops are unrolled
  };
  const Function& function_;
  VerifyNotes& notes_;
  Errors errors_;
  std::set<std::string> said_;
  IndexSpace space_;
  IndexForms forms_;
  std::vector<VarState> vars_;
  std::vector<bool> buffers_;                        // in scope?
  std::unordered_set<const ExprNode*> checked_;      // in this statement, all right
  std::map<int, std::vector<TaskAccess>> accesses_;  // of each argument that is written
  int loops_ = 0;
  int parallel_loops_ = 0;
  bool in_task_ = false;
};

}  // namespace hone::loop
