// A compiled program for concrete input shapes, and the contexts that run it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/program.h"
#include "support/error.h"

namespace hone {

// A program with whatever keeps it alive, and what its compiler tells about it.
struct Compiled {
  std::shared_ptr<const void> owner;
  const hone_program* program = nullptr;
  std::string report;  // JSON
};

class Specialization {
 public:
  Specialization(Compiled compiled, int threads);

  [[nodiscard]] const hone_program& program() const { return *compiled_.program; }
  [[nodiscard]] const std::string& report() const { return compiled_.report; }
  // Safe from several threads at once: each run has a context of its own, kept for later runs.
  // Pointers in the program's order, checked by the caller. `seconds`, if given, has an entry for
  // each step, to which the step's time is added.
  [[nodiscard]] Result<void> run(const void* const* inputs, void* const* outputs,
                                 double* seconds = nullptr);
  // Contexts so far: the most runs that were under way at once.
  [[nodiscard]] size_t context_count() const;

 private:
  struct ContextDeleter {
    void operator()(hone_context* context) const { hone_context_destroy(context); }
  };
  using Context = std::unique_ptr<hone_context, ContextDeleter>;

  [[nodiscard]] Result<Context> take_context();
  void give_back(Context context);

  Compiled compiled_;
  int threads_;
  mutable std::mutex mutex_;
  std::vector<Context> idle_;
  size_t contexts_ = 0;
};

}  // namespace hone
