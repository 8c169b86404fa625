#include "partition/layout.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "lower/nest.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

class LayoutVote {
 public:
  LayoutVote(const TensorProgram& program, const std::set<int>& fixed)
      : program_(program), fixed_(fixed), parent_(program.tensors.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  std::vector<int> run() {
    for (const Op& op : program_.ops)
      if (op.is_plain() && !op.serial) connect(op);
    for (const Op& op : program_.ops)
      if (op.is_plain() && is_contraction(op)) vote(op);
    std::vector<int> result(program_.tensors.size(), -1);
    for (size_t i = 0; i < result.size(); ++i) {
      if (!is_free(static_cast<int>(i))) continue;
      const auto votes = votes_.find(root(static_cast<int>(i)));
      if (votes == votes_.end()) continue;
      const auto best = std::ranges::max_element(votes->second, {},
                                                 [](const auto& entry) { return entry.second; });
      const auto rank = static_cast<int>(program_.tensors[i].dims.size());
      if (best->first < rank - 1) result[i] = best->first;
    }
    return result;
  }

 private:
  static bool is_contraction(const Op& op) {
    return op.combiner == Combiner::kSum && op.body->kind == ScalarNode::Kind::kApply &&
           op.body->fn == Fn::kMul;
  }

  const ProgramTensor& tensor(int id) const { return program_.tensors[static_cast<size_t>(id)]; }

  bool is_free(int id) const {
    return tensor(id).kind == ProgramTensor::Kind::kResult && !fixed_.contains(id);
  }

  int root(int id) {
    while (parent_[static_cast<size_t>(id)] != id) id = parent_[static_cast<size_t>(id)];
    return id;
  }

  void unite(int a, int b) {
    if (!is_free(a) || !is_free(b)) return;
    a = root(a);
    b = root(b);
    if (a != b) parent_[static_cast<size_t>(std::max(a, b))] = std::min(a, b);
  }

  // Tensors whose axes correspond one to one.
  void connect(const Op& op) {
    for (const Op::Write& write : op.writes) {
      const auto match = [&](const ScalarNode& node) {
        if (node.kind != ScalarNode::Kind::kRead || node.tensor < 0) return;
        if (corresponds(op, write, node)) unite(write.tensor, node.tensor);
      };
      visit(write.value, match);
      if (op.reduces() && !is_contraction(op)) visit(op.body, match);
    }
  }

  bool corresponds(const Op& op, const Op::Write& write, const ScalarNode& node) const {
    if (node.indices.size() != write.at.size() || write.at.size() < 3) return false;
    for (size_t d = 0; d < write.at.size(); ++d) {
      if (tensor(node.tensor).dims[d] == 1 || tensor(write.tensor).dims[d] == 1) continue;
      for (size_t axis = 0; axis < op.outputs; ++axis)
        if (op.extents[axis] > 1 &&
            write.at[d].mentions(axis_id(axis)) != node.indices[d].mentions(axis_id(axis)))
          return false;
    }
    return true;
  }

  void add_vote(int id, size_t dim, double weight) {
    if (is_free(id)) votes_[root(id)][static_cast<int>(dim)] += weight;
  }

  // The dimension of a read in which an axis stands with coefficient 1.
  static std::optional<size_t> dim_of(const std::vector<Index>& at, AxisId axis) {
    for (size_t d = 0; d < at.size(); ++d)
      if (at[d].coefficient(axis).is(1)) return d;
    return std::nullopt;
  }

  void vote(const Op& op) {
    double weight = 1;
    for (const int64_t extent : op.extents) weight *= static_cast<double>(extent);
    std::vector<const ScalarNode*> reads;
    visit(op.body, [&](const ScalarNode& node) {
      if (node.kind == ScalarNode::Kind::kRead) reads.push_back(&node);
    });
    const auto constant = [&](const ScalarNode* read) {
      return tensor(read->tensor).kind == ProgramTensor::Kind::kConstant;
    };
    const auto weights = std::ranges::find_if(reads, constant);
    if (weights == reads.end()) return;
    // Lanes: the longest output axis that the weights have.
    size_t lanes = op.outputs;
    for (size_t axis = 0; axis < op.outputs; ++axis)
      if (mentions(**weights, axis_id(axis)) &&
          (lanes == op.outputs || op.extents[axis] > op.extents[lanes]))
        lanes = axis;
    if (lanes == op.outputs) return;
    // A short sum does not pay for a result in another order than the caller's.
    const Op::Write& first = op.writes[0];
    if (reduction_points(op) < 64 && !is_free(first.tensor) && !first.at.empty())
      if (const AxisId* last = first.at.back().as_axis(); last != nullptr && last->value >= 0)
        lanes = static_cast<size_t>(last->value);
    for (const Op::Write& write : op.writes)
      if (const auto d = dim_of(write.at, axis_id(lanes))) add_vote(write.tensor, *d, weight);
    for (const ScalarNode* read : reads) {
      if (constant(read)) continue;
      if (const auto d = dim_of(read->indices, axis_id(lanes))) {
        add_vote(read->tensor, *d, weight);
        continue;
      }
      if (const auto d = inner_dim(op, *read, **weights)) add_vote(read->tensor, *d, weight);
    }
  }

  static int64_t reduction_points(const Op& op) {
    int64_t points = 1;
    for (size_t axis = op.outputs; axis < op.extents.size(); ++axis) points *= op.extents[axis];
    return points;
  }

  // The dimension that the longest reduction axis walks through alone.
  std::optional<size_t> inner_dim(const Op& op, const ScalarNode& read,
                                  const ScalarNode& weights) const {
    std::optional<size_t> best;
    int64_t longest = 0;
    for (size_t axis = op.outputs; axis < op.extents.size(); ++axis) {
      if (!mentions(weights, axis_id(axis)) || op.extents[axis] <= longest) continue;
      const auto d = dim_of(read.indices, axis_id(axis));
      if (!d) continue;
      bool windowed = false;
      for (size_t o = 0; o < op.outputs; ++o)
        windowed = windowed || !read.indices[*d].coefficient(axis_id(o)).is(0);
      if (windowed) continue;
      longest = op.extents[axis];
      best = d;
    }
    return best;
  }

  static bool mentions(const ScalarNode& read, AxisId axis) {
    return std::ranges::any_of(read.indices,
                               [&](const Index& index) { return index.mentions(axis); });
  }

  const TensorProgram& program_;
  const std::set<int>& fixed_;
  std::vector<int> parent_;
  std::map<int, std::map<int, double>> votes_;
};

}  // namespace

std::vector<int> innermost_axes(const TensorProgram& program, const std::set<int>& fixed) {
  return LayoutVote(program, fixed).run();
}

}  // namespace hone
