// Small models by hand, compiled and run in several ways against the reference in float64.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace hone::testing {

// Builds a model; weights are seeded.
class Net {
 public:
  explicit Net(int opset = 17);
  ValueId input(const std::string& name, std::vector<int64_t> dims);
  ValueId weights(std::vector<int64_t> dims);
  ValueId integers(const std::vector<int64_t>& values);
  ValueId op(const std::string& name, std::vector<ValueId> inputs, Attributes attributes = {});
  // Inferred; a failure of the test where the model is wrong.
  Model finish(std::vector<ValueId> outputs);

 private:
  Model model_;
  uint64_t seed_ = 0;
};

using Ints = std::vector<int64_t>;

[[nodiscard]] std::shared_ptr<Plan> plan_of(const Model& model, const CompileOptions& options = {});
[[nodiscard]] CompileOptions options_for(const std::string& target, int threads = 1);
// The labels of a plan's steps.
[[nodiscard]] std::vector<std::string> labels(const Plan& plan);

// Runs each kernel of a plan by the interpreter of loop IR, at whatever width it was made for.
[[nodiscard]] std::vector<Buffer> run_by_interpreter(const Plan& plan,
                                                     const std::vector<Buffer>& inputs);
[[nodiscard]] std::vector<Buffer> seeded_inputs(const Model& model);

// The greatest difference from the reference in float64, relative to the output's magnitude.
[[nodiscard]] double difference(const Model& model, const std::vector<Buffer>& inputs,
                                const std::vector<Buffer>& outputs);
// As machine code with 1 and 2 threads, and interpreted for AVX-512, AVX2 and NEON.
void expect_right_everywhere(const Model& model, double tolerance = 1e-5);
// Only as machine code, for what is too large to be interpreted.
void expect_right_natively(const Model& model, double tolerance = 1e-5);

}  // namespace hone::testing
