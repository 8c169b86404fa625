// Inside of planning: turns the ops of a program into steps, and gives everything a place.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/compile.h"
#include "driver/plan.h"
#include "lower/lower.h"
#include "partition/groups.h"
#include "partition/kernel_of.h"
#include "partition/storage.h"

namespace hone {

class Planner {
 public:
  Planner(TensorProgram program, std::shared_ptr<const Graph> graph, const CompileOptions& options)
      : program_(std::move(program)), options_(options), plan_(std::make_shared<Plan>()) {
    plan_->graph = std::move(graph);
  }
  Result<std::shared_ptr<Plan>> run();

 private:
  // What a step passes to its kernel, before everything has a place.
  struct Argument {
    int tensor = -1;    // root tensor of the program
    int constant = -1;  // or an entry of the constants
  };

  struct Draft {
    PlanStep step;
    std::vector<Argument> arguments;
  };

  // Which tensor stands for which while a scan is unrolled.
  using Renaming = std::map<int, int>;

  // A kernel that is shared by all steps with the same code.
  struct Built {
    int number;
    std::vector<int> arguments;
    std::vector<PackedConstant> packed;
    int64_t tasks;
  };

  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }

  // --- plan.cpp

  // Every output has a buffer of its own.
  void separate_outputs();
  Result<void> add_ops(const std::vector<Op>& ops, const std::vector<int64_t>& steps,
                       const Renaming& renaming);
  Result<void> add_host(const Op& op, const Renaming& renaming);

  // --- plan_scans.cpp

  // A tensor like another one, with a buffer of its own.
  int twin(int id);
  Result<void> add_scan(const Op::Scan& scan, const std::vector<int64_t>& outer_steps,
                        const Renaming& outer);
  Result<void> add_copy(int from, int to);

  // --- plan_kernels.cpp

  const Built& build(Kernel& kernel);
  Result<void> add_kernel(const std::vector<Op>& ops, const Group& group,
                          const std::vector<int64_t>& steps, const Renaming& renaming);
  Argument argument_of(int number, const PlacedKernel& placed, const Built& built,
                       const Renaming& renaming);

  // --- plan_constants.cpp

  Argument argument(int root);
  int constant(const std::string& key, const Buffer& data);
  static Buffer pack(const PackedConstant& packed, const Buffer& source);
  Argument table_argument(const Table& table);

  // --- plan_memory.cpp

  int64_t bytes_of(int root);
  void place_everything();
  std::string output_name(size_t i) const;
  std::optional<PlanPlace> fixed_place(int root);

  TensorProgram program_;
  const CompileOptions& options_;
  std::shared_ptr<Plan> plan_;
  Storage storage_;
  std::vector<Draft> drafts_;
  std::vector<Buffer> constants_;
  std::map<std::string, int> constant_numbers_;
  std::map<std::string, Built> built_;
};

}  // namespace hone
