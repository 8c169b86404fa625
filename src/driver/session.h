// A model that runs natively, any number of times, from any number of threads. Where its shapes are
// symbolic it is compiled anew for each concrete shape; a bounded number of those stays at hand.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "driver/interface.h"
#include "driver/specialization.h"
#include "graph/model.h"
#include "tensor/buffer.h"

namespace hone {

// Dense row-major memory of the caller, of any alignment. No data: an input that takes its default.
struct TensorView {
  ElementType element = ElementType::kInvalid;
  std::span<const int64_t> dims;
  const void* data = nullptr;
};
struct MutableTensorView {
  ElementType element = ElementType::kInvalid;
  std::span<const int64_t> dims;
  void* data = nullptr;
};

// Makes the program for inputs of these shapes; every input of the model is there.
using Compiler = std::function<Result<Compiled>(const Model&, const InputShapes&)>;

struct SessionOptions {
  int threads = 1;
  InputShapes shapes{};                      // inputs whose shape is fixed now
  std::map<std::string, int64_t> symbols{};  // symbolic dimensions whose value is fixed now
  size_t cache_size = 8;                     // specializations that are kept
};

struct CacheCounts {
  int64_t hits = 0, compiled = 0, dropped = 0;
};

// Seconds of one step, the least of several runs.
struct StepProfile {
  std::string label, kernel;
  double seconds = 0, flops = 0, bytes = 0;
  int64_t tasks = 1;
};
struct Profile {
  int runs = 0;
  double seconds = 0;  // of a whole run, the least
  std::vector<StepProfile> steps;
};

class Session {
 public:
  // Compiles at once when every shape is known. `owner` keeps what the model points to.
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(Model model,
                                                               std::shared_ptr<const void> owner,
                                                               Compiler compiler,
                                                               SessionOptions options);

  [[nodiscard]] const std::vector<InterfaceValue>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<InterfaceValue>& outputs() const { return outputs_; }

  // The program for these inputs, after all checks of their number, types and shapes.
  [[nodiscard]] Result<std::shared_ptr<Specialization>> specialize(
      std::span<const TensorView> inputs);

  // In the order of outputs(). Their types and shapes must be those that specialize() tells; they
  // must not overlap with inputs or each other.
  [[nodiscard]] Result<void> run(std::span<const TensorView> inputs,
                                 std::span<const MutableTensorView> outputs);
  [[nodiscard]] Result<std::vector<Buffer>> run(std::span<const TensorView> inputs);
  // Runs several times; once more before, to warm up.
  [[nodiscard]] Result<Profile> profile(std::span<const TensorView> inputs, int runs);

  [[nodiscard]] CacheCounts cache_counts() const;
  // Report of the last specialization that was used; empty before the first.
  [[nodiscard]] std::string report() const;

 private:
  struct Entry {
    InputShapes shapes;
    std::shared_ptr<Specialization> specialization;
  };

  Session() = default;
  [[nodiscard]] Result<void> read_interface();
  [[nodiscard]] Result<InputShapes> check_inputs(std::span<const TensorView> inputs) const;
  [[nodiscard]] std::shared_ptr<Specialization> find(const InputShapes& shapes);
  [[nodiscard]] Result<std::shared_ptr<Specialization>> find_or_compile(const InputShapes& shapes);
  void keep(Entry entry);

  std::shared_ptr<const void> owner_;
  Model model_;
  Compiler compiler_;
  SessionOptions options_;
  std::vector<InterfaceValue> inputs_, outputs_;
  mutable std::mutex mutex_;  // of the cache
  std::mutex compiling_;      // one compilation at a time
  std::list<Entry> cache_;    // last used first
  CacheCounts counts_;
};

// The type and shape of the index-th output of a program, and how large it is.
[[nodiscard]] ElementType element_of(const hone_tensor_info& info);
[[nodiscard]] std::span<const int64_t> dims_of(const hone_tensor_info& info);
[[nodiscard]] TensorView view_of(const Buffer& buffer);

}  // namespace hone
