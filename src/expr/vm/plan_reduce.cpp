#include <algorithm>

#include "expr/vm/plan.h"
#include "expr/vm/tiling.h"

namespace hone::vm {
namespace {

// For each tile of outputs: the identity, then every reduction point combined into it. The tile's
// columns are an output axis (each reduction point gives a tile of values) or a reduction axis
// (each gives rows to combine).
class ReducePlan final : public Plan {
 public:
  ReducePlan(Schedule schedule, StageResult result, Combiner combiner, bool along_rows)
      : schedule_(std::move(schedule)),
        result_(std::move(result)),
        combiner_(combiner),
        kernels_(find_combiner(combiner, value_type())),
        along_rows_(along_rows) {
    const Space& space = schedule_.code.space;
    while (outer_ < schedule_.loops.size() && space.is_output(schedule_.loops[outer_].slot))
      ++outer_;
  }

  void run(RunState& state) const override {
    const Space& space = schedule_.code.space;
    if (is_empty(space, 0, space.outputs)) return;
    std::vector<int64_t> positions = start_positions(space, state);
    Frame frame(schedule_, state.memory, positions);
    const bool nothing = is_empty(space, space.outputs, space.loops());
    Accumulators acc(static_cast<size_t>(schedule_.tile.capacity()));
    Odometer outer(std::span(schedule_.loops).first(outer_), positions);
    for (int moved = 0, level = 0; moved >= 0; moved = outer.next(), level = moved + 1) {
      frame.resize();
      reset(acc);
      if (!nothing) reduce(acc, frame, positions, level);
      store(acc, frame, state.memory);
    }
  }

  [[nodiscard]] std::string to_string() const override {
    return std::string("reduce ") + std::string(name_of(combiner_)) +
           (along_rows_ ? " along rows\n" : "\n") + schedule_.to_string() + "  store [" +
           vm::to_string(result_.address) + "]\n";
  }

 private:
  struct Accumulators {
    explicit Accumulators(size_t count) : block(count), total(count), positions(count) {}
    std::vector<uint64_t> block, total;  // elements of any type
    std::vector<int64_t> positions;      // of arg combiners
    static std::byte* bytes(std::vector<uint64_t>& elements) {
      return reinterpret_cast<std::byte*>(elements.data());
    }
  };
  // Long sums are sums of sums of so many terms, which keeps rounding errors small.
  static constexpr int kBlock = 128;

  [[nodiscard]] ElementType value_type() const {
    return schedule_.code.values[static_cast<size_t>(schedule_.code.roots[0])].type;
  }

  void reset(Accumulators& acc) const {
    const auto clear = [&](std::vector<uint64_t>& elements) {
      fill(size_of(value_type()), Accumulators::bytes(elements), kernels_.identity,
           static_cast<int64_t>(elements.size()));
    };
    clear(acc.block);
    clear(acc.total);
    if (is_arg(combiner_)) std::fill(acc.positions.begin(), acc.positions.end(), -1);
  }

  void reduce(Accumulators& acc, Frame& frame, std::vector<int64_t>& positions, int level) const {
    Odometer inner(std::span(schedule_.loops).subspan(outer_), positions);
    for (int in_block = 1;; ++in_block) {
      frame.run(level);
      combine(acc, frame, positions);
      if (in_block == kBlock) {
        add_block(acc, frame);
        in_block = 0;
      }
      const int moved = inner.next();
      if (moved < 0) break;
      level = static_cast<int>(outer_) + moved + 1;
    }
    add_block(acc, frame);
  }

  void combine(Accumulators& acc, const Frame& frame, const std::vector<int64_t>& positions) const {
    const int64_t rows = frame.rows(), cols = frame.cols();
    const auto slot =
        static_cast<size_t>(along_rows_ ? schedule_.tile.col : schedule_.code.space.outputs);
    std::byte* block = Accumulators::bytes(acc.block);
    const ArgState best{block, acc.positions.data()};
    if (is_arg(combiner_) && along_rows_)
      kernels_.arg_horizontal(best, frame.root(), rows, cols, positions[slot]);
    else if (is_arg(combiner_))
      kernels_.arg_vertical(best, frame.root(), rows * cols, positions[slot]);
    else if (along_rows_)
      kernels_.horizontal(block, frame.root(), rows, cols);
    else
      kernels_.vertical(block, frame.root(), rows * cols);
  }

  void add_block(Accumulators& acc, const Frame& frame) const {
    if (is_arg(combiner_)) return;
    const int64_t count = along_rows_ ? frame.rows() : frame.rows() * frame.cols();
    kernels_.vertical(Accumulators::bytes(acc.total), Accumulators::bytes(acc.block), count);
    fill(size_of(value_type()), Accumulators::bytes(acc.block), kernels_.identity, count);
  }

  void store(Accumulators& acc, const Frame& frame, Memory& memory) const {
    const Tile& tile = schedule_.tile;
    const auto stride = [&](int slot) { return slot < 0 ? 0 : result_.address.coefficient(slot); };
    const size_t size = size_of(result_.type);
    std::byte* to = memory.write[static_cast<size_t>(result_.tensor)] +
                    static_cast<size_t>(frame.evaluate(result_.address)) * size;
    const auto* from = is_arg(combiner_) ? reinterpret_cast<std::byte*>(acc.positions.data())
                                         : Accumulators::bytes(acc.total);
    const int64_t cols = along_rows_ ? 1 : frame.cols();
    const View view{stride(tile.row), along_rows_ ? 0 : stride(tile.col)};
    copy_tile(size, to, view, from, {cols, 1}, frame.rows(), cols);
  }

  Schedule schedule_;
  StageResult result_;
  Combiner combiner_;
  CombineKernels kernels_;
  bool along_rows_;
  size_t outer_ = 0;
};

}  // namespace

PlanRef plan_reduce(Code code, StageResult result, Combiner combiner) {
  merge_axes(code, result.address);
  const int64_t capacity = tile_capacity(code);
  const std::vector<int> outputs = output_slots(code.space);
  const Tile by_outputs = choose_output_tile(code, result.address, outputs, capacity);
  const Tile by_rows = choose_row_tile(code, result.address, capacity);
  const bool along_rows = prefers_row_tile(code, by_outputs, by_rows);
  const Tile tile = along_rows ? by_rows : by_outputs;
  std::vector<int> order = loop_order(outputs, along_rows ? Tile{tile.row, -1} : tile);
  const std::vector<int> reductions =
      loop_order(reduction_slots(code.space), along_rows ? Tile{-1, tile.col} : Tile{});
  order.insert(order.end(), reductions.begin(), reductions.end());
  return std::make_unique<ReducePlan>(make_schedule(std::move(code), order, tile),
                                      std::move(result), combiner, along_rows);
}

}  // namespace hone::vm
