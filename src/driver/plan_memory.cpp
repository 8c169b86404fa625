// Where constants and results lie.
#include <algorithm>
#include <cstring>
#include <map>

#include "driver/memory_plan.h"
#include "driver/planner.h"

namespace hone {
namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

int64_t Planner::bytes_of(int root) {
  return storage_.elements[static_cast<size_t>(root)] *
         static_cast<int64_t>(size_of(tensor(root).type));
}

void Planner::place_everything() {
  // Constants one after the other.
  std::vector<int64_t> offsets;
  int64_t constant_bytes = 0;
  for (const Buffer& data : constants_) {
    offsets.push_back(constant_bytes);
    constant_bytes +=
        (static_cast<int64_t>(data.byte_size()) + kAlignment - 1) / kAlignment * kAlignment;
  }
  plan_->constants = Buffer::allocate(ElementType::kU8, {std::max<int64_t>(constant_bytes, 64)});
  for (size_t i = 0; i < constants_.size(); ++i) {
    if (constants_[i].byte_size() > 0)
      std::memcpy(plan_->constants.mutable_data() + offsets[i], constants_[i].data(),
                  constants_[i].byte_size());
    constants_[i] = {};
  }
  std::map<int, size_t> alive;
  std::vector<Lifetime> lifetimes;
  for (size_t s = 0; s < drafts_.size(); ++s)
    for (const Argument& a : drafts_[s].arguments) {
      if (a.tensor < 0 || fixed_place(a.tensor)) continue;
      const auto [at, added] = alive.try_emplace(a.tensor, lifetimes.size());
      if (added) lifetimes.push_back({bytes_of(a.tensor), static_cast<int>(s), 0, 0});
      lifetimes[at->second].last = static_cast<int>(s);
    }
  plan_->arena_bytes = place_buffers(lifetimes);
  for (Draft& draft : drafts_) {
    for (const Argument& a : draft.arguments) {
      if (a.constant >= 0) {
        draft.step.places.push_back(
            {HONE_IN_CONSTANTS, 0, offsets[static_cast<size_t>(a.constant)]});
      } else if (const auto place = fixed_place(a.tensor)) {
        draft.step.places.push_back(*place);
      } else {
        draft.step.places.push_back({HONE_IN_ARENA, 0, lifetimes[alive.at(a.tensor)].offset});
      }
    }
    plan_->steps.push_back(std::move(draft.step));
  }
  for (const int id : program_.inputs)
    plan_->inputs.push_back({tensor(id).name, {tensor(id).type, to_shape(tensor(id).dims)}});
  for (size_t i = 0; i < program_.outputs.size(); ++i) {
    const int id = program_.outputs[i];
    plan_->outputs.push_back({output_name(i), {tensor(id).type, to_shape(tensor(id).dims)}});
  }
}

std::string Planner::output_name(size_t i) const {
  return plan_->graph->value(plan_->graph->outputs()[i]).name;
}

std::optional<PlanPlace> Planner::fixed_place(int root) {
  if (tensor(root).kind == ProgramTensor::Kind::kInput)
    return PlanPlace{HONE_IN_INPUT, tensor(root).input, 0};
  const auto at = std::ranges::find(program_.outputs, root);
  if (at == program_.outputs.end()) return std::nullopt;
  return PlanPlace{HONE_IN_OUTPUT, static_cast<int32_t>(at - program_.outputs.begin()), 0};
}

}  // namespace hone
