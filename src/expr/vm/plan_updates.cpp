#include <algorithm>
#include <cstring>

#include "expr/vm/plan.h"
#include "expr/vm/tiling.h"

namespace hone::vm {
namespace {

class UpdatePlan final : public Plan {
 public:
  UpdatePlan(Schedule schedule, StageResult result, std::vector<int64_t> dims, Combiner combiner)
      : schedule_(std::move(schedule)),
        result_(std::move(result)),
        dims_(std::move(dims)),
        strides_(row_major_strides(dims_)),
        combiner_(combiner) {
    if (combiner_ != Combiner::kNone) combine_ = find_combiner(combiner_, result_.type).vertical;
  }

  void run(RunState& state) const override {
    if (is_empty(schedule_.code.space, 0, schedule_.code.space.loops())) return;
    std::vector<int64_t> positions = start_positions(schedule_.code.space, state);
    Frame frame(schedule_, state.memory, positions);
    Odometer odometer(schedule_.loops, positions);
    std::byte* memory = state.memory.write[static_cast<size_t>(result_.tensor)];
    for (int moved = 0, level = 0; moved >= 0; moved = odometer.next(), level = moved + 1) {
      frame.run(level);
      for (int64_t i = 0; i < frame.rows() * frame.cols(); ++i) update(frame, i, memory);
    }
  }

  [[nodiscard]] std::string to_string() const override {
    return "update " + std::string(name_of(combiner_)) + "\n" + schedule_.to_string();
  }

 private:
  // Targets outside the result are skipped.
  void update(const Frame& frame, int64_t i, std::byte* memory) const {
    int64_t at = 0;
    for (size_t d = 0; d < dims_.size(); ++d) {
      const int64_t target = reinterpret_cast<const int64_t*>(frame.root(1 + d))[i];
      if (target < 0 || target >= dims_[d]) return;
      at += target * strides_[d];
    }
    const size_t size = size_of(result_.type);
    std::byte* to = memory + static_cast<size_t>(at) * size;
    const std::byte* value = frame.root(0) + static_cast<size_t>(i) * size;
    if (combine_)
      combine_(to, value, 1);
    else
      std::memcpy(to, value, size);
  }

  Schedule schedule_;
  StageResult result_;
  std::vector<int64_t> dims_, strides_;
  Combiner combiner_;
  void (*combine_)(std::byte*, const std::byte*, int64_t) = nullptr;
};

}  // namespace

// The order of updates matters, so the tile is made of the last axes as they stand.
PlanRef plan_updates(Code code, StageResult result, std::vector<int64_t> dims, Combiner combiner) {
  const std::vector<int> slots = output_slots(code.space);
  Tile tile;
  constexpr int64_t kCapacity = 1024;
  if (!slots.empty()) {
    const auto extent = [&](int slot) { return code.space.extents[static_cast<size_t>(slot)]; };
    tile.col = slots.back();
    tile.cols = std::min(extent(tile.col), kCapacity);
    if (slots.size() > 1 && tile.cols == extent(tile.col)) {
      tile.row = slots[slots.size() - 2];
      tile.rows = std::clamp<int64_t>(kCapacity / tile.cols, 1, extent(tile.row));
    }
  }
  return std::make_unique<UpdatePlan>(make_schedule(std::move(code), slots, tile),
                                      std::move(result), std::move(dims), combiner);
}

}  // namespace hone::vm
