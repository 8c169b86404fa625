#include "expr/vm/plan.h"
#include "expr/vm/tiling.h"

namespace hone::vm {
namespace {

class MapPlan final : public Plan {
 public:
  MapPlan(Schedule schedule, StageResult result)
      : schedule_(std::move(schedule)), result_(std::move(result)) {}

  void run(RunState& state) const override {
    if (is_empty(schedule_.code.space, 0, schedule_.code.space.outputs)) return;
    std::vector<int64_t> positions = start_positions(schedule_.code.space, state);
    Frame frame(schedule_, state.memory, positions);
    Odometer odometer(schedule_.loops, positions);
    std::byte* memory = state.memory.write[static_cast<size_t>(result_.tensor)];
    const size_t size = size_of(result_.type);
    const Tile& tile = schedule_.tile;
    const View view{tile.row < 0 ? 0 : result_.address.coefficient(tile.row),
                    tile.col < 0 ? 0 : result_.address.coefficient(tile.col)};
    for (int moved = 0, level = 0; moved >= 0; moved = odometer.next(), level = moved + 1) {
      std::byte* to = memory + static_cast<size_t>(frame.evaluate(result_.address)) * size;
      frame.resize();
      const int64_t rows = frame.rows(), cols = frame.cols();
      const bool dense =
          (cols == 1 || view.col_stride == 1) && (rows == 1 || view.row_stride == cols);
      frame.set_target(dense ? to : nullptr);
      frame.run(level);
      if (frame.root() != to) copy_tile(size, to, view, frame.root(), {cols, 1}, rows, cols);
    }
  }

  [[nodiscard]] std::string to_string() const override {
    return "map\n" + schedule_.to_string() + "  store [" + vm::to_string(result_.address) + "]\n";
  }

 private:
  Schedule schedule_;
  StageResult result_;
};

}  // namespace

PlanRef plan_map(Code code, StageResult result) {
  merge_axes(code, result.address);
  const std::vector<int> slots = output_slots(code.space);
  const Tile tile = choose_output_tile(code, result.address, slots, tile_capacity(code));
  return std::make_unique<MapPlan>(make_schedule(std::move(code), loop_order(slots, tile), tile),
                                   std::move(result));
}

std::vector<int64_t> start_positions(const Space& space, const RunState& state) {
  std::vector<int64_t> positions(space.extents.size(), 0);
  for (size_t s = 0; s < state.steps.size(); ++s)
    positions[static_cast<size_t>(space.loops()) + s] = state.steps[s];
  return positions;
}

bool is_empty(const Space& space, int begin, int end) {
  for (int slot = begin; slot < end; ++slot)
    if (space.extents[static_cast<size_t>(slot)] == 0) return true;
  return false;
}

}  // namespace hone::vm
