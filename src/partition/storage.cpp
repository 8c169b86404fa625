#include "partition/storage.h"

#include <algorithm>
#include <set>

#include "expr/index_facts.h"
#include "lower/rewrite.h"
#include "partition/layout.h"
#include "partition/pieces.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

class StorageChooser {
 public:
  explicit StorageChooser(TensorProgram& program) : program_(program) {}

  Storage run() {
    split_ops();
    copy_padded_inputs();
    find_fixed();
    const std::vector<int> innermost = innermost_axes(program_, fixed_);
    find_halos();
    find_factors();
    for (size_t i = 0; i < program_.tensors.size(); ++i) add_view(i, innermost[i]);
    removed_.assign(program_.ops.size(), false);
    for (size_t i = program_.ops.size(); i-- > 0;) write_in_place(i);
    for (size_t i = 0; i < program_.ops.size(); ++i) read_in_place(i);
    finish_ops();
    return std::move(storage_);
  }

 private:
  struct Halo {
    std::vector<int64_t> before, after;
    std::optional<Literal> around;
    bool refused = false;
  };

  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }
  View& view(int id) { return storage_.views[static_cast<size_t>(id)]; }

  void split_ops() {
    std::vector<Op> ops;
    for (const Op& op : program_.ops)
      for (Op& part : split_choices(op, program_))
        for (Op& piece : split_phases(part, program_)) ops.push_back(std::move(piece));
    for (Op& op : ops) drop_determined_axes(op, program_);
    for (Op& op : ops)
      if (is_copy(op)) split_axes(op, program_);
    program_.ops = std::move(ops);
  }

  static bool is_copy(const Op& op) {
    return op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
           !op.writes[0].condition.valid() && op.writes[0].value->kind == ScalarNode::Kind::kRead &&
           !op.writes[0].value->outside && op.writes[0].value->tensor >= 0 && op.steps.empty();
  }

  static bool literal_guard(const ScalarNode& node) {
    return node.outside && node.outside->kind == ScalarNode::Kind::kLiteral;
  }

  // Inputs come without anything around them: where that is needed, a copy has it.
  void copy_padded_inputs() {
    for (const int input : program_.inputs) {
      bool padded = false;
      for (const Op& op : program_.ops)
        if (op.is_plain() && (op.reduces() || op.group >= 0))
          visit_reads(op, [&](const ScalarNode& node) {
            padded = padded || (node.tensor == input && literal_guard(node));
          });
      if (!padded) continue;
      ProgramTensor copy = tensor(input);
      copy.kind = ProgramTensor::Kind::kResult;
      copy.is_output = false;
      copy.name += "_padded";
      const auto id = static_cast<int>(program_.tensors.size());
      Op op;
      op.label = "pad input";
      op.extents = copy.dims;
      op.outputs = op.extents.size();
      std::vector<Index> at;
      for (size_t i = 0; i < op.outputs; ++i) at.emplace_back(axis_id(i));
      op.writes.push_back({id, at, Scalar::read(copy.type, input, at)});
      program_.tensors.push_back(std::move(copy));
      for (Op& reader : program_.ops) redirect(reader, input, id);
      program_.ops.insert(program_.ops.begin(), std::move(op));
    }
  }

  static void redirect(Op& op, int from, int to) {
    if (!op.is_plain() || (!op.reduces() && op.group < 0)) return;
    Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
      if (scalar->kind != ScalarNode::Kind::kRead || scalar->tensor != from) return {};
      return scalar->outside
                 ? Scalar::read_or(scalar->type, to, scalar->indices, Scalar(scalar->outside))
                 : Scalar::read(scalar->type, to, scalar->indices);
    });
    map_scalars(op, [&](const Scalar& scalar) { return rewrite(scalar); });
  }

  // Tensors that others than kernels see, or that change their buffer: dense and row-major.
  void find_fixed() {
    for (size_t i = 0; i < program_.tensors.size(); ++i)
      if (program_.tensors[i].is_output || program_.tensors[i].kind != ProgramTensor::Kind::kResult)
        fixed_.insert(static_cast<int>(i));
    for (const Op& op : program_.ops) {
      if (op.is_plain()) continue;
      for (const int id : read_by(op)) fixed_.insert(id);
      for (const int id : written_by(op)) fixed_.insert(id);
      if (op.scan) fix_scan(*op.scan);
    }
  }

  void fix_scan(const Op::Scan& scan) {
    for (const Op::Scan::Carried& carried : scan.carried)
      fixed_.insert({carried.state, carried.init, carried.next, carried.final});
    for (const Op& op : scan.ops)
      if (op.scan) fix_scan(*op.scan);
  }

  void find_halos() {
    halos_.resize(program_.tensors.size());
    for (const Op& op : program_.ops) {
      if (!op.is_plain() || op.serial || (!op.reduces() && op.group < 0)) continue;
      IndexFacts facts({op.extents.begin(), op.extents.end()}, {op.steps.begin(), op.steps.end()});
      visit_reads(op, [&](const ScalarNode& node) {
        if (literal_guard(node) && !fixed_.contains(node.tensor)) want_halo(node, facts);
      });
    }
  }

  // Tensors of which contractions read several rows at once.
  void find_factors() {
    for (const Op& op : program_.ops)
      if (op.is_plain() && op.combiner == Combiner::kSum)
        visit(op.body, [&](const ScalarNode& node) {
          if (node.kind == ScalarNode::Kind::kRead) factors_.insert(node.tensor);
        });
  }

  // Rows at a multiple of a page from each other would fall on the same few lines of a cache.
  bool collides(size_t id, int64_t row_elements) {
    const ProgramTensor& info = program_.tensors[id];
    const int64_t bytes = row_elements * static_cast<int64_t>(size_of(info.type));
    return bytes % 4096 == 0 && info.count() >= 8 * row_elements &&
           factors_.contains(static_cast<int>(id)) && !fixed_.contains(static_cast<int>(id));
  }

  void want_halo(const ScalarNode& node, const IndexFacts& facts) {
    const ProgramTensor& info = tensor(node.tensor);
    Halo& halo = halos_[static_cast<size_t>(node.tensor)];
    const Literal& around = node.outside->literal;
    // Zeros come first: sums ask for them.
    if (halo.around && !(*halo.around == around)) {
      if (!around.is_zero()) return;
      halo = {};
    }
    std::vector<int64_t> before(info.dims.size(), 0);
    std::vector<int64_t> after(info.dims.size(), 0);
    double grown = 1;
    double plain = 1;
    for (size_t d = 0; d < info.dims.size(); ++d) {
      const Range range = facts.range(node.indices[d]);
      if (!range.low || !range.high || !range.low->is_const() || !range.high->is_const()) return;
      before[d] = std::max<int64_t>(0, -range.low->value());
      after[d] = std::max<int64_t>(0, range.high->value() - info.dims[d] + 1);
      grown *= static_cast<double>(info.dims[d] + before[d] + after[d]);
      plain *= static_cast<double>(info.dims[d]);
    }
    if (grown > 3 * plain + 65536) return;
    if (halo.before.empty()) {
      halo.before.assign(info.dims.size(), 0);
      halo.after.assign(info.dims.size(), 0);
    }
    halo.around = around;
    for (size_t d = 0; d < info.dims.size(); ++d) {
      halo.before[d] = std::max(halo.before[d], before[d]);
      halo.after[d] = std::max(halo.after[d], after[d]);
    }
  }

  void add_view(size_t id, int innermost) {
    const ProgramTensor& info = program_.tensors[id];
    const Halo& halo = halos_[id];
    View result;
    result.root = static_cast<int>(id);
    result.before = halo.around ? halo.before : std::vector<int64_t>(info.dims.size(), 0);
    result.after = halo.around ? halo.after : std::vector<int64_t>(info.dims.size(), 0);
    result.around = halo.around;
    std::vector<size_t> order;
    for (size_t d = 0; d < info.dims.size(); ++d)
      if (static_cast<int>(d) != innermost) order.push_back(d);
    if (innermost >= 0) order.push_back(static_cast<size_t>(innermost));
    result.strides.assign(info.dims.size(), 1);
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      const size_t d = order[i];
      result.strides[d] = stride;
      result.offset += result.before[d] * stride;
      stride *= std::max<int64_t>(info.dims[d], 1) + result.before[d] + result.after[d];
      if (i + 1 == order.size() && i > 0 && collides(id, stride)) stride += 16;
    }
    storage_.views.push_back(std::move(result));
    storage_.elements.push_back(info.count() == 0 ? 0 : stride);
  }

  bool is_own(int id) { return view(id).root == id && !view(id).around; }

  bool produced_by_copy(int id) {
    for (size_t i = 0; i < program_.ops.size(); ++i)
      if (is_copy(program_.ops[i]) && program_.ops[i].writes[0].tensor == id) return true;
    return false;
  }

  // Flat place of an access as offset and a stride per axis of the op; none if it is not that.
  struct Linear {
    int64_t offset = 0;
    std::vector<int64_t> strides;
  };
  std::optional<Linear> linear(const Op& op, const View& of, const std::vector<Index>& at) {
    IndexFacts facts({op.extents.begin(), op.extents.end()}, {});
    Index flat = of.offset;
    for (size_t d = 0; d < at.size(); ++d) flat = flat + at[d] * Dim(of.strides[d]);
    flat = facts.simplify(flat);
    if (!flat.is_affine() || !flat.offset().is_const()) return std::nullopt;
    Linear result;
    result.offset = flat.offset().value();
    for (size_t axis = 0; axis < op.outputs; ++axis) {
      const Dim c = flat.coefficient(axis_id(axis));
      if (!c.is_const()) return std::nullopt;
      result.strides.push_back(c.value());
    }
    return result;
  }

  // How the dimensions of a tensor, each one axis of the op over its whole extent, lie in memory.
  std::optional<View> as_view(const Op& op, int id, const std::vector<Index>& at,
                              const Linear& place, int root) {
    View result;
    result.root = root;
    result.offset = place.offset;
    const ProgramTensor& info = tensor(id);
    std::set<int> used;
    for (size_t d = 0; d < at.size(); ++d) {
      int64_t stride = 0;
      if (info.dims[d] != 1) {
        const AxisId* axis = at[d].as_axis();
        if (axis == nullptr || axis->value < 0 || !used.insert(axis->value).second ||
            op.extents[static_cast<size_t>(axis->value)] != info.dims[d])
          return std::nullopt;
        stride = place.strides[static_cast<size_t>(axis->value)];
      }
      result.strides.push_back(stride);
    }
    for (size_t axis = 0; axis < op.outputs; ++axis)
      if (op.extents[axis] > 1 && !used.contains(static_cast<int>(axis))) return std::nullopt;
    result.before.assign(at.size(), 0);
    result.after.assign(at.size(), 0);
    return result;
  }

  // The source of a copy is computed where it is copied to.
  void write_in_place(size_t i) {
    const Op& op = program_.ops[i];
    if (!is_copy(op)) return;
    const ScalarNode& read = *op.writes[0].value;
    const int from = read.tensor;
    const int to = op.writes[0].tensor;
    if (tensor(from).type != tensor(to).type) return;
    if (fixed_.contains(from) || !is_own(from) || produced_by_copy(from)) return;
    if (forward(op)) return;
    const auto place = linear(op, view(to), op.writes[0].at);
    if (!place) return;
    const auto moved = as_view(op, from, read.indices, *place, view(to).root);
    if (!moved) return;
    // What was innermost stays so, or vectors of the producer would be torn apart.
    for (size_t d = 0; d < moved->strides.size(); ++d)
      if (tensor(from).dims[d] > 1 && view(from).strides[d] == 1 && moved->strides[d] != 1 &&
          tensor(from).count() > 4096)
        return;
    view(from) = *moved;
    removed_[i] = true;
  }

  std::optional<View> forward(const Op& op) {
    const ScalarNode& read = *op.writes[0].value;
    const int to = op.writes[0].tensor;
    if (fixed_.contains(to) || !is_own(to) || tensor(read.tensor).type != tensor(to).type)
      return std::nullopt;
    if (writers(to) != 1) return std::nullopt;
    const auto place = linear(op, view(read.tensor), read.indices);
    if (!place) return std::nullopt;
    return as_view(op, to, op.writes[0].at, *place, view(read.tensor).root);
  }

  int writers(int id) {
    int count = 0;
    for (const Op& op : program_.ops)
      for (const int written : written_by(op)) count += written == id ? 1 : 0;
    return count;
  }

  // The result of a copy is read where its source lies.
  void read_in_place(size_t i) {
    if (removed_[i] || !is_copy(program_.ops[i])) return;
    const auto seen = forward(program_.ops[i]);
    if (!seen) return;
    view(program_.ops[i].writes[0].tensor) = *seen;
    removed_[i] = true;
  }

  // Drops copies that need not run, and fills what lies around tensors before they are written.
  void finish_ops() {
    std::vector<Op> ops;
    std::set<int> filled;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (removed_[i]) continue;
      for (const int id : written_by(program_.ops[i])) {
        const int root = view(id).root;
        if (view(root).around && filled.insert(root).second) add_fills(root, ops);
      }
      ops.push_back(std::move(program_.ops[i]));
    }
    program_.ops = std::move(ops);
  }

  void add_fills(int id, std::vector<Op>& ops) {
    const ProgramTensor& info = tensor(id);
    const View& of = view(id);
    // Along axis d everything before and after; along earlier axes only the tensor itself.
    for (size_t d = 0; d < info.dims.size(); ++d)
      for (const bool front : {true, false}) {
        const int64_t depth = front ? of.before[d] : of.after[d];
        if (depth == 0) continue;
        Op op;
        op.label = "fill around " + info.name;
        std::vector<Index> at;
        for (size_t k = 0; k < info.dims.size(); ++k) {
          const bool whole = k > d;
          op.extents.push_back(k == d ? depth
                                      : info.dims[k] + (whole ? of.before[k] + of.after[k] : 0));
          const int64_t shift = k == d  ? (front ? -depth : info.dims[k])
                                : whole ? -of.before[k]
                                        : 0;
          at.push_back(Index(axis_id(k)) + Index(shift));
        }
        op.outputs = op.extents.size();
        op.writes.push_back({id, at, Scalar::literal(info.type, *of.around)});
        ops.push_back(std::move(op));
      }
  }

  TensorProgram& program_;
  Storage storage_;
  std::set<int> fixed_, factors_;
  std::vector<Halo> halos_;
  std::vector<bool> removed_;
};

}  // namespace

std::vector<int64_t> row_major(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

Storage choose_storage(TensorProgram& program) { return StorageChooser(program).run(); }

}  // namespace hone
