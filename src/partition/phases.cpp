// Polyphase decomposition: conditions on residues turned into separate loops.
#include <algorithm>
#include <optional>

#include "expr/analysis.h"
#include "partition/pieces.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

// (left mod divisor) == 0
struct Residue {
  Index left;
  int64_t divisor = 0;
};

std::optional<Residue> residue_of(const ScalarNode& node) {
  if (node.kind != ScalarNode::Kind::kApply || node.fn != Fn::kEq) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Scalar& index = node.args[side];
    if (!node.args[1 - side].is_literal(0) &&
        !(node.args[1 - side]->kind == ScalarNode::Kind::kIndex &&
          node.args[1 - side]->index == Index(0)))
      continue;
    if (index->kind != ScalarNode::Kind::kIndex || index->index.terms().size() != 1) continue;
    const IndexTerm& term = index->index.terms()[0];
    if (term.atom->kind != IndexAtom::Kind::kMod || !term.atom->divisor.is_const() ||
        !index->index.offset().is(0) || !term.atom->left.is_affine())
      continue;
    return Residue{term.atom->left, term.atom->divisor.value()};
  }
  return std::nullopt;
}

std::optional<Residue> find_residue(const Op& op) {
  std::optional<Residue> found;
  visit(op.body, [&](const ScalarNode& node) {
    if (!found) found = residue_of(node);
  });
  return found;
}

// An output axis and a reduction axis that alone decide a residue.
struct Pair {
  size_t output, reduced;
};

std::optional<Pair> pair_of(const Op& op, const Residue& residue) {
  std::optional<size_t> output;
  std::optional<size_t> reduced;
  for (const IndexTerm& term : residue.left.terms()) {
    if (term.atom->axis.value < 0 || !term.coefficient.is_const()) return std::nullopt;
    const auto axis = static_cast<size_t>(term.atom->axis.value);
    std::optional<size_t>& place = axis < op.outputs ? output : reduced;
    if (place) return std::nullopt;
    place = axis;
  }
  if (!output || !reduced) return std::nullopt;
  return Pair{*output, *reduced};
}

// Values of the reduction axis that count when the output axis has this residue.
struct Progression {
  int64_t first = 0, step = 1, count = 0;
};

std::optional<Progression> progression_of(const Op& op, const Residue& residue, const Pair& pair,
                                          int64_t phase) {
  const int64_t a = residue.left.coefficient(axis_id(pair.output)).value();
  const int64_t b = residue.left.coefficient(axis_id(pair.reduced)).value();
  const int64_t c = residue.left.offset().value();
  std::vector<int64_t> valid;
  for (int64_t r = 0; r < op.extents[pair.reduced]; ++r)
    if (floor_mod(a * phase + b * r + c, residue.divisor) == 0) valid.push_back(r);
  Progression result;
  result.count = static_cast<int64_t>(valid.size());
  if (valid.empty()) return result;
  result.first = valid[0];
  if (valid.size() > 1) result.step = valid[1] - valid[0];
  for (size_t i = 1; i < valid.size(); ++i)
    if (valid[i] - valid[i - 1] != result.step) return std::nullopt;
  return result;
}

void substitute_axes(Op& op, const Substitution& how, const TensorProgram& program) {
  map_scalars(op, [&](const Scalar& scalar) { return substitute(scalar, how); });
  for (Op::Write& write : op.writes)
    for (Index& index : write.at) index = substitute(index, how);
  simplify(op, program);
}

}  // namespace

std::vector<Op> split_phases(const Op& op, const TensorProgram& program) {
  const bool fits = op.is_plain() && op.combiner == Combiner::kSum && !op.serial;
  const std::optional<Residue> residue = fits ? find_residue(op) : std::nullopt;
  const std::optional<Pair> pair = residue ? pair_of(op, *residue) : std::nullopt;
  if (!pair || residue->divisor < 2 || residue->divisor > 16) return {op};
  std::vector<Op> result;
  for (int64_t phase = 0; phase < residue->divisor; ++phase) {
    const auto taps = progression_of(op, *residue, *pair, phase);
    if (!taps) return {op};
    Op part = op;
    const int64_t extent = op.extents[pair->output];
    part.extents[pair->output] =
        extent <= phase ? 0 : (extent - phase + residue->divisor - 1) / residue->divisor;
    if (part.extents[pair->output] == 0) continue;
    part.extents[pair->reduced] = taps->count;
    Substitution how;
    how.axis = [&](AxisId axis) {
      if (axis == axis_id(pair->output)) return Index(axis) * Dim(residue->divisor) + Index(phase);
      if (axis == axis_id(pair->reduced)) return Index(axis) * Dim(taps->step) + Index(taps->first);
      return Index(axis);
    };
    substitute_axes(part, how, program);
    for (Op& piece : split_phases(part, program)) result.push_back(std::move(piece));
  }
  return result;
}

void drop_determined_axes(Op& op, const TensorProgram& program) {
  if (!op.is_plain() || op.combiner != Combiner::kSum || op.serial) return;
  if (op.body->kind != ScalarNode::Kind::kApply || op.body->fn != Fn::kMul) return;
  // A factor that is zero outside of a dimension of extent 1: the index must be 0.
  for (const Scalar& factor : op.body->args) {
    if (factor->kind != ScalarNode::Kind::kRead || !factor->outside ||
        factor->outside->kind != ScalarNode::Kind::kLiteral || !factor->outside->literal.is_zero())
      continue;
    const std::vector<int64_t>& dims = program.tensors[static_cast<size_t>(factor->tensor)].dims;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] != 1 || !factor->indices[d].is_affine()) continue;
      for (size_t axis = op.outputs; axis < op.extents.size(); ++axis) {
        const Dim c = factor->indices[d].coefficient(axis_id(axis));
        if (!c.is(1) && !c.is(-1)) continue;
        // axis = -+ rest, where that lies in the axis for every output.
        const Index rest = factor->indices[d] - Index(axis_id(axis)) * c;
        const Index solved = c.is(1) ? Index(0) - rest : rest;
        std::vector<Dim> extents(op.extents.begin(), op.extents.end());
        const Range range = range_of(solved, extents);
        if (!range.low || !range.high || !range.low->is_const() || !range.high->is_const() ||
            range.low->value() < 0 || range.high->value() >= op.extents[axis])
          continue;
        Substitution how;
        how.axis = [&](AxisId id) { return id == axis_id(axis) ? solved : Index(id); };
        op.extents[axis] = 1;
        substitute_axes(op, how, program);
        return drop_determined_axes(op, program);
      }
    }
  }
}

}  // namespace hone
