#include <algorithm>
#include <unordered_set>

#include "expr/analysis.h"

namespace hone {
namespace {

class AccessCollector {
 public:
  explicit AccessCollector(const Stage& stage)
      : axis_count_(static_cast<int>(stage.axes.size() + stage.reduce.size())),
        output_count_(static_cast<int>(stage.axes.size())) {
    if (stage.body.valid()) visit(*stage.body);
    for (const Index& index : stage.target) visit(index);
    if (stage.update.valid()) visit(*stage.update);
  }

  std::vector<TensorAccess> take() { return std::move(accesses_); }

 private:
  void visit(const Index& index) {
    for (const IndexTerm& term : index.terms()) {
      if (term.atom->read) visit(*term.atom->read);
      visit(term.atom->left);
      visit(term.atom->right);
    }
  }

  void visit(const ScalarNode& node) {
    if (!seen_.insert(&node).second) return;
    if (node.kind == ScalarNode::Kind::kRead) add(node);
    visit(node.index);
    for (const Index& index : node.indices) visit(index);
    if (node.outside) visit(*node.outside);
    for (const Scalar& arg : node.args) visit(*arg);
  }

  void add(const ScalarNode& node) {
    const bool guarded = node.outside != nullptr;
    const bool known = std::ranges::any_of(accesses_, [&](const TensorAccess& other) {
      return other.tensor == node.tensor && other.guarded == guarded &&
             other.indices == node.indices;
    });
    if (known) return;
    TensorAccess access{node.tensor, node.indices, guarded, {}};
    for (int axis = 0; axis < axis_count_; ++axis)
      access.roles.push_back(role_of({axis}, node.indices));
    accesses_.push_back(std::move(access));
  }

  [[nodiscard]] AxisRole role_of(AxisId axis, const std::vector<Index>& indices) const {
    int uses = 0;
    bool shared = false;
    for (const Index& index : indices) {
      if (!index.mentions(axis)) continue;
      ++uses;
      // Mentioned other than as a term of its own: inside another atom.
      for (const IndexTerm& term : index.terms()) {
        if (term.atom->kind == IndexAtom::Kind::kAxis) {
          shared = shared || term.atom->axis != axis;
        } else if (contains(*term.atom, axis)) {
          return AxisRole::kIrregular;
        } else {
          shared = true;
        }
      }
    }
    if (uses == 0) return AxisRole::kAbsent;
    if (uses > 1) return AxisRole::kIrregular;
    if (shared) return AxisRole::kWindowed;
    return axis.value < output_count_ ? AxisRole::kSpatial : AxisRole::kReduced;
  }

  static bool contains(const IndexAtom& atom, AxisId axis) {
    return atom.left.mentions(axis) || atom.right.mentions(axis) ||
           (atom.read && Index::value(Scalar(atom.read)).mentions(axis));
  }

  int axis_count_, output_count_;
  std::vector<TensorAccess> accesses_;
  std::unordered_set<const ScalarNode*> seen_;
};

// 1 + sum of |coefficient| * (tile - 1), when it is known.
std::optional<Dim> affine_extent(const Index& index, const std::vector<Dim>& tile) {
  if (!index.is_affine()) return std::nullopt;
  Dim extent = 1;
  for (const IndexTerm& term : index.terms()) {
    const int axis = term.atom->axis.value;
    if (axis < 0) continue;  // a scan's step is one point
    if (axis >= static_cast<int>(tile.size())) return std::nullopt;
    const Dim reach = tile[static_cast<size_t>(axis)] - 1;
    if (is_nonnegative(term.coefficient)) {
      extent += term.coefficient * reach;
    } else if (is_nonnegative(-term.coefficient)) {
      extent -= term.coefficient * reach;
    } else {
      return std::nullopt;
    }
  }
  return extent;
}

}  // namespace

std::vector<TensorAccess> accesses_of(const Stage& stage) {
  if (stage.kind == Stage::Kind::kScan) return {};
  return AccessCollector(stage).take();
}

std::vector<Dim> footprint(const TensorAccess& access, const TensorDecl& tensor,
                           const std::vector<Dim>& tile) {
  std::vector<Dim> box;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    const Dim& whole = tensor.shape[i];
    const auto extent = affine_extent(access.indices[i], tile);
    // Windows may hang over the edge; the tensor has no more than its extent.
    box.push_back(!extent || is_at_least(*extent, whole) ? whole : *extent);
  }
  return box;
}

}  // namespace hone
