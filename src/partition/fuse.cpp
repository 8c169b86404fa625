#include "partition/fuse.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lower/nest.h"
#include "lower/rewrite.h"
#include "partition/pieces.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

int64_t points_of(const Op& op) {
  return std::accumulate(op.extents.begin(), op.extents.end(), int64_t{1}, std::multiplies<>());
}

double cost_of(const Scalar& scalar) {
  double flops = 0;
  visit(scalar, [&](const ScalarNode& node) {
    if (node.kind == ScalarNode::Kind::kApply) flops += info_of(node.fn).flops;
  });
  return flops;
}

int size_of_scalar(const Scalar& scalar) {
  int nodes = 0;
  visit(scalar, [&](const ScalarNode&) { ++nodes; });
  return nodes;
}

bool is_identity(const std::vector<Index>& at, size_t outputs) {
  if (at.size() != outputs) return false;
  for (size_t i = 0; i < at.size(); ++i) {
    const AxisId* axis = at[i].as_axis();
    if (axis == nullptr || axis->value != static_cast<int>(i)) return false;
  }
  return true;
}

// result[i..] = value, and nothing else.
bool is_map(const Op& op) {
  return op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
         !op.writes[0].condition.valid() && is_identity(op.writes[0].at, op.outputs);
}

bool is_view(const Op& op) {
  return is_map(op) && op.writes[0].value->kind == ScalarNode::Kind::kRead &&
         !op.writes[0].value->outside;
}

class Fuser {
 public:
  Fuser(TensorProgram& program, std::vector<Op>& ops, std::set<int> pinned)
      : program_(program), ops_(ops), pinned_(std::move(pinned)) {}

  void run() {
    for (Op& op : ops_) simplify(op, program_);
    fold_constants();
    for (int round = 0; round < 4; ++round) {
      bool changed = inline_maps();
      changed = fuse_epilogues() || changed;
      if (!changed) break;
    }
    share_expensive();
    for (Op& op : ops_) {
      extract_constants(op);
      simplify(op, program_);
    }
    remove_dead();
  }

 private:
  ProgramTensor& tensor(int id) { return program_.tensors[static_cast<size_t>(id)]; }
  bool is_constant(int id) { return tensor(id).kind == ProgramTensor::Kind::kConstant; }

  // Ops that read a tensor, by place in the list; one entry an op.
  std::vector<std::vector<size_t>> readers() {
    std::vector<std::vector<size_t>> result(program_.tensors.size());
    for (size_t i = 0; i < ops_.size(); ++i)
      for (const int id : read_by(ops_[i])) result[static_cast<size_t>(id)].push_back(i);
    return result;
  }

  bool is_pinned(int id) { return tensor(id).is_output || pinned_.contains(id); }

  // --- constants

  void fold_constants() {
    std::vector<Op> kept;
    for (Op& op : ops_) {
      if (!fold(op)) kept.push_back(std::move(op));
    }
    ops_ = std::move(kept);
  }

  bool fold(const Op& op) {
    if (!op.is_plain() || op.serial || op.writes.size() != 1 || !op.steps.empty()) return false;
    const int result = op.writes[0].tensor;
    if (is_pinned(result) || !is_identity(op.writes[0].at, op.outputs)) return false;
    const std::vector<int> reads = read_by(op);
    int64_t bytes = 0;
    for (const int id : reads) {
      if (!is_constant(id) || tensor(id).type == ElementType::kString) return false;
      bytes += tensor(id).count() * 4;
    }
    if (tensor(result).count() * 4 > std::max<int64_t>(bytes * 2, 1 << 20)) return false;
    Result<Buffer> value = evaluate(program_, op);
    if (!value) return false;
    tensor(result).kind = ProgramTensor::Kind::kConstant;
    tensor(result).constant = *std::move(value);
    return true;
  }

  // Parts of a value that depend only on constants, computed now: over the axes they mention.
  void extract_constants(Op& op) {
    if (!op.is_plain() || op.serial) return;
    const int64_t points = points_of(op);
    Rewriter rewrite([&](const Scalar& scalar) { return extracted(op, scalar, points); });
    map_scalars(op, [&](const Scalar& scalar) { return rewrite(scalar); });
  }

  Scalar extracted(const Op& op, const Scalar& scalar, int64_t points) {
    if (scalar->kind != ScalarNode::Kind::kApply) return {};
    bool constant = true;
    int reads = 0;
    std::set<int> axes;
    const auto note_axes = [&](const Index& index) {
      for (int axis = -4; axis < static_cast<int>(op.extents.size()); ++axis)
        if (index.mentions(AxisId{axis})) axes.insert(axis);
    };
    visit(scalar, [&](const ScalarNode& node) {
      note_axes(node.index);
      for (const Index& index : node.indices) note_axes(index);
      if (node.kind != ScalarNode::Kind::kRead) return;
      ++reads;
      constant = constant && node.tensor >= 0 && is_constant(node.tensor) && !node.outside;
    });
    if (!constant || reads == 0 || (!axes.empty() && *axes.begin() < 0)) return {};
    int64_t elements = 1;
    for (const int axis : axes) elements *= op.extents[static_cast<size_t>(axis)];
    if (elements * 8 > points || elements > (1 << 20)) return {};
    return precomputed(op, scalar, {axes.begin(), axes.end()});
  }

  Scalar precomputed(const Op& op, const Scalar& scalar, const std::vector<int>& axes) {
    Op part;
    Substitution how;
    how.axis = [&](AxisId axis) {
      const auto at = std::ranges::find(axes, axis.value);
      return Index(axis_id(static_cast<size_t>(at - axes.begin())));
    };
    std::vector<Index> identity;
    std::vector<Index> indices;
    for (size_t i = 0; i < axes.size(); ++i) {
      part.extents.push_back(op.extents[static_cast<size_t>(axes[i])]);
      identity.emplace_back(axis_id(i));
      indices.emplace_back(AxisId{axes[i]});
    }
    part.outputs = axes.size();
    part.writes.push_back({-1, identity, substitute(scalar, how)});
    Result<Buffer> value = evaluate(program_, part);
    if (!value) return {};
    ProgramTensor constant;
    constant.kind = ProgramTensor::Kind::kConstant;
    constant.name = "folded";
    constant.type = scalar.type();
    constant.dims = part.extents;
    constant.constant = *std::move(value);
    program_.tensors.push_back(std::move(constant));
    return Scalar::read(scalar.type(), static_cast<int>(program_.tensors.size()) - 1,
                        std::move(indices));
  }

  // --- maps into their readers

  bool inline_maps() {
    bool changed = false;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!is_map(ops_[i])) continue;
      const int result = ops_[i].writes[0].tensor;
      if (is_pinned(result)) continue;
      const std::vector<size_t> users = readers()[static_cast<size_t>(result)];
      if (users.empty()) continue;
      if (!std::ranges::all_of(
              users, [&](size_t user) { return may_inline(ops_[i], ops_[user], users.size()); }))
        continue;
      for (const size_t user : users) inline_into(ops_[i], ops_[user]);
      ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
      changed = true;
    }
    return changed;
  }

  bool may_inline(const Op& map, const Op& user, size_t users) {
    if (!user.is_plain() || user.serial) return false;
    if (map.steps.size() > user.steps.size()) return false;
    const int result = map.writes[0].tensor;
    const Scalar& value = map.writes[0].value;
    bool guarded = false;
    int places = 0;
    visit_reads(user, [&](const ScalarNode& node) {
      if (node.tensor != result) return;
      ++places;
      guarded = guarded || node.outside != nullptr;
    });
    if (guarded) return false;
    // Views stay what they are: they cost nothing where they become strides.
    if (is_view(map) || is_view(user)) return is_view(map) && is_view(user);
    // Choices by position are taken apart later: their parts are written in place.
    if (chooses_by_position(value)) return false;
    for (const Op::Write& write : user.writes)
      if (chooses_by_position(write.value)) return false;
    const double cost = cost_of(value);
    const bool in_body = read_in_body(user, result);
    const int64_t reads = (in_body ? points_of(user) : outputs_of(user)) * places;
    const int64_t elements = tensor(result).count();
    if (size_of_scalar(value) > 120) return false;
    if (in_body && user.reduces() && is_contraction(user)) return false;
    if (in_body && reads > elements) return false;
    if (users > 1) return cost <= 1 && reads <= elements && places == 1;
    return reads <= elements * (cost <= 2 ? 64 : 2);
  }

  static int64_t outputs_of(const Op& op) {
    int64_t points = 1;
    for (size_t i = 0; i < op.outputs; ++i) points *= op.extents[i];
    return points;
  }

  static bool read_in_body(const Op& op, int id) {
    bool found = false;
    if (op.body.valid())
      visit(op.body, [&](const ScalarNode& node) {
        found = found || (node.kind == ScalarNode::Kind::kRead && node.tensor == id);
      });
    return found;
  }

  static bool is_contraction(const Op& op) {
    return op.combiner == Combiner::kSum && op.body->kind == ScalarNode::Kind::kApply &&
           op.body->fn == Fn::kMul;
  }

  void inline_into(const Op& map, Op& user) {
    const int result = map.writes[0].tensor;
    Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
      if (scalar->kind != ScalarNode::Kind::kRead || scalar->tensor != result) return {};
      Substitution how;
      how.axis = [&](AxisId axis) {
        return axis.value < 0 ? Index(axis) : scalar->indices[static_cast<size_t>(axis.value)];
      };
      return substitute(map.writes[0].value, how);
    });
    map_scalars(user, [&](const Scalar& scalar) { return rewrite(scalar); });
    join_labels(map, user);
    simplify(user, program_);
  }

  static void join_labels(const Op& from, Op& to) {
    if (from.label.find(to.label) != std::string::npos)
      to.label = from.label;
    else if (to.label.find(from.label) == std::string::npos)
      to.label = from.label + " + " + to.label;
  }

  // --- maps after a reduction, into it

  bool fuse_epilogues() {
    bool changed = false;
    for (size_t e = 0; e < ops_.size(); ++e) {
      if (!is_map(ops_[e])) continue;
      // The latest of the reductions that it reads.
      const std::vector<std::vector<size_t>> users = readers();
      for (size_t r = e; r-- > 0;) {
        if (!may_extend(ops_[r], ops_[e], users)) continue;
        extend(r, e);
        --e;
        changed = true;
        break;
      }
    }
    return changed;
  }

  bool may_extend(const Op& reduction, const Op& map,
                  const std::vector<std::vector<size_t>>& users) {
    if (!reduction.is_plain() || !reduction.reduces() || reduction.writes.size() != 1 ||
        reduction.steps != map.steps)
      return false;
    const Op::Write& write = reduction.writes[0];
    if (is_pinned(write.tensor) || users[static_cast<size_t>(write.tensor)].size() != 1)
      return false;
    const std::vector<int> reads = read_by(map);
    if (std::ranges::find(reads, write.tensor) == reads.end()) return false;
    if (size_of_scalar(write.value) + size_of_scalar(map.writes[0].value) > 150) return false;
    return !axes_between(reduction, map).empty() || map.outputs == 0;
  }

  // For each axis of the map, what it is in the reduction; empty where they do not correspond.
  std::vector<Index> axes_between(const Op& reduction, const Op& map) {
    const Op::Write& write = reduction.writes[0];
    std::vector<Index> axes(map.outputs, Index(0));
    std::vector<bool> found(map.outputs, false);
    bool first = true;
    bool same = true;
    std::vector<Index> at;
    visit_reads(map, [&](const ScalarNode& node) {
      if (node.tensor != write.tensor) return;
      if (node.outside) same = false;
      if (first)
        at = node.indices;
      else
        same = same && std::ranges::equal(at, node.indices);
      first = false;
    });
    if (!same) return {};
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t extent = tensor(write.tensor).dims[d];
      const AxisId* outer = write.at[d].as_axis();
      const AxisId* axis = at[d].as_axis();
      if (axis == nullptr || axis->value < 0) {
        if (extent == 1) continue;
        return {};
      }
      const auto number = static_cast<size_t>(axis->value);
      if (found[number] || map.extents[number] != extent) return {};
      if (outer == nullptr) return {};
      axes[number] = *outer;
      found[number] = true;
    }
    for (size_t i = 0; i < map.outputs; ++i)
      if (!found[i] && map.extents[i] != 1) return {};
    return axes;
  }

  void extend(size_t r, size_t e) {
    Op joined = std::move(ops_[r]);
    Op& map = ops_[e];
    const Op::Write inner = joined.writes[0];
    const std::vector<Index> axes = axes_between(joined, map);
    Substitution how;
    how.axis = [&](AxisId axis) {
      return axis.value < 0 ? Index(axis) : axes[static_cast<size_t>(axis.value)];
    };
    Op::Write write = map.writes[0];
    Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
      const bool read = scalar->kind == ScalarNode::Kind::kRead && scalar->tensor == inner.tensor;
      return read ? inner.value : Scalar();
    });
    // First the map's own axes, then what it reads of the reduction.
    write.value = rewrite(substitute(write.value, how));
    for (Index& index : write.at) index = substitute(index, how);
    joined.writes = {std::move(write)};
    if (joined.label != map.label) join_labels_after(map, joined);
    simplify(joined, program_);
    ops_[e] = std::move(joined);
    ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(r));
  }

  static void join_labels_after(const Op& from, Op& to) {
    if (to.label.find(from.label) == std::string::npos) to.label += " + " + from.label;
  }

  // --- what a reduction and a map after it both compute at a price, such as the exponentials of
  // a softmax: computed once

  void share_expensive() {
    for (size_t r = 0; r < ops_.size(); ++r) {
      if (!ops_[r].is_plain() || !ops_[r].reduces() ||
          ops_[r].extents.size() != ops_[r].outputs + 1)
        continue;
      for (size_t m = r + 1; m < ops_.size() && m < r + 16; ++m)
        if (is_map(ops_[m]) && share(r, m)) break;
    }
  }

  bool share(size_t r, size_t m) {
    const Op& reduction = ops_[r];
    const Op& map = ops_[m];
    const std::vector<int> reads = read_by(map);
    if (std::ranges::find(reads, reduction.writes[0].tensor) == reads.end()) return false;
    if (reduction.writes.size() != 1 || reduction.steps != map.steps) return false;
    const std::optional<std::vector<Index>> axes = axes_in_map(reduction, map);
    if (!axes) return false;
    Substitution how;
    how.axis = [&](AxisId axis) {
      return axis.value < 0 ? Index(axis) : (*axes)[static_cast<size_t>(axis.value)];
    };
    // The largest expensive part of the body that the map has too.
    Scalar part;
    visit(reduction.body, [&](const ScalarNode& node) {
      if (part.valid() || node.kind != ScalarNode::Kind::kApply || info_of(node.fn).flops < 4)
        return;
      const Scalar candidate(find_node(reduction.body, &node));
      const Scalar wanted = substitute(candidate, how);
      visit(map.writes[0].value, [&](const ScalarNode& other) {
        if (!part.valid() && other.kind == ScalarNode::Kind::kApply && other.fn == node.fn &&
            Scalar(find_node(map.writes[0].value, &other)) == wanted)
          part = candidate;
      });
    });
    if (!part.valid()) return false;
    insert_shared(r, m, part, substitute(part, how), *axes);
    return true;
  }

  static std::shared_ptr<const ScalarNode> find_node(const Scalar& in, const ScalarNode* wanted) {
    if (&*in == wanted) return in.node();
    for (const Scalar& arg : in->args)
      if (auto found = find_node(arg, wanted)) return found;
    return nullptr;
  }

  // Axes of the reduction in terms of the map's: outputs by the map's read of the result, the
  // reduction axis is the map's remaining one.
  std::optional<std::vector<Index>> axes_in_map(const Op& reduction, const Op& map) {
    std::vector<Index> at;
    visit_reads(map, [&](const ScalarNode& node) {
      if (node.tensor == reduction.writes[0].tensor) at = node.indices;
    });
    const std::vector<Index>& write = reduction.writes[0].at;
    std::vector<Index> axes(reduction.extents.size(), Index(0));
    std::vector<bool> used(map.outputs, false);
    for (size_t d = 0; d < write.size(); ++d) {
      const AxisId* inner = write[d].as_axis();
      const AxisId* outer = at[d].as_axis();
      if (inner == nullptr) continue;
      if (outer == nullptr) {
        if (reduction.extents[static_cast<size_t>(inner->value)] != 1) return std::nullopt;
        continue;
      }
      axes[static_cast<size_t>(inner->value)] = *outer;
      used[static_cast<size_t>(outer->value)] = true;
    }
    std::optional<size_t> rest;
    for (size_t axis = 0; axis < map.outputs; ++axis) {
      if (used[axis] || map.extents[axis] == 1) continue;
      if (rest) return std::nullopt;
      rest = axis;
    }
    if (!rest || map.extents[*rest] != reduction.extents.back()) return std::nullopt;
    axes.back() = axis_id(*rest);
    return axes;
  }

  void insert_shared(size_t r, size_t m, const Scalar& in_body, const Scalar& in_map,
                     const std::vector<Index>& axes) {
    const Op& map = ops_[m];
    Op shared;
    shared.label = map.label;
    shared.extents = map.extents;
    shared.outputs = map.outputs;
    shared.steps = map.steps;
    ProgramTensor info;
    info.name = "shared";
    info.type = in_map.type();
    info.dims = map.extents;
    const auto id = static_cast<int>(program_.tensors.size());
    program_.tensors.push_back(std::move(info));
    std::vector<Index> at;
    for (size_t i = 0; i < map.outputs; ++i) at.emplace_back(axis_id(i));
    shared.writes.push_back({id, at, in_map});
    // Where the reduction reads it: the map's axes in terms of its own.
    std::vector<Index> from(map.outputs, Index(0));
    for (size_t i = 0; i < axes.size(); ++i)
      if (const AxisId* axis = axes[i].as_axis())
        from[static_cast<size_t>(axis->value)] = axis_id(i);
    const auto replace = [&](const Scalar& part, const Scalar& by) {
      return Rewriter([&](const Scalar& scalar) { return scalar == part ? by : Scalar(); });
    };
    ops_[m].writes[0].value =
        replace(in_map, Scalar::read(in_map.type(), id, at))(ops_[m].writes[0].value);
    ops_[r].body = replace(in_body, Scalar::read(in_map.type(), id, from))(ops_[r].body);
    ops_.insert(ops_.begin() + static_cast<std::ptrdiff_t>(r), std::move(shared));
  }

  void remove_dead() {
    std::set<int> needed = pinned_;
    for (size_t i = 0; i < program_.tensors.size(); ++i)
      if (program_.tensors[i].is_output) needed.insert(static_cast<int>(i));
    std::vector<Op> kept;
    for (size_t i = ops_.size(); i-- > 0;) {
      const std::vector<int> written = written_by(ops_[i]);
      if (std::ranges::none_of(written, [&](int id) { return needed.contains(id); })) continue;
      for (const int id : read_by(ops_[i])) needed.insert(id);
      kept.push_back(std::move(ops_[i]));
    }
    std::ranges::reverse(kept);
    ops_ = std::move(kept);
  }

  TensorProgram& program_;
  std::vector<Op>& ops_;
  std::set<int> pinned_;
};

// Tensors that a scan passes from step to step or reads from around it.
void fuse_scans(TensorProgram& program, std::vector<Op>& ops) {
  for (Op& op : ops) {
    if (!op.scan) continue;
    std::set<int> pinned;
    for (const Op::Scan::Carried& carried : op.scan->carried)
      pinned.insert({carried.next, carried.final, carried.state, carried.init});
    for (const Op& inner : op.scan->ops)
      for (const Op::Write& write : inner.writes) {
        // What other ops read later.
        for (const Op& other : ops)
          if (&other != &op) {
            const std::vector<int> reads = read_by(other);
            if (std::ranges::find(reads, write.tensor) != reads.end()) pinned.insert(write.tensor);
          }
        if (program.tensors[static_cast<size_t>(write.tensor)].is_output)
          pinned.insert(write.tensor);
      }
    Fuser(program, op.scan->ops, pinned).run();
    fuse_scans(program, op.scan->ops);
  }
}

}  // namespace

Result<void> fuse(TensorProgram& program) {
  Fuser(program, program.ops, {}).run();
  fuse_scans(program, program.ops);
  return {};
}

}  // namespace hone
