// One run of a schedule: registers and the current place in the loops.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "expr/vm/schedule.h"

namespace hone::vm {

// Where tensors and tables are, by id.
struct Memory {
  std::vector<const std::byte*> read;
  std::vector<std::byte*> write;
};

// Counts through loops as digits of a number.
class Odometer {
 public:
  // `positions` is indexed by slot.
  Odometer(std::span<const Loop> loops, std::vector<int64_t>& positions)
      : loops_(loops), positions_(positions) {
    for (const Loop& loop : loops_) positions_[static_cast<size_t>(loop.slot)] = 0;
  }
  // To the next point; gives the outermost loop that moved, or -1 when all is done.
  int next() {
    for (size_t l = loops_.size(); l-- > 0;) {
      int64_t& position = positions_[static_cast<size_t>(loops_[l].slot)];
      position += loops_[l].step;
      if (position < loops_[l].extent) return static_cast<int>(l);
      position = 0;
    }
    return -1;
  }

 private:
  std::span<const Loop> loops_;
  std::vector<int64_t>& positions_;
};

class Frame {
 public:
  // `positions`: of every slot; the frame reads it, the owner moves it.
  Frame(const Schedule& schedule, const Memory& memory, const std::vector<int64_t>& positions);

  // Computes what depends on loops from `level` - 1 inwards (0: everything). A Failure when
  // a read that must not misses its tensor.
  void run(int level);
  // Only the size of the tile at the current positions.
  void resize();
  // Where the first root's next tile shall go, if it can; or null.
  void set_target(std::byte* target) { target_ = target; }

  [[nodiscard]] int64_t rows() const { return rows_; }
  [[nodiscard]] int64_t cols() const { return cols_; }
  // Dense [rows, cols].
  [[nodiscard]] const std::byte* root(size_t i = 0) const {
    return array_[static_cast<size_t>(schedule_.code.roots[i])];
  }
  [[nodiscard]] int64_t evaluate(const Linear& linear) const;

 private:
  void execute(const Instruction& instruction);
  void single(const Value& value, std::byte* out);
  void linear(const Linear& linear, int64_t* out);
  void load(const Value& value, int id);
  void gather(const Value& value, int id);
  void apply(const Value& value, int id);
  [[nodiscard]] bool inside(const Value& value) const;
  [[nodiscard]] TilePart part_inside(const Value& value) const;
  std::byte* output_of(int id);
  [[nodiscard]] View view_of(const Linear& linear) const;
  [[noreturn]] void miss(const Value& value) const;
  [[nodiscard]] size_t index(int id) const { return static_cast<size_t>(id); }

  const Schedule& schedule_;
  const Memory& memory_;
  const std::vector<int64_t>& positions_;
  std::unique_ptr<std::byte[]> storage_;
  std::byte* registers_;
  std::vector<const std::byte*> single_, array_;  // current place of each value
  std::vector<int64_t> offsets_, scratch_;        // of gathers
  std::byte* target_ = nullptr;
  int64_t rows_ = 1, cols_ = 1;
};

}  // namespace hone::vm
