#include "expr/vm/regions.h"

#include <algorithm>
#include <unordered_set>

namespace hone::vm {
namespace {

class RegionFinder {
 public:
  explicit RegionFinder(const TensorExpr& expr) : expr_(expr), needs_(expr.tensors.size()) {}

  std::vector<std::optional<Region>> find(int output, const Region& box) {
    needs_[at(output)] = box;
    for (auto stage = expr_.stages.rbegin(); stage != expr_.stages.rend(); ++stage) visit(*stage);
    return std::move(needs_);
  }

 private:
  static size_t at(int tensor) { return static_cast<size_t>(tensor); }

  void visit(const Stage& stage) {
    if (stage.kind == Stage::Kind::kMap) {
      if (needs_[at(stage.result)]) read_region(stage, *needs_[at(stage.result)]);
    } else if (is_needed(stage)) {
      read_whole(stage);
    }
  }

  [[nodiscard]] bool is_needed(const Stage& stage) const {
    if (stage.kind == Stage::Kind::kScatter) return needs_[at(stage.result)].has_value();
    const auto needs = [&](int tensor) { return needs_[at(tensor)].has_value(); };
    return std::any_of(stage.carried.begin(), stage.carried.end(),
                       [&](const auto& c) { return needs(c.final); }) ||
           std::any_of(stage.collected.begin(), stage.collected.end(),
                       [&](const auto& c) { return needs(c.result); });
  }

  void need_whole(int tensor) { needs_[at(tensor)] = whole_region(expr_.tensors[at(tensor)]); }

  void read_whole(const Stage& stage) {
    ranges_.reset();
    if (stage.result >= 0) need_whole(stage.result);
    if (stage.body.valid()) visit(stage.body);
    if (stage.update.valid()) visit(stage.update);
    for (const Index& index : stage.target) visit(index);
    for (const auto& c : stage.carried)
      for (const int tensor : {c.state, c.init, c.next, c.final}) need_whole(tensor);
    for (const auto& c : stage.collected)
      for (const int tensor : {c.source, c.result}) need_whole(tensor);
    for (const Stage& inner : stage.inner) read_whole(inner);
  }

  void read_region(const Stage& stage, const Region& region) {
    ranges_.emplace(AxisRanges{expr_, 0, {}, {}});
    for (size_t d = 0; d < region.begin.size(); ++d)
      ranges_->axes.push_back({region.begin[d], region.end[d] - 1});
    for (const Axis& axis : stage.reduce) ranges_->axes.push_back({0, number(axis.extent) - 1});
    visited_.clear();
    visit(stage.body);
  }

  void visit(const Scalar& scalar) {
    if (ranges_ && !visited_.insert(scalar.node().get()).second) return;
    for (const Scalar& arg : scalar->args) visit(arg);
    visit(scalar->index);
    for (const Index& index : scalar->indices) visit(index);
    if (scalar->outside) visit(Scalar(scalar->outside));
    if (scalar->kind == ScalarNode::Kind::kRead) need(*scalar);
  }

  void visit(const Index& index) {
    for (const IndexTerm& term : index.terms()) {
      visit(term.atom->left);
      visit(term.atom->right);
      if (term.atom->read) visit(Scalar(term.atom->read));
    }
  }

  void need(const ScalarNode& read) {
    const Region whole = whole_region(expr_.tensors[at(read.tensor)]);
    Region part = whole;
    for (size_t d = 0; d < read.indices.size() && ranges_; ++d) {
      const auto range = range_of(read.indices[d], *ranges_);
      if (!range) continue;
      part.begin[d] = std::clamp<int64_t>(range->low, 0, whole.end[d]);
      part.end[d] = std::max(part.begin[d], std::min(range->high, whole.end[d] - 1) + 1);
    }
    std::optional<Region>& known = needs_[at(read.tensor)];
    if (!known) {
      known = part;
      return;
    }
    for (size_t d = 0; d < part.begin.size(); ++d) {
      known->begin[d] = std::min(known->begin[d], part.begin[d]);
      known->end[d] = std::max(known->end[d], part.end[d]);
    }
  }

  const TensorExpr& expr_;
  std::vector<std::optional<Region>> needs_;
  std::optional<AxisRanges> ranges_;  // none: everything is read whole
  std::unordered_set<const ScalarNode*> visited_;
};

}  // namespace

std::vector<std::optional<Region>> regions_for(const TensorExpr& expr, int output,
                                               const Region& box) {
  return RegionFinder(expr).find(output, box);
}

Region whole_region(const TensorDecl& tensor) {
  Region region;
  region.end = numbers(tensor.shape);
  region.begin.assign(region.end.size(), 0);
  return region;
}

}  // namespace hone::vm
