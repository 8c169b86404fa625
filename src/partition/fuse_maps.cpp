// Maps into their readers.
#include <algorithm>

#include "lower/rewrite.h"
#include "partition/fuser.h"
#include "partition/pieces.h"

namespace hone {
namespace {

double cost_of(const Scalar& scalar) {
  double flops = 0;
  visit(scalar, [&](const ScalarNode& node) {
    if (node.kind == ScalarNode::Kind::kApply) flops += info_of(node.fn).flops;
  });
  return flops;
}

}  // namespace

bool Fuser::inline_maps() {
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

bool Fuser::may_inline(const Op& map, const Op& user, size_t users) {
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

int64_t Fuser::outputs_of(const Op& op) {
  int64_t points = 1;
  for (size_t i = 0; i < op.outputs; ++i) points *= op.extents[i];
  return points;
}

bool Fuser::read_in_body(const Op& op, int id) {
  bool found = false;
  if (op.body.valid())
    visit(op.body, [&](const ScalarNode& node) {
      found = found || (node.kind == ScalarNode::Kind::kRead && node.tensor == id);
    });
  return found;
}

bool Fuser::is_contraction(const Op& op) {
  return op.combiner == Combiner::kSum && op.body->kind == ScalarNode::Kind::kApply &&
         op.body->fn == Fn::kMul;
}

void Fuser::inline_into(const Op& map, Op& user) {
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

void Fuser::join_labels(const Op& from, Op& to) {
  if (from.label.find(to.label) != std::string::npos)
    to.label = from.label;
  else if (to.label.find(from.label) == std::string::npos)
    to.label = from.label + " + " + to.label;
}

}  // namespace hone
