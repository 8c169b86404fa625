#include "driver/specialization.h"

namespace hone {

Specialization::Specialization(Compiled compiled, int threads)
    : compiled_(std::move(compiled)), threads_(threads) {}

Result<Specialization::Context> Specialization::take_context() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      Context context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
    ++contexts_;
  }
  Context context(hone_context_create(compiled_.program, threads_));
  if (context) return context;
  const std::scoped_lock lock(mutex_);
  --contexts_;
  return fail(ErrorKind::kSystem, "",
              "no memory or threads for a run: it needs " +
                  std::to_string(compiled_.program->arena_bytes) + " bytes and " +
                  std::to_string(threads_) + " threads");
}

void Specialization::give_back(Context context) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(context));
}

Result<void> Specialization::run(const void* const* inputs, void* const* outputs, double* seconds) {
  Result<Context> context = take_context();
  if (!context) return std::unexpected(std::move(context.error()));
  const char* problem = hone_context_profile(context->get(), inputs, outputs, seconds);
  // The message may lie in the context.
  Result<void> result;
  if (problem != nullptr) result = fail(ErrorKind::kInvalid, "", problem);
  give_back(*std::move(context));
  return result;
}

size_t Specialization::context_count() const {
  const std::scoped_lock lock(mutex_);
  return contexts_;
}

}  // namespace hone
