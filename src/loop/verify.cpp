#include "loop/verify.h"

#include "loop/text.h"
#include "loop/verifier.h"
#include "loop/verify_types.h"

namespace hone::loop {
namespace {

constexpr size_t kMaxErrors = 50;

}  // namespace

Verifier::Verifier(const Function& function, VerifyNotes& notes)
    : function_(function),
      notes_(notes),
      forms_(function, space_),
      vars_(function.vars.size()),
      buffers_(function.buffers.size()) {}

void Verifier::error(std::string reason) {
  if (errors_.size() < kMaxErrors && said_.insert(reason).second)
    errors_.push_back({ErrorKind::kInvalid, function_.name, std::move(reason), ""});
}

void Verifier::unclear(std::string reason) {
  if (said_.insert(reason).second) notes_.unclear.push_back(std::move(reason));
}

Errors Verifier::run() {
  declarations();
  if (!errors_.empty()) return std::move(errors_);
  block(function_.body);
  races();
  return std::move(errors_);
}

void Verifier::declarations() {
  const auto count = static_cast<size_t>(std::max(function_.argument_count, 0));
  if (count > function_.buffers.size()) return error("there are fewer buffers than arguments");
  for (size_t i = 0; i < function_.buffers.size(); ++i) {
    const BufferDecl& buffer = function_.buffers[i];
    const std::string name = "the buffer " + buffer.name;
    if ((buffer.scope <= Scope::kConstant) != (i < count))
      error(name + (i < count ? " is an argument" : " is no argument") + ", but its scope is " +
            std::string(word_of(buffer.scope)));
    if (buffer.size < 0) error(name + " has a negative size");
    if (size_of(buffer.element) == 0) error(name + " has no element type that takes memory");
    if (buffer.alignment <= 0 || (buffer.alignment & (buffer.alignment - 1)) != 0)
      error("the alignment of " + buffer.name + " is no power of two");
    buffers_[i] = i < count;
  }
}

void Verifier::block(const Block& block) {
  const auto outside = vars_;
  for (const Stmt& stmt : block) statement(stmt);
  vars_ = outside;
}

void Verifier::statement(const Stmt& stmt) {
  checked_.clear();
  switch (stmt.kind) {
    case Stmt::Kind::kFor:
      return loop(stmt);
    case Stmt::Kind::kLet:
      return let(stmt);
    case Stmt::Kind::kIf:
      return conditional(stmt);
    case Stmt::Kind::kStore:
      return store(stmt);
    case Stmt::Kind::kPrefetch:
      return prefetch(stmt);
    case Stmt::Kind::kAlloc:
      return alloc(stmt);
  }
}

void Verifier::parallel_loop(const Stmt& stmt) {
  const std::string name = "the parallel loop " + function_.vars[stmt.var.index()].name;
  if (++parallel_loops_ > 1) error(name + " is not the only one");
  if (loops_ > 0) error(name + " is inside of another loop");
}

void Verifier::loop(const Stmt& stmt) {
  if (!stmt.var.valid() || stmt.var.index() >= vars_.size()) return error("a loop has no variable");
  const std::string name = "the loop " + function_.vars[stmt.var.index()].name;
  const bool fits = has_type(stmt.begin, {}, "the begin of " + name) &
                    has_type(stmt.extent, {}, "the extent of " + name);
  if (function_.vars[stmt.var.index()].type != Type{}) error(name + " does not count in i64");
  if (!fits) return;
  const bool parallel = stmt.loop == LoopKind::kParallel;
  const bool unrolled = stmt.loop == LoopKind::kUnrolled;
  if (unrolled && !stmt.extent.is_integer())
    error("the extent of " + name + " is not constant, but it is unrolled");
  if (parallel) parallel_loop(stmt);
  const auto mark = space_.mark();
  const VarState outside = vars_[stmt.var.index()];
  forms_.define_loop(stmt);
  dividends();
  vars_[stmt.var.index()] = {true, (unrolled || stmt.extent.is(1)) && is_constant(stmt.begin)};
  ++loops_;
  in_task_ = in_task_ || parallel;
  block(stmt.body);
  in_task_ = in_task_ && !parallel;
  --loops_;
  vars_[stmt.var.index()] = outside;
  space_.restore(mark);
}

void Verifier::let(const Stmt& stmt) {
  if (!stmt.var.valid() || stmt.var.index() >= vars_.size()) return error("a let has no variable");
  const VarDecl& var = function_.vars[stmt.var.index()];
  const bool fits = has_type(stmt.value, var.type, "the value of " + var.name);
  vars_[stmt.var.index()] = {true, false};  // one error is enough
  if (!fits) return forms_.forget(stmt.var);
  forms_.define_let(stmt);
  dividends();
  vars_[stmt.var.index()] = {true, is_constant(stmt.value)};
}

void Verifier::conditional(const Stmt& stmt) {
  if (!has_type(stmt.value, {ElementType::kBool, 1}, "a condition")) return;
  const auto mark = space_.mark();
  forms_.require(stmt.value);
  dividends();
  block(stmt.body);
  space_.restore(mark);
}

void Verifier::store(const Stmt& stmt) {
  if (!stmt.buffer.valid() || stmt.buffer.index() >= buffers_.size())
    return error("a store has no buffer");
  const BufferDecl& buffer = function_.buffer(stmt.buffer);
  const std::string what = "a store to " + buffer.name;
  if (!buffers_[stmt.buffer.index()]) return error(what + " is outside of its scope");
  if (buffer.scope == Scope::kIn || buffer.scope == Scope::kConstant)
    error(what + ", which is only read");
  const bool fits = check(stmt.index, "the index of " + what) &
                    check(stmt.value, "the value of " + what) &
                    (!stmt.mask.valid() || check(stmt.mask, "the mask of " + what));
  if (!fits) return;
  const std::string problem = access_problem(buffer, stmt.value.type(), stmt.index, stmt.mask);
  const Access access{stmt.buffer,
                      &stmt.index,
                      stmt.value.type().lanes,
                      stmt.stride,
                      stmt.mask.valid() ? &stmt.mask : nullptr,
                      true};
  if (!problem.empty()) return error(text(access) + ": " + problem);
  check_access(access);
}

// Of what the index is, nothing else matters: nothing is read.
void Verifier::prefetch(const Stmt& stmt) {
  if (!stmt.buffer.valid() || stmt.buffer.index() >= buffers_.size())
    return error("a prefetch has no buffer");
  if (!buffers_[stmt.buffer.index()])
    return error("a prefetch of " + function_.buffer(stmt.buffer).name +
                 " is outside of its scope");
  has_type(stmt.index, {}, "the index of a prefetch");
}

void Verifier::alloc(const Stmt& stmt) {
  if (!stmt.buffer.valid() || stmt.buffer.index() >= buffers_.size())
    return error("an alloc has no buffer");
  const BufferDecl& buffer = function_.buffer(stmt.buffer);
  if (buffer.scope <= Scope::kConstant)
    return error("the argument " + buffer.name + " is allocated");
  if (buffers_[stmt.buffer.index()])
    return error(buffer.name + " is allocated inside of its scope");
  buffers_[stmt.buffer.index()] = true;
  block(stmt.body);
  buffers_[stmt.buffer.index()] = false;
}

void Verifier::races() {
  if (parallel_loops_ != 1) return;
  RaceReport report;
  for (const auto& [buffer, accesses] : accesses_) find_races(function_, space_, accesses, report);
  for (std::string& reason : report.definite) error(std::move(reason));
  for (std::string& reason : report.unclear) unclear(std::move(reason));
}

Errors verify(const Function& function, VerifyNotes* notes) {
  VerifyNotes unread;
  return Verifier(function, notes == nullptr ? unread : *notes).run();
}

}  // namespace hone::loop
