#include "partition/winograd.h"

#include <algorithm>
#include <array>

#include "lower/nest.h"
#include "lower/winograd.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

// One direction of a transform, as few operations on scalars.
std::vector<Scalar> apply(const LinearCode& code, const std::vector<Scalar>& values) {
  return run(code, values, [](const Literal& factor, const Scalar& a, int sign, const Scalar& b) {
    const bool negative = factor.negative();
    const Literal size = negative ? factor.negated() : factor;
    const Scalar scaled = size.is(1) ? a : a * Scalar::literal(ElementType::kF32, size);
    if (sign == 0) return negative ? -scaled : scaled;
    if (!negative) return sign > 0 ? scaled + b : scaled - b;
    return sign > 0 ? b - scaled : -(scaled + b);
  });
}

using Grid = std::vector<std::vector<Scalar>>;

template <typename F>
Grid both_ways(const Grid& grid, F transform) {
  Grid first;
  for (const std::vector<Scalar>& line : grid) first.push_back(transform(line));
  Grid result(0);
  std::vector<std::vector<Scalar>> columns;
  for (size_t j = 0; j < first[0].size(); ++j) {
    std::vector<Scalar> column;
    for (const std::vector<Scalar>& line : first) column.push_back(line[j]);
    columns.push_back(transform(column));
  }
  for (size_t i = 0; i < columns[0].size(); ++i) {
    std::vector<Scalar> line;
    for (const std::vector<Scalar>& column : columns) line.push_back(column[i]);
    result.push_back(std::move(line));
  }
  return result;
}

// U[e, c, k] from w, whose strides along k, c and the taps are given.
Buffer transformed_weights(const Buffer& weights, int64_t channels, int64_t outputs,
                           const int64_t (&strides)[4], const LiteralMatrix& filter) {
  const size_t n = filter.size();
  std::vector<std::array<double, 3>> f;
  for (const std::vector<Literal>& row : filter)
    f.push_back({row[0].to_double(), row[1].to_double(), row[2].to_double()});
  Buffer result =
      Buffer::allocate(ElementType::kF32, {static_cast<int64_t>(n * n), channels, outputs});
  const auto from = weights.as<float>();
  const auto to = result.as_mutable<float>();
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      double g[3][3];
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 3; ++s)
          g[r][s] = static_cast<double>(from[static_cast<size_t>(k * strides[0] + c * strides[1] +
                                                                 r * strides[2] + s * strides[3])]);
      for (size_t i = 0; i < n; ++i) {
        double row[3];
        for (size_t s = 0; s < 3; ++s)
          row[s] = f[i][0] * g[0][s] + f[i][1] * g[1][s] + f[i][2] * g[2][s];
        for (size_t j = 0; j < n; ++j) {
          const double value = f[j][0] * row[0] + f[j][1] * row[1] + f[j][2] * row[2];
          to[static_cast<size_t>((static_cast<int64_t>(i * n + j) * channels + c) * outputs + k)] =
              static_cast<float>(value);
        }
      }
    }
  return result;
}

}  // namespace

std::optional<Convolution3x3> as_convolution(const Op& op, const TensorProgram& program) {
  if (!op.is_plain() || op.combiner != Combiner::kSum || op.serial || !op.steps.empty() ||
      op.extents.size() != op.outputs + 3 || op.writes.size() != 1)
    return std::nullopt;
  if (op.body->kind != ScalarNode::Kind::kApply || op.body->fn != Fn::kMul ||
      op.body.type() != ElementType::kF32)
    return std::nullopt;
  const Scalar& a = op.body->args[0];
  const Scalar& b = op.body->args[1];
  if (a->kind != ScalarNode::Kind::kRead || b->kind != ScalarNode::Kind::kRead) return std::nullopt;
  const auto constant = [&](const Scalar& read) {
    return program.tensors[static_cast<size_t>(read->tensor)].kind ==
           ProgramTensor::Kind::kConstant;
  };
  if (constant(a) == constant(b)) return std::nullopt;
  const ScalarNode& x = constant(a) ? *b : *a;
  const ScalarNode& w = constant(a) ? *a : *b;
  if (x.outside && !(Scalar(x.outside).is_literal(0))) return std::nullopt;
  Convolution3x3 conv;
  conv.input = x.tensor;
  conv.weights = w.tensor;
  // Axes of the weights, each alone in its dimension.
  std::vector<size_t> of_weights;
  for (const Index& index : w.indices) {
    if (index == Index(0)) continue;
    const AxisId* axis = index.as_axis();
    if (axis == nullptr || axis->value < 0) return std::nullopt;
    of_weights.push_back(static_cast<size_t>(axis->value));
  }
  if (of_weights.size() != 4) return std::nullopt;
  int outputs = 0;
  for (const size_t axis : of_weights)
    if (axis < op.outputs) {
      conv.channel = axis;
      ++outputs;
    }
  if (outputs != 1) return std::nullopt;
  int windows = 0;
  bool reduced = false;
  for (size_t d = 0; d < x.indices.size(); ++d) {
    const Index& index = x.indices[d];
    if (!index.is_affine() || !index.offset().is_const()) return std::nullopt;
    std::vector<size_t> axes;
    for (const IndexTerm& term : index.terms()) {
      if (!term.coefficient.is(1) || term.atom->axis.value < 0) return std::nullopt;
      axes.push_back(static_cast<size_t>(term.atom->axis.value));
    }
    std::ranges::sort(axes);
    if (axes.size() == 2 && axes[0] < op.outputs && axes[1] >= op.outputs) {
      if (op.extents[axes[1]] != 3 || windows == 2) return std::nullopt;
      (windows == 0 ? conv.row : conv.column) = axes[0];
      (windows == 0 ? conv.tap_row : conv.tap_column) = axes[1];
      (windows == 0 ? conv.row_dim : conv.column_dim) = d;
      (windows == 0 ? conv.row_shift : conv.column_shift) = index.offset().value();
      ++windows;
    } else if (axes.size() == 1 && axes[0] >= op.outputs && index.offset().is(0)) {
      if (reduced) return std::nullopt;
      reduced = true;
      conv.reduced = axes[0];
      conv.channel_dim = d;
    } else if (axes.size() == 1 && index.offset().is(0)) {
      conv.batch.push_back(axes[0]);
    } else if (!axes.empty() || !index.offset().is(0)) {
      return std::nullopt;
    }
  }
  if (windows != 2 || !reduced) return std::nullopt;
  for (const size_t tap : {conv.tap_row, conv.tap_column, conv.reduced})
    if (std::ranges::find(of_weights, tap) == of_weights.end()) return std::nullopt;
  // Every output axis has its part.
  for (size_t axis = 0; axis < op.outputs; ++axis) {
    const bool known = axis == conv.row || axis == conv.column || axis == conv.channel ||
                       std::ranges::find(conv.batch, axis) != conv.batch.end();
    if (!known && op.extents[axis] != 1) return std::nullopt;
  }
  return conv;
}

std::vector<Op> winograd_ops(const Op& op, const Convolution3x3& conv, int size, int64_t rows,
                             TensorProgram& program, int group) {
  const WinogradMatrices matrices = winograd_matrices(size);
  const LinearCode input_code = linear_code(matrices.input);
  const LinearCode output_code = linear_code(matrices.output);
  const auto n = static_cast<int64_t>(matrices.filter.size());
  const int64_t channels = op.extents[conv.reduced];
  const int64_t outputs = op.extents[conv.channel];
  const int64_t tile_rows = (op.extents[conv.row] + size - 1) / size;
  const int64_t tile_columns = (op.extents[conv.column] + size - 1) / size;
  const int64_t blocks = (tile_rows + rows - 1) / rows;
  const ScalarNode& x =
      op.body->args[0]->tensor == conv.input ? *op.body->args[0] : *op.body->args[1];
  const ScalarNode& w =
      op.body->args[0]->tensor == conv.input ? *op.body->args[1] : *op.body->args[0];

  // Tensors: U is constant; V and M live inside an iteration over batch and block.
  std::vector<int64_t> outer;
  for (const size_t axis : conv.batch) outer.push_back(op.extents[axis]);
  outer.push_back(blocks);
  const auto local = [&](const char* name, int64_t last) {
    ProgramTensor tensor;
    tensor.name = name;
    tensor.dims = outer;
    tensor.dims.insert(tensor.dims.end(), {n * n, rows * tile_columns, last});
    program.tensors.push_back(std::move(tensor));
    return static_cast<int>(program.tensors.size()) - 1;
  };
  const Buffer source = program.tensors[static_cast<size_t>(conv.weights)].constant.aligned();
  const std::vector<int64_t> strides = [&] {
    std::vector<int64_t> s(w.indices.size(), 1);
    for (size_t d = s.size(); d-- > 1;) s[d - 1] = s[d] * source.dims()[d];
    return s;
  }();
  const auto stride = [&](size_t axis) {
    for (size_t d = 0; d < w.indices.size(); ++d)
      if (w.indices[d].mentions(axis_id(axis))) return strides[d];
    return int64_t{0};
  };
  ProgramTensor u;
  u.kind = ProgramTensor::Kind::kConstant;
  u.name = program.tensors[static_cast<size_t>(conv.weights)].name + "_winograd";
  u.dims = {n * n, channels, outputs};
  u.constant = transformed_weights(
      source, channels, outputs,
      {stride(conv.channel), stride(conv.reduced), stride(conv.tap_row), stride(conv.tap_column)},
      matrices.filter);
  program.tensors.push_back(std::move(u));
  const auto u_id = static_cast<int>(program.tensors.size()) - 1;
  const int v_id = local("winograd_input", channels);
  const int m_id = local("winograd_product", outputs);

  const size_t shared = outer.size();
  const auto begin = [&] {
    Op part;
    part.label = op.label;
    part.extents = outer;
    part.group = group;
    part.group_shared = shared;
    return part;
  };
  std::vector<Index> prefix;
  for (size_t i = 0; i < shared; ++i) prefix.emplace_back(axis_id(i));
  const auto at = [&](std::initializer_list<Index> rest) {
    std::vector<Index> indices = prefix;
    indices.insert(indices.end(), rest);
    return indices;
  };
  const Index block = axis_id(shared - 1);
  const Index row_in_block = axis_id(shared);
  const Index column = axis_id(shared + 1);
  const Index last = axis_id(shared + 2);
  const Index tile_row = block * Dim(rows) + row_in_block;
  const Index place = row_in_block * Dim(tile_columns) + column;

  // Input transform.
  Op first = begin();
  first.extents.insert(first.extents.end(), {rows, tile_columns, channels});
  first.outputs = first.extents.size();
  Grid d;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Scalar> line;
    for (int64_t j = 0; j < n; ++j) {
      std::vector<Index> indices;
      size_t next_batch = 0;
      for (size_t dim = 0; dim < x.indices.size(); ++dim) {
        if (dim == conv.row_dim)
          indices.push_back(tile_row * Dim(size) + Index(i + conv.row_shift));
        else if (dim == conv.column_dim)
          indices.push_back(column * Dim(size) + Index(j + conv.column_shift));
        else if (dim == conv.channel_dim)
          indices.push_back(last);
        else if (x.indices[dim] == Index(0))
          indices.emplace_back(0);
        else
          indices.push_back(prefix[next_batch++]);
      }
      line.push_back(Scalar::read_or(ElementType::kF32, conv.input, indices,
                                     Scalar::literal(ElementType::kF32, 0)));
    }
    d.push_back(std::move(line));
  }
  const Grid v =
      both_ways(d, [&](const std::vector<Scalar>& line) { return apply(input_code, line); });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      first.writes.push_back({v_id, at({Index(i * n + j), place, last}),
                              v[static_cast<size_t>(i)][static_cast<size_t>(j)]});

  // Products.
  Op second = begin();
  second.extents.insert(second.extents.end(), {n * n, rows * tile_columns, outputs, channels});
  second.outputs = second.extents.size() - 1;
  second.combiner = Combiner::kSum;
  const Index e = axis_id(shared);
  const Index p = axis_id(shared + 1);
  const Index k = axis_id(shared + 2);
  const Index c = axis_id(shared + 3);
  second.body = Scalar::read(ElementType::kF32, v_id, at({e, p, c})) *
                Scalar::read(ElementType::kF32, u_id, {e, c, k});
  second.writes.push_back({m_id, at({e, p, k}), Scalar::read(ElementType::kF32, kAccumulator, {})});

  // Output transform, and what follows the sum.
  Op third = begin();
  third.extents.insert(third.extents.end(), {rows, tile_columns, outputs});
  third.outputs = third.extents.size();
  Grid m;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Scalar> line;
    for (int64_t j = 0; j < n; ++j)
      line.push_back(Scalar::read(ElementType::kF32, m_id, at({Index(i * n + j), place, last})));
    m.push_back(std::move(line));
  }
  const Grid y =
      both_ways(m, [&](const std::vector<Scalar>& line) { return apply(output_code, line); });
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      const Index result_row = tile_row * Dim(size) + Index(i);
      const Index result_column = column * Dim(size) + Index(j);
      Substitution how;
      how.axis = [&](AxisId axis) -> Index {
        const auto number_of = static_cast<size_t>(axis.value);
        if (number_of == conv.row) return result_row;
        if (number_of == conv.column) return result_column;
        if (number_of == conv.channel) return last;
        for (size_t b = 0; b < conv.batch.size(); ++b)
          if (conv.batch[b] == number_of) return prefix[b];
        return 0;
      };
      Op::Write write = op.writes[0];
      write.value = substitute(write.value, how);
      write.inner = y[static_cast<size_t>(i)][static_cast<size_t>(j)];
      for (Index& index : write.at) index = substitute(index, how);
      Scalar inside;
      if (blocks * rows * size > op.extents[conv.row])
        inside = less(result_row, Index(op.extents[conv.row]));
      if (tile_columns * size > op.extents[conv.column]) {
        const Scalar fits = less(result_column, Index(op.extents[conv.column]));
        inside = inside.valid() ? logical_and(inside, fits) : fits;
      }
      write.condition = inside;
      third.writes.push_back(std::move(write));
    }
  std::vector<Op> result;
  for (Op* part : {&first, &second, &third}) {
    simplify(*part, program);
    // A condition that always holds is none.
    for (Op::Write& write : part->writes)
      if (write.condition.valid() && write.condition.is_literal(1)) write.condition = {};
    result.push_back(std::move(*part));
  }
  return result;
}

}  // namespace hone
