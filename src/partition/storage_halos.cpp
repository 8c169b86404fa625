// What lies around a tensor, so that reads outside of it need no condition.
#include <algorithm>

#include "lower/rewrite.h"
#include "partition/storage_chooser.h"

namespace hone {

bool StorageChooser::literal_guard(const ScalarNode& node) {
  return node.outside && node.outside->kind == ScalarNode::Kind::kLiteral;
}

void StorageChooser::copy_padded_inputs() {
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

void StorageChooser::redirect(Op& op, int from, int to) {
  if (!op.is_plain() || (!op.reduces() && op.group < 0)) return;
  Rewriter rewrite([&](const Scalar& scalar) -> Scalar {
    if (scalar->kind != ScalarNode::Kind::kRead || scalar->tensor != from) return {};
    return scalar->outside
               ? Scalar::read_or(scalar->type, to, scalar->indices, Scalar(scalar->outside))
               : Scalar::read(scalar->type, to, scalar->indices);
  });
  map_scalars(op, [&](const Scalar& scalar) { return rewrite(scalar); });
}

void StorageChooser::find_halos() {
  halos_.resize(program_.tensors.size());
  for (const Op& op : program_.ops) {
    if (!op.is_plain() || op.serial || (!op.reduces() && op.group < 0)) continue;
    IndexFacts facts({op.extents.begin(), op.extents.end()}, {op.steps.begin(), op.steps.end()});
    visit_reads(op, [&](const ScalarNode& node) {
      if (literal_guard(node) && !fixed_.contains(node.tensor)) want_halo(node, facts);
    });
  }
}

void StorageChooser::want_halo(const ScalarNode& node, const IndexFacts& facts) {
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

void StorageChooser::add_fills(int id, std::vector<Op>& ops) {
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
        const int64_t shift = k == d ? (front ? -depth : info.dims[k]) : whole ? -of.before[k] : 0;
        at.push_back(Index(axis_id(k)) + Index(shift));
      }
      op.outputs = op.extents.size();
      op.writes.push_back({id, at, Scalar::literal(info.type, *of.around)});
      ops.push_back(std::move(op));
    }
}

}  // namespace hone
