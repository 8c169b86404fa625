#include <algorithm>
#include <numeric>

#include "expr/vm/contract.h"
#include "expr/vm/plan.h"
#include "expr/vm/tiling.h"

namespace hone::vm {
namespace {

// out[batch, m, n] = sum_k a[batch, m, k] * b[batch, k, n], where m is one axis that only a has, n
// one or two axes that only b has, and k all reduction axes. The factors are any code: each is
// computed into a packed block (im2col, if you like), so that the inner kernel sees dense data.
struct ContractForm {
  Code a, b;
  int m = -1;
  Tile n;
  std::vector<int> batch, k;
};

constexpr int64_t kRowsPerBlock = 384;     // of a and acc
constexpr int64_t kColumnsPerBlock = 256;  // of b and acc
constexpr int64_t kStepsPerBlock = 256;    // of k
constexpr int64_t kPackedElements = int64_t{1} << 22;

class ContractPlan final : public Plan {
 public:
  ContractPlan(ContractForm form, StageResult result)
      : k_slots_(form.k), result_(std::move(result)), kernel_(find_contract(result_.type)) {
    const Space& space = form.a.space;
    const auto extent = [&](int slot) { return space.extents[static_cast<size_t>(slot)]; };
    for (const int slot : form.k) k_count_ *= extent(slot);
    if (is_empty(space, space.outputs, space.loops())) k_count_ = 0;
    m_slot_ = form.m;
    m_step_ =
        std::clamp<int64_t>(kPackedElements / std::max<int64_t>(k_count_, 1), 4, kRowsPerBlock);
    m_step_ = std::min(m_step_, extent(form.m));
    for (const int slot : form.batch) outer_.push_back({slot, extent(slot), 1});
    outer_.push_back({form.m, extent(form.m), m_step_});
    batch_count_ = form.batch.size();
    a_slots_ = form.a.dependences()[static_cast<size_t>(form.a.roots[0])];
    find_alias(form.a);
    make_schedules(std::move(form));
  }

  void run(RunState& state) const override {
    const Space& space = a_.code.space;
    if (is_empty(space, 0, space.outputs)) return;
    Run run(*this, state);
    Odometer outer(outer_, run.positions);
    do {
      if (k_count_ > 0) run.place_a();
      run_columns(run);
    } while (outer.next() >= 0);
  }

  [[nodiscard]] std::string to_string() const override {
    std::string text = "contract k < " + std::to_string(k_count_) + ", rows i" +
                       std::to_string(m_slot_) + " step " + std::to_string(m_step_) + "\n";
    text += alias_ ? "  a in place [" + vm::to_string(alias_address_) + "]\n"
                   : "  a packed\n" + a_.to_string();
    return text + "  b packed\n" + b_.to_string() + "  store [" + vm::to_string(result_.address) +
           "]\n";
  }

 private:
  // Buffers and places of one run.
  struct Run {
    Run(const ContractPlan& p, RunState& s)
        : plan(p),
          state(s),
          positions(start_positions(p.a_.code.space, s)),
          a(p.a_, s.memory, positions),
          b(p.b_, s.memory, positions),
          size(size_of(p.result_.type)) {
      const int64_t width = padded(p.b_.tile.capacity());
      acc.resize(bytes(p.m_step_ * width));
      panels.resize(bytes(kStepsPerBlock * width));
      row.resize(bytes(width));
      if (!p.alias_) packed_a.resize(bytes(p.m_step_ * p.k_count_));
    }
    static int64_t padded(int64_t columns) {
      return (columns + kContractColumns - 1) / kContractColumns * kContractColumns;
    }
    [[nodiscard]] size_t bytes(int64_t elements) const {
      return static_cast<size_t>(elements) * size;
    }
    [[nodiscard]] int64_t rows() const {
      return std::min(plan.m_step_, plan.a_.code.space.extents[static_cast<size_t>(plan.m_slot_)] -
                                        positions[static_cast<size_t>(plan.m_slot_)]);
    }
    void place_a();
    void pack_a();
    void pack_b(int64_t begin, int64_t end, int& level);

    const ContractPlan& plan;
    RunState& state;
    std::vector<int64_t> positions;
    Frame a, b;
    size_t size;
    std::vector<std::byte> acc, panels, row, packed_a;
    std::vector<int64_t> packed_at;  // positions of the slots that packed_a depends on
    const std::byte* a_data = nullptr;
    int64_t a_row = 0, a_step = 1;
  };

  void find_alias(const Code& a);
  void make_schedules(ContractForm form);
  void run_columns(Run& run) const;
  void sum_block(Run& run, int64_t width) const;
  void store(Run& run, int64_t width) const;

  std::vector<int> k_slots_;
  StageResult result_;
  ContractKernel kernel_;
  std::vector<Loop> outer_;  // batch axes, then m
  size_t batch_count_ = 0;
  std::vector<Loop> columns_;  // the tile of n
  std::vector<Loop> steps_;    // of k
  Schedule a_, b_;
  int b_first_step_ = 0;  // loops of b_ before those of k
  int a_first_step_ = 0;
  uint64_t a_slots_ = 0;
  int m_slot_ = -1;
  int64_t m_step_ = 1;
  int64_t k_count_ = 1;
  bool alias_ = false;  // a lies in memory as [m, k] with constant strides
  int alias_tensor_ = -1;
  Linear alias_address_;
  int64_t alias_step_ = 1;
};

void ContractPlan::find_alias(const Code& a) {
  const Value& root = a.values[static_cast<size_t>(a.roots[0])];
  if (root.op != Value::Op::kRead || !root.checks.empty() || !root.linear.values.empty()) return;
  int64_t expected = k_slots_.empty() ? 0 : root.linear.coefficient(k_slots_.back());
  alias_step_ = expected;
  for (size_t i = k_slots_.size(); i-- > 0;) {
    if (root.linear.coefficient(k_slots_[i]) != expected) return;
    expected *= a.space.extents[static_cast<size_t>(k_slots_[i])];
  }
  alias_ = true;
  alias_tensor_ = root.tensor;
  alias_address_ = root.linear;
}

void ContractPlan::make_schedules(ContractForm form) {
  std::vector<int> order = form.batch;
  order.push_back(form.m);
  const size_t outer = order.size();
  Tile a_tile;
  a_tile.row = form.m;
  a_tile.rows = m_step_;
  if (!form.k.empty()) {
    a_tile.col = form.k.back();
    a_tile.cols = std::min<int64_t>(form.a.space.extents[static_cast<size_t>(a_tile.col)], 64);
  }
  std::vector<int> a_order = order;
  a_order.insert(a_order.end(), form.k.begin(), form.k.end());
  a_ = make_schedule(std::move(form.a), a_order, a_tile);
  a_first_step_ = static_cast<int>(outer);

  for (const int slot : {form.n.row, form.n.col})
    if (slot >= 0) order.push_back(slot);
  b_first_step_ = static_cast<int>(order.size());
  order.insert(order.end(), form.k.begin(), form.k.end());
  b_ = make_schedule(std::move(form.b), order, form.n);
  const std::span<const Loop> loops(b_.loops);
  columns_.assign(loops.begin() + static_cast<ptrdiff_t>(outer), loops.begin() + b_first_step_);
  steps_.assign(loops.begin() + b_first_step_, loops.end());
}

void ContractPlan::Run::place_a() {
  if (plan.alias_) {
    a_data = state.memory.read[static_cast<size_t>(plan.alias_tensor_)] +
             bytes(a.evaluate(plan.alias_address_));
    a_row = plan.alias_address_.coefficient(plan.m_slot_);
    a_step = plan.alias_step_;
    return;
  }
  std::vector<int64_t> now;
  for (const Loop& loop : plan.outer_)
    if (plan.a_slots_ >> loop.slot & 1) now.push_back(positions[static_cast<size_t>(loop.slot)]);
  if (a_data && now == packed_at) return;
  packed_at = std::move(now);
  pack_a();
}

// packed_a[m, k]
void ContractPlan::Run::pack_a() {
  a_data = packed_a.data();
  a_row = plan.k_count_;
  a_step = 1;
  Odometer steps(std::span(plan.a_.loops).subspan(static_cast<size_t>(plan.a_first_step_)),
                 positions);
  int64_t k = 0;
  for (int moved = 0, level = 0; moved >= 0;
       moved = steps.next(), level = plan.a_first_step_ + moved + 1) {
    a.run(level);
    copy_tile(size, packed_a.data() + bytes(k), {a_row, 1}, a.root(), {a.cols(), 1}, a.rows(),
              a.cols());
    k += a.cols();
  }
}

void ContractPlan::run_columns(Run& run) const {
  Odometer columns(columns_, run.positions);
  do {
    run.b.resize();
    const int64_t width = Run::padded(run.b.rows() * run.b.cols());
    std::fill_n(run.acc.begin(), run.bytes(run.rows() * width), std::byte{0});
    if (k_count_ > 0) sum_block(run, width);
    store(run, width);
  } while (columns.next() >= 0);
}

void ContractPlan::sum_block(Run& run, int64_t width) const {
  Odometer steps(steps_, run.positions);
  int level = 0;
  for (int64_t k = 0; k < k_count_;) {
    const int64_t count = std::min(kStepsPerBlock, k_count_ - k);
    for (int64_t i = 0; i < count; ++i) {
      run.b.set_target(run.row.data());
      run.b.run(level);
      const int64_t filled = run.b.rows() * run.b.cols();
      for (int64_t n = 0; n < width; n += kContractColumns) {
        std::byte* to = run.panels.data() + run.bytes((n * kStepsPerBlock) + i * kContractColumns);
        const int64_t part = std::min(kContractColumns, filled - n);
        std::copy_n(run.b.root() + run.bytes(n), run.bytes(part), to);
        std::fill_n(to + run.bytes(part), run.bytes(kContractColumns - part), std::byte{0});
      }
      level = b_first_step_ + steps.next() + 1;
    }
    kernel_({run.acc.data(), run.a_data + static_cast<ptrdiff_t>(run.size) * (k * run.a_step),
             run.a_row, run.a_step, run.panels.data(), kStepsPerBlock, width, run.rows(), count});
    k += count;
  }
}

void ContractPlan::store(Run& run, int64_t width) const {
  const auto stride = [&](int slot) { return slot < 0 ? 0 : result_.address.coefficient(slot); };
  std::byte* to = run.state.memory.write[static_cast<size_t>(result_.tensor)];
  const int64_t start = run.b.evaluate(result_.address);
  const View view{stride(b_.tile.row), stride(b_.tile.col)};
  for (int64_t m = 0; m < run.rows(); ++m)
    copy_tile(run.size, to + run.bytes(start + m * stride(m_slot_)), view,
              run.acc.data() + run.bytes(m * width), {run.b.cols(), 1}, run.b.rows(), run.b.cols());
}

// The factors of a product, in the order (a, b) in which b walks the result's innermost axis.
std::optional<ContractForm> find_form(const Code& code, const Linear& address) {
  const Value& root = code.values[static_cast<size_t>(code.roots[0])];
  if (root.op != Value::Op::kApply || root.args.size() != 2 ||
      root.kernel.arrays != find_kernel(Fn::kMul, root.type).arrays)
    return std::nullopt;
  const std::vector<uint64_t> depends = code.dependences();
  const auto has = [&](int arg, int slot) {
    return (depends[static_cast<size_t>(root.args[static_cast<size_t>(arg)])] >> slot & 1) != 0;
  };
  const auto extent = [&](int slot) { return code.space.extents[static_cast<size_t>(slot)]; };
  std::vector<int> only[2], both;
  for (const int slot : output_slots(code.space)) {
    if (has(0, slot) == has(1, slot))
      both.push_back(slot);
    else
      only[has(0, slot) ? 0 : 1].push_back(slot);
  }
  if (only[0].empty() || only[1].empty()) return std::nullopt;
  const auto inner_stride = [&](const std::vector<int>& slots) {
    int64_t least = INT64_MAX;
    for (const int slot : slots) least = std::min(least, std::abs(address.coefficient(slot)));
    return least;
  };
  const int b = inner_stride(only[1]) <= inner_stride(only[0]) ? 1 : 0;

  ContractForm form;
  form.a = code.restricted_to({root.args[static_cast<size_t>(1 - b)]});
  form.b = code.restricted_to({root.args[static_cast<size_t>(b)]});
  for (const int slot : only[1 - b])
    if (form.m < 0 || extent(slot) > extent(form.m)) form.m = slot;
  form.n = choose_output_tile(form.b, address, only[b], kColumnsPerBlock);
  form.k = reduction_slots(code.space);
  for (const auto* slots : {&both, &only[1 - b], &only[b]})
    for (const int slot : *slots)
      if (slot != form.m && slot != form.n.row && slot != form.n.col) form.batch.push_back(slot);
  return form;
}

}  // namespace

PlanRef plan_contract(const Code& original, const StageResult& original_result) {
  if (!find_contract(original_result.type)) return nullptr;
  Code code = original;
  StageResult result = original_result;
  merge_axes(code, result.address);
  auto form = find_form(code, result.address);
  if (!form) return nullptr;
  const int64_t m = code.space.extents[static_cast<size_t>(form->m)];
  if (m < 4 || form->n.capacity() < 8) return nullptr;
  return std::make_unique<ContractPlan>(std::move(*form), std::move(result));
}

}  // namespace hone::vm
