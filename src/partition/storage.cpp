// The order of choices, and a buffer for every tensor.
#include "partition/storage.h"

#include <algorithm>
#include <set>

#include "partition/layout.h"
#include "partition/pieces.h"
#include "partition/storage_chooser.h"

namespace hone {

Storage StorageChooser::run() {
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

void StorageChooser::split_ops() {
  std::vector<Op> ops;
  for (const Op& op : program_.ops)
    for (Op& part : split_choices(op, program_))
      for (Op& piece : split_phases(part, program_)) ops.push_back(std::move(piece));
  for (Op& op : ops) drop_determined_axes(op, program_);
  for (Op& op : ops)
    if (is_copy(op)) split_axes(op, program_);
  program_.ops = std::move(ops);
}

bool StorageChooser::is_copy(const Op& op) {
  return op.is_plain() && !op.reduces() && !op.serial && op.writes.size() == 1 &&
         !op.writes[0].condition.valid() && op.writes[0].value->kind == ScalarNode::Kind::kRead &&
         !op.writes[0].value->outside && op.writes[0].value->tensor >= 0 && op.steps.empty();
}

void StorageChooser::find_fixed() {
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

void StorageChooser::fix_scan(const Op::Scan& scan) {
  for (const Op::Scan::Carried& carried : scan.carried)
    fixed_.insert({carried.state, carried.init, carried.next, carried.final});
  for (const Op& op : scan.ops)
    if (op.scan) fix_scan(*op.scan);
}

void StorageChooser::find_factors() {
  for (const Op& op : program_.ops)
    if (op.is_plain() && op.combiner == Combiner::kSum)
      visit(op.body, [&](const ScalarNode& node) {
        if (node.kind == ScalarNode::Kind::kRead) factors_.insert(node.tensor);
      });
}

bool StorageChooser::collides(size_t id, int64_t row_elements) {
  const ProgramTensor& info = program_.tensors[id];
  const int64_t bytes = row_elements * static_cast<int64_t>(size_of(info.type));
  return bytes % 4096 == 0 && info.count() >= 8 * row_elements &&
         factors_.contains(static_cast<int>(id)) && !fixed_.contains(static_cast<int>(id));
}

void StorageChooser::add_view(size_t id, int innermost) {
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

void StorageChooser::finish_ops() {
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

std::vector<int64_t> row_major(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  return strides;
}

Storage choose_storage(TensorProgram& program) { return StorageChooser(program).run(); }

}  // namespace hone
