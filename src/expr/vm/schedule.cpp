#include "expr/vm/schedule.h"

#include <algorithm>
#include <bit>

namespace hone::vm {
namespace {

class Scheduler {
 public:
  explicit Scheduler(Schedule& schedule) : s_(schedule), depends_(s_.code.dependences()) {}

  void place() {
    const size_t count = s_.code.values.size();
    s_.is_vector.resize(count);
    s_.single_at.assign(count, Schedule::kNone);
    s_.array_at.assign(count, Schedule::kNone);
    for (size_t v = 0; v < count; ++v) place_value(static_cast<int>(v));
    for (const int root : s_.code.roots) need_array(root);
    std::stable_sort(s_.instructions.begin(), s_.instructions.end(),
                     [](const auto& a, const auto& b) { return a.level < b.level; });
    for (int level = 0; level <= static_cast<int>(s_.loops.size()) + 1; ++level) {
      const auto at = std::find_if(s_.instructions.begin(), s_.instructions.end(),
                                   [&](const auto& i) { return i.level >= level; });
      s_.level_begin.push_back(static_cast<size_t>(at - s_.instructions.begin()));
    }
  }

 private:
  [[nodiscard]] uint64_t tile_mask() const {
    uint64_t mask = 0;
    for (const int slot : {s_.tile.row, s_.tile.col})
      if (slot >= 0) mask |= uint64_t{1} << slot;
    return mask;
  }
  [[nodiscard]] bool is_vector(int v) const { return s_.is_vector[static_cast<size_t>(v)]; }

  [[nodiscard]] int level_of(uint64_t slots) const {
    for (size_t l = s_.loops.size(); l-- > 0;)
      if (slots >> s_.loops[l].slot & 1) return static_cast<int>(l) + 1;
    return 0;
  }

  size_t allocate(size_t bytes) {
    const size_t at = s_.register_bytes;
    s_.register_bytes += (bytes + 63) / 64 * 64;
    return at;
  }

  void place_value(int v) {
    const auto at = static_cast<size_t>(v);
    const Value& value = s_.code.values[at];
    s_.is_vector[at] = (depends_[at] & tile_mask()) != 0;
    if (!s_.is_vector[at]) {
      s_.single_at[at] = allocate(8);
      s_.instructions.push_back({Instruction::Form::kSingle, v, level_of(depends_[at])});
      return;
    }
    const Instruction::Form form = form_of(value);
    prepare_args(value, form);
    s_.array_at[at] = allocate(static_cast<size_t>(s_.tile.capacity()) * size_of(value.type));
    // The shape of an array follows the tile, so it depends on both axes.
    s_.instructions.push_back({form, v, level_of(depends_[at] | tile_mask())});
  }

  [[nodiscard]] Instruction::Form form_of(const Value& value) const {
    switch (value.op) {
      case Value::Op::kRead:
        return is_strided(value) ? Instruction::Form::kLoad : Instruction::Form::kGather;
      case Value::Op::kApply:
        return value.is_select && !is_vector(value.args[0]) ? Instruction::Form::kChoose
                                                            : Instruction::Form::kApply;
      default:
        return Instruction::Form::kLinear;
    }
  }

  // Addresses advance by constant strides, and each check bounds one axis of the tile.
  [[nodiscard]] bool is_strided(const Value& value) const {
    const auto by_values = [&](const Linear& linear) {
      return std::any_of(linear.values.begin(), linear.values.end(),
                         [&](const auto& term) { return is_vector(term.first); });
    };
    if (by_values(value.linear)) return false;
    return std::none_of(value.checks.begin(), value.checks.end(), [&](const Check& check) {
      const bool both = s_.tile.row >= 0 && s_.tile.col >= 0 &&
                        check.index.coefficient(s_.tile.row) != 0 &&
                        check.index.coefficient(s_.tile.col) != 0;
      return both || by_values(check.index);
    });
  }

  void prepare_args(const Value& value, Instruction::Form form) {
    if (form == Instruction::Form::kChoose) {
      need_array(value.args[1]);
      need_array(value.args[2]);
      return;
    }
    if (form != Instruction::Form::kApply) return;
    const KernelSet& k = value.kernel;
    const bool first = !is_vector(value.args[0]);
    const bool second = value.args.size() == 2 && !is_vector(value.args[1]);
    if (value.args.size() == 2 && ((first && k.first_single) || (second && k.second_single)))
      return;
    for (const int arg : value.args) need_array(arg);
  }

  void need_array(int v) {
    const auto at = static_cast<size_t>(v);
    if (is_vector(v) || s_.array_at[at] != Schedule::kNone) return;
    const Value& value = s_.code.values[at];
    s_.array_at[at] = allocate(static_cast<size_t>(s_.tile.capacity()) * size_of(value.type));
    s_.instructions.push_back({Instruction::Form::kBroadcast, v, level_of(depends_[at])});
  }

  Schedule& s_;
  std::vector<uint64_t> depends_;
};

}  // namespace

Schedule make_schedule(Code code, const std::vector<int>& order, const Tile& tile) {
  Schedule schedule;
  schedule.code = std::move(code);
  schedule.tile = tile;
  for (const int slot : order) {
    const int64_t extent = schedule.code.space.extents[static_cast<size_t>(slot)];
    if (extent == 1 && slot != tile.row && slot != tile.col) continue;
    const int64_t step = slot == tile.row ? tile.rows : slot == tile.col ? tile.cols : 1;
    schedule.loops.push_back({slot, extent, step});
  }
  Scheduler(schedule).place();
  return schedule;
}

std::string Schedule::to_string() const {
  std::string text;
  const auto indent = [&](int level) {
    text += std::string(static_cast<size_t>(2 * level + 2), ' ');
  };
  size_t next = 0;
  for (int level = 0; level <= static_cast<int>(loops.size()); ++level) {
    for (; next < instructions.size() && instructions[next].level == level; ++next) {
      const Instruction& i = instructions[next];
      static constexpr const char* kForms[] = {"one",    "broadcast", "linear", "load",
                                               "gather", "apply",     "choose"};
      indent(level);
      text += std::string(kForms[static_cast<size_t>(i.form)]) + " " +
              vm::to_string(code.values[static_cast<size_t>(i.value)], i.value) + "\n";
    }
    if (level == static_cast<int>(loops.size())) break;
    const Loop& loop = loops[static_cast<size_t>(level)];
    indent(level);
    text += "for i" + std::to_string(loop.slot) + " < " + std::to_string(loop.extent);
    text += loop.step > 1 ? " step " + std::to_string(loop.step) + "\n" : "\n";
  }
  return text;
}

}  // namespace hone::vm
