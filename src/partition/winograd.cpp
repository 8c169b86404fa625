#include "partition/winograd.h"

#include <initializer_list>
#include <utility>

#include "lower/nest.h"
#include "lower/winograd.h"
#include "partition/winograd_transforms.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

// The three steps. Their axes: batch and block, which are shared, and then for the transforms tile
// row in the block, tile column and channel.
class WinogradBuilder {
 public:
  WinogradBuilder(const Op& op, const Convolution3x3& conv, int size, int64_t rows,
                  TensorProgram& program, int group)
      : op_(op),
        conv_(conv),
        size_(size),
        rows_(rows),
        program_(program),
        group_(group),
        matrices_(winograd_matrices(size)),
        n_(static_cast<int64_t>(matrices_.filter.size())),
        channels_(op.extents[conv.reduced]),
        outputs_(op.extents[conv.channel]),
        tile_columns_((op.extents[conv.column] + size - 1) / size) {
    const int64_t tile_rows = (op.extents[conv.row] + size - 1) / size;
    blocks_ = (tile_rows + rows - 1) / rows;
    for (const size_t axis : conv.batch) outer_.push_back(op.extents[axis]);
    outer_.push_back(blocks_);
    const size_t shared = outer_.size();
    for (size_t i = 0; i < shared; ++i) prefix_.emplace_back(axis_id(i));
    const Index block = axis_id(shared - 1);
    const Index row_in_block = axis_id(shared);
    column_ = axis_id(shared + 1);
    last_ = axis_id(shared + 2);
    tile_row_ = block * Dim(rows) + row_in_block;
    place_ = row_in_block * Dim(tile_columns_) + column_;
  }

  std::vector<Op> run() {
    // U is constant; V and M live inside an iteration over batch and block.
    const int u = add_weights();
    const int v = add_local("winograd_input", channels_);
    const int m = add_local("winograd_product", outputs_);
    std::vector<Op> result;
    result.push_back(input_transform(v));
    result.push_back(product(u, v, m));
    result.push_back(output_transform(m));
    for (Op& part : result) {
      simplify(part, program_);
      // A condition that always holds is none.
      for (Op::Write& write : part.writes)
        if (write.condition.valid() && write.condition.is_literal(1)) write.condition = {};
    }
    return result;
  }

 private:
  const ScalarNode& factor(bool input) const {
    const bool first = op_.body->args[0]->tensor == conv_.input;
    return *op_.body->args[first == input ? 0 : 1];
  }

  int add_tensor(ProgramTensor tensor) {
    program_.tensors.push_back(std::move(tensor));
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  int add_local(const char* name, int64_t last) {
    ProgramTensor tensor;
    tensor.name = name;
    tensor.dims = outer_;
    tensor.dims.insert(tensor.dims.end(), {n_ * n_, rows_ * tile_columns_, last});
    return add_tensor(std::move(tensor));
  }

  int add_weights() {
    const ScalarNode& w = factor(false);
    const ProgramTensor& weights = program_.tensors[static_cast<size_t>(conv_.weights)];
    const Buffer source = weights.constant.aligned();
    std::vector<int64_t> strides(w.indices.size(), 1);
    for (size_t d = strides.size(); d-- > 1;) strides[d - 1] = strides[d] * source.dims()[d];
    const auto stride = [&](size_t axis) {
      for (size_t d = 0; d < w.indices.size(); ++d)
        if (w.indices[d].mentions(axis_id(axis))) return strides[d];
      return int64_t{0};
    };
    ProgramTensor u;
    u.kind = ProgramTensor::Kind::kConstant;
    u.name = weights.name + "_winograd";
    u.dims = {n_ * n_, channels_, outputs_};
    u.constant = transformed_weights(source, channels_, outputs_,
                                     {stride(conv_.channel), stride(conv_.reduced),
                                      stride(conv_.tap_row), stride(conv_.tap_column)},
                                     matrices_.filter);
    return add_tensor(std::move(u));
  }

  Op begin(std::initializer_list<int64_t> extents) const {
    Op part;
    part.label = op_.label;
    part.extents = outer_;
    part.group = group_;
    part.group_shared = outer_.size();
    part.extents.insert(part.extents.end(), extents);
    part.outputs = part.extents.size();
    return part;
  }

  std::vector<Index> at(std::initializer_list<Index> rest) const {
    std::vector<Index> indices = prefix_;
    indices.insert(indices.end(), rest);
    return indices;
  }

  Op input_transform(int v) const {
    Op part = begin({rows_, tile_columns_, channels_});
    ScalarGrid d;
    for (int64_t i = 0; i < n_; ++i) {
      std::vector<Scalar> line;
      for (int64_t j = 0; j < n_; ++j) line.push_back(input_at(i, j));
      d.push_back(std::move(line));
    }
    const ScalarGrid transformed = transform(linear_code(matrices_.input), d);
    for (int64_t i = 0; i < n_; ++i)
      for (int64_t j = 0; j < n_; ++j)
        part.writes.push_back({v, at({Index(i * n_ + j), place_, last_}),
                               transformed[static_cast<size_t>(i)][static_cast<size_t>(j)]});
    return part;
  }

  // Element (i, j) of a tile of the input.
  Scalar input_at(int64_t i, int64_t j) const {
    const ScalarNode& x = factor(true);
    std::vector<Index> indices;
    size_t next_batch = 0;
    for (size_t dim = 0; dim < x.indices.size(); ++dim) {
      if (dim == conv_.row_dim)
        indices.push_back(tile_row_ * Dim(size_) + Index(i + conv_.row_shift));
      else if (dim == conv_.column_dim)
        indices.push_back(column_ * Dim(size_) + Index(j + conv_.column_shift));
      else if (dim == conv_.channel_dim)
        indices.push_back(last_);
      else if (x.indices[dim] == Index(0))
        indices.emplace_back(0);
      else
        indices.push_back(prefix_[next_batch++]);
    }
    return Scalar::read_or(ElementType::kF32, conv_.input, indices,
                           Scalar::literal(ElementType::kF32, 0));
  }

  Op product(int u, int v, int m) const {
    Op part = begin({n_ * n_, rows_ * tile_columns_, outputs_, channels_});
    part.outputs = part.extents.size() - 1;
    part.combiner = Combiner::kSum;
    const size_t shared = outer_.size();
    const Index e = axis_id(shared);
    const Index p = axis_id(shared + 1);
    const Index k = axis_id(shared + 2);
    const Index c = axis_id(shared + 3);
    part.body = Scalar::read(ElementType::kF32, v, at({e, p, c})) *
                Scalar::read(ElementType::kF32, u, {e, c, k});
    part.writes.push_back({m, at({e, p, k}), Scalar::read(ElementType::kF32, kAccumulator, {})});
    return part;
  }

  // And what follows the sum.
  Op output_transform(int m) const {
    Op part = begin({rows_, tile_columns_, outputs_});
    ScalarGrid products;
    for (int64_t i = 0; i < n_; ++i) {
      std::vector<Scalar> line;
      for (int64_t j = 0; j < n_; ++j)
        line.push_back(Scalar::read(ElementType::kF32, m, at({Index(i * n_ + j), place_, last_})));
      products.push_back(std::move(line));
    }
    const ScalarGrid y = transform(linear_code(matrices_.output), products);
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t j = 0; j < size_; ++j)
        part.writes.push_back(result_at(i, j, y[static_cast<size_t>(i)][static_cast<size_t>(j)]));
    return part;
  }

  // Result (i, j) of a tile, where it lies inside.
  Op::Write result_at(int64_t i, int64_t j, const Scalar& sum) const {
    const Index result_row = tile_row_ * Dim(size_) + Index(i);
    const Index result_column = column_ * Dim(size_) + Index(j);
    Substitution how;
    how.axis = [&](AxisId axis) -> Index {
      const auto number_of = static_cast<size_t>(axis.value);
      if (number_of == conv_.row) return result_row;
      if (number_of == conv_.column) return result_column;
      if (number_of == conv_.channel) return last_;
      for (size_t b = 0; b < conv_.batch.size(); ++b)
        if (conv_.batch[b] == number_of) return prefix_[b];
      return 0;
    };
    Op::Write write = op_.writes[0];
    write.value = substitute(write.value, how);
    write.inner = sum;
    for (Index& index : write.at) index = substitute(index, how);
    Scalar inside;
    if (blocks_ * rows_ * size_ > op_.extents[conv_.row])
      inside = less(result_row, Index(op_.extents[conv_.row]));
    if (tile_columns_ * size_ > op_.extents[conv_.column]) {
      const Scalar fits = less(result_column, Index(op_.extents[conv_.column]));
      inside = inside.valid() ? logical_and(inside, fits) : fits;
    }
    write.condition = inside;
    return write;
  }

  const Op& op_;
  const Convolution3x3& conv_;
  int size_;
  int64_t rows_;
  TensorProgram& program_;
  int group_;
  WinogradMatrices matrices_;
  int64_t n_;  // tiles of the input have n x n elements
  int64_t channels_, outputs_, tile_columns_;
  int64_t blocks_ = 0;
  std::vector<int64_t> outer_;  // extents of batch and block
  std::vector<Index> prefix_;   // their axes
  Index tile_row_, column_, last_;
  Index place_;  // number of the tile in its block
};

}  // namespace

std::vector<Op> winograd_ops(const Op& op, const Convolution3x3& conv, int size, int64_t rows,
                             TensorProgram& program, int group) {
  return WinogradBuilder(op, conv, size, rows, program, group).run();
}

}  // namespace hone
