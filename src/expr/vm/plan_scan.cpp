#include "expr/vm/plan_scan.h"

#include <algorithm>
#include <cstring>

namespace hone::vm {
namespace {

class ScanPlan final : public Plan {
 public:
  ScanPlan(const Environment& environment, const Stage& stage)
      : steps_(number(stage.step.extent)), carried_(stage.carried), collected_(stage.collected) {
    Environment inner = environment;
    inner.step_extents.insert(inner.step_extents.begin(), steps_);
    for (const Stage& s : stage.inner) stages_.push_back(plan_stage(inner, s));
    for (const TensorDecl& tensor : environment.expr.tensors) {
      size_t bytes = size_of(compute_type(tensor.type, environment.numbers));
      for (const Dim& dim : tensor.shape) bytes *= static_cast<size_t>(number(dim));
      bytes_.push_back(bytes);
    }
  }

  void run(RunState& state) const override {
    Memory& memory = state.memory;
    for (const auto& c : carried_)
      copy(memory.write[at(c.state)], memory.read[at(c.init)], c.state);
    state.steps.insert(state.steps.begin(), 0);
    for (int64_t step = 0; step < steps_; ++step) {
      state.steps.front() = step;
      for (const PlanRef& stage : stages_) stage->run(state);
      for (const auto& c : collected_)
        copy(memory.write[at(c.result)] + static_cast<size_t>(step) * bytes_[at(c.source)],
             memory.read[at(c.source)], c.source);
      advance(memory);
    }
    state.steps.erase(state.steps.begin());
    for (const auto& c : carried_)
      if (c.final >= 0) copy(memory.write[at(c.final)], memory.read[at(c.state)], c.state);
  }

  [[nodiscard]] std::string to_string() const override {
    std::string text = "scan " + std::to_string(steps_) + " steps\n";
    for (const PlanRef& stage : stages_) text += stage->to_string();
    return text + "end scan\n";
  }

 private:
  static size_t at(int tensor) { return static_cast<size_t>(tensor); }
  void copy(std::byte* to, const std::byte* from, int tensor) const {
    if (bytes_[at(tensor)] > 0) std::memmove(to, from, bytes_[at(tensor)]);
  }
  [[nodiscard]] bool is_state(int tensor) const {
    return std::any_of(carried_.begin(), carried_.end(),
                       [&](const auto& c) { return c.state == tensor; });
  }
  // All states change at once: a next value that is itself a state is set aside first.
  void advance(Memory& memory) const {
    std::vector<std::vector<std::byte>> aside(carried_.size());
    for (size_t i = 0; i < carried_.size(); ++i) {
      const int next = carried_[i].next;
      const std::byte* from = memory.read[at(next)];
      if (is_state(next)) aside[i].assign(from, from + bytes_[at(next)]);
    }
    for (size_t i = 0; i < carried_.size(); ++i) {
      const int state = carried_[i].state, next = carried_[i].next;
      copy(memory.write[at(state)], is_state(next) ? aside[i].data() : memory.read[at(next)],
           state);
    }
  }

  int64_t steps_;
  std::vector<Stage::Carried> carried_;
  std::vector<Stage::Collected> collected_;
  std::vector<PlanRef> stages_;
  std::vector<size_t> bytes_;  // per tensor
};

}  // namespace

PlanRef plan_scan(const Environment& environment, const Stage& stage) {
  return std::make_unique<ScanPlan>(environment, stage);
}

}  // namespace hone::vm
