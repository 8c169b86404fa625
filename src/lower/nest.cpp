#include "lower/nest.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "expr/index_facts.h"
#include "expr/text.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

void visit_index(const Index& index, const std::function<void(const IndexAtom&)>& f) {
  for (const IndexTerm& term : index.terms()) {
    f(*term.atom);
    visit_index(term.atom->left, f);
    visit_index(term.atom->right, f);
  }
}

void visit_scalar(const Scalar& scalar, std::set<const ScalarNode*>& seen,
                  const std::function<void(const ScalarNode&)>& f) {
  if (!scalar.valid() || !seen.insert(&*scalar).second) return;
  f(*scalar);
  const auto inner = [&](const Index& index) {
    visit_index(index, [&](const IndexAtom& atom) {
      if (atom.read) visit_scalar(Scalar(atom.read), seen, f);
    });
  };
  inner(scalar->index);
  for (const Index& index : scalar->indices) inner(index);
  if (scalar->outside) visit_scalar(Scalar(scalar->outside), seen, f);
  for (const Scalar& arg : scalar->args) visit_scalar(arg, seen, f);
}

// All indices that occur anywhere in the nest.
std::vector<Index> indices_of(const Nest& nest) {
  std::vector<Index> all;
  std::set<const ScalarNode*> seen;
  const auto add = [&](const ScalarNode& node) {
    for (const Index& index : node.indices) all.push_back(index);
    if (node.kind == ScalarNode::Kind::kIndex || node.kind == ScalarNode::Kind::kTable)
      all.push_back(node.index);
  };
  visit_scalar(nest.body, seen, add);
  for (const Nest::Store& store : nest.stores) {
    all.push_back(store.at);
    visit_scalar(store.value, seen, add);
    visit_scalar(store.condition, seen, add);
    visit_scalar(store.inner, seen, add);
  }
  return all;
}

AxisChange identity(const Nest& nest) {
  AxisChange change{nest.extents, nest.outputs, {}};
  for (size_t i = 0; i < nest.extents.size(); ++i) change.old_axes.emplace_back(axis_id(i));
  return change;
}

}  // namespace

int64_t Nest::points() const {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

std::vector<Dim> Nest::dims() const { return {extents.begin(), extents.end()}; }

Nest simplify(const Nest& nest) {
  Nest result = nest;
  IndexFacts facts(nest.dims(), {nest.steps.begin(), nest.steps.end()});
  if (result.body.valid()) result.body = facts.simplify(result.body, nullptr);
  for (Nest::Store& store : result.stores) {
    store.at = facts.simplify(store.at);
    store.value = facts.simplify(store.value, nullptr);
    if (store.condition.valid()) store.condition = facts.simplify(store.condition, nullptr);
    if (store.inner.valid()) store.inner = facts.simplify(store.inner, nullptr);
  }
  return result;
}

Nest change_axes(const Nest& nest, const AxisChange& change) {
  HONE_CHECK(change.old_axes.size() == nest.extents.size(), "every axis is replaced");
  Nest result = nest;
  result.extents = change.extents;
  result.outputs = change.outputs;
  Substitution how;
  how.axis = [&](AxisId axis) {
    return axis.value < 0 ? Index(axis) : change.old_axes[static_cast<size_t>(axis.value)];
  };
  if (result.body.valid()) result.body = substitute(result.body, how);
  for (Nest::Store& store : result.stores) {
    store.at = substitute(store.at, how);
    store.value = substitute(store.value, how);
    if (store.condition.valid()) store.condition = substitute(store.condition, how);
    if (store.inner.valid()) store.inner = substitute(store.inner, how);
  }
  return simplify(result);
}

Nest drop_unit_axes(const Nest& nest, size_t keep_first) {
  AxisChange change;
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    if (nest.extents[i] == 1 && i >= keep_first) {
      change.old_axes.emplace_back(0);
      continue;
    }
    change.old_axes.emplace_back(axis_id(change.extents.size()));
    change.extents.push_back(nest.extents[i]);
    if (i < nest.outputs) ++change.outputs;
  }
  return change.extents.size() == nest.extents.size() ? nest : change_axes(nest, change);
}

Nest split_axis(const Nest& nest, size_t axis, int64_t inner) {
  HONE_CHECK(nest.extents[axis] % inner == 0, "the inner extent divides the axis");
  AxisChange change;
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    const AxisId here = axis_id(change.extents.size());
    const size_t parts = i == axis ? 2 : 1;
    if (i < nest.outputs) change.outputs += parts;
    if (i == axis) {
      change.extents.push_back(nest.extents[i] / inner);
      change.extents.push_back(inner);
      change.old_axes.push_back(Index(here) * Dim(inner) +
                                Index(axis_id(change.extents.size() - 1)));
    } else {
      change.extents.push_back(nest.extents[i]);
      change.old_axes.emplace_back(here);
    }
  }
  return change_axes(nest, change);
}

Nest split_axes(const Nest& nest, size_t keep_first) {
  Nest result = nest;
  for (int round = 0; round < 8; ++round) {
    size_t found = result.extents.size();
    int64_t inner = 0;
    for (const Index& index : indices_of(result)) {
      visit_index(index, [&](const IndexAtom& atom) {
        if (atom.kind != IndexAtom::Kind::kFloorDiv && atom.kind != IndexAtom::Kind::kMod) return;
        if (!atom.divisor.is_const()) return;
        const int64_t d = atom.divisor.value();
        for (const IndexTerm& term : atom.left.terms()) {
          if (term.atom->kind != IndexAtom::Kind::kAxis || !term.coefficient.is(1)) continue;
          if (term.atom->axis.value < 0) continue;
          const auto axis = static_cast<size_t>(term.atom->axis.value);
          if (axis < keep_first || axis >= result.extents.size()) continue;
          if (d > 1 && result.extents[axis] > d && result.extents[axis] % d == 0) {
            found = axis;
            inner = d;
          }
        }
      });
      if (inner != 0) break;
    }
    if (inner == 0) break;
    result = split_axis(result, found, inner);
  }
  return result;
}

bool is_linear(const Index& index) { return index.is_affine() && index.offset().is_const(); }

int64_t stride_of(const Index& index, size_t axis) {
  const Dim c = index.coefficient(axis_id(axis));
  return c.is_const() ? c.value() : 0;
}

Nest join_axes(const Nest& nest, size_t keep_first) {
  Nest result = nest;
  for (size_t i = keep_first; i + 1 < result.extents.size();) {
    const bool same_kind = (i < result.outputs) == (i + 1 < result.outputs);
    const int64_t inner = result.extents[i + 1];
    bool joined = same_kind;
    for (const Index& index : indices_of(result)) {
      if (!joined) break;
      const AxisId a = axis_id(i);
      const AxisId b = axis_id(i + 1);
      if (!index.mentions(a) && !index.mentions(b)) continue;
      // Both only as plain terms, the outer one exactly one inner extent apart.
      Index rest = index - Index(a) * index.coefficient(a) - Index(b) * index.coefficient(b);
      joined = !rest.mentions(a) && !rest.mentions(b) &&
               index.coefficient(a) == index.coefficient(b) * Dim(inner);
    }
    if (!joined) {
      ++i;
      continue;
    }
    AxisChange change;
    for (size_t k = 0; k < result.extents.size(); ++k) {
      if (k == i + 1) {
        // (a, b) with b = 0: the joined axis already counts in steps of b.
        change.old_axes.emplace_back(axis_id(i));
        continue;
      }
      change.old_axes.push_back(k == i ? Index(0) : Index(axis_id(change.extents.size())));
      change.extents.push_back(k == i ? result.extents[k] * inner : result.extents[k]);
      if (k < result.outputs) ++change.outputs;
    }
    result = change_axes(result, change);
  }
  return result;
}

Nest flatten_axes(const Nest& nest, size_t a, size_t b) {
  HONE_CHECK(a < nest.outputs && b < nest.outputs && a != b, "two output axes");
  AxisChange change;
  std::vector<size_t> place(nest.extents.size());
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    if (i == b) continue;
    place[i] = change.extents.size();
    change.extents.push_back(i == a ? nest.extents[a] * nest.extents[b] : nest.extents[i]);
    if (i < nest.outputs) ++change.outputs;
  }
  const Index joined = axis_id(place[a]);
  const Dim inner = nest.extents[b];
  for (size_t i = 0; i < nest.extents.size(); ++i) {
    if (i == a)
      change.old_axes.push_back(floor_div(joined, inner));
    else if (i == b)
      change.old_axes.push_back(mod(joined, inner));
    else
      change.old_axes.emplace_back(axis_id(place[i]));
  }
  return change_axes(nest, change);
}

Nest reorder(const Nest& nest, const std::vector<size_t>& order) {
  AxisChange change = identity(nest);
  for (size_t i = 0; i < order.size(); ++i) {
    change.extents[i] = nest.extents[order[i]];
    change.old_axes[order[i]] = axis_id(i);
  }
  return change_axes(nest, change);
}

std::vector<FlatRead> reads_of(const Nest& nest) {
  std::vector<FlatRead> reads;
  bool in_body = true;
  std::set<const ScalarNode*> guarded;
  const auto guard = [&](const ScalarNode& node) {
    if (node.kind != ScalarNode::Kind::kApply || node.fn != Fn::kSelect) return;
    for (const size_t branch : {1, 2})
      visit_scalar(node.args[branch], guarded, [](const ScalarNode&) {});
  };
  std::set<const ScalarNode*> selects;
  visit_scalar(nest.body, selects, guard);
  for (const Nest::Store& store : nest.stores) visit_scalar(store.value, selects, guard);
  const auto add = [&](const ScalarNode& node) {
    if (node.kind != ScalarNode::Kind::kRead || node.tensor == kAccumulator) return;
    const auto same = [&](const FlatRead& read) {
      return read.tensor == node.tensor && read.at == node.indices[0];
    };
    if (std::ranges::none_of(reads, same))
      reads.push_back({node.tensor, node.indices[0], in_body, guarded.contains(&node)});
  };
  std::set<const ScalarNode*> seen;
  visit_scalar(nest.body, seen, add);
  in_body = false;
  for (const Nest::Store& store : nest.stores) {
    visit_scalar(store.inner, seen, add);
    visit_scalar(store.value, seen, add);
  }
  return reads;
}

}  // namespace hone
