#include "partition/winograd.h"

#include <algorithm>
#include <cmath>

#include "lower/nest.h"
#include "support/check.h"

namespace hone {
namespace {

AxisId axis_id(size_t axis) { return AxisId{static_cast<int>(axis)}; }

using Matrix = std::vector<std::vector<Literal>>;

// Rows that come in pairs f(x), f(-x) are even +- odd parts; so are the columns of AT.
struct Transforms {
  Matrix input, output;                     // BT, AT
  std::vector<std::vector<double>> filter;  // G
  std::vector<size_t> pairs;                // first of two neighbours
};

// Points 0, +-1, infinity.
Transforms transforms_2() {
  return {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
          {{1, 1, 1, 0}, {0, 1, -1, 1}},
          {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
          {1}};
}

// Points 0, +-sqrt(1/2), +-sqrt(2), infinity: less rounding than 0, +-1, +-2.
Transforms transforms_4() {
  const Literal half = Literal::rational(1, 2);
  const Literal s = Literal::square_root(half);
  const Literal t = Literal::square_root(2);
  const Literal m52 = Literal::rational(-5, 2);
  const auto times = [](const Literal& a, const Literal& b) { return *multiply(a, b); };
  Transforms result;
  result.input = {{1, 0, m52, 0, 1, 0},
                  {0, times(s, -2), -2, s, 1, 0},
                  {0, times(s, 2), -2, s.negated(), 1, 0},
                  {0, times(t, half).negated(), half.negated(), t, 1, 0},
                  {0, times(t, half), half.negated(), t.negated(), 1, 0},
                  {0, 1, 0, m52, 0, 1}};
  result.output = {{1, 1, 1, 1, 1, 0},
                   {0, s, s.negated(), t, t.negated(), 0},
                   {0, half, half, 2, 2, 0},
                   {0, times(s, half), times(s, half).negated(), times(t, 2),
                    times(t, 2).negated(), 1}};
  const double points[] = {0, std::sqrt(0.5), -std::sqrt(0.5), std::sqrt(2.0), -std::sqrt(2.0)};
  for (const double a : points) {
    double n = 1;
    for (const double b : points)
      if (a != b) n *= a - b;
    result.filter.push_back({1 / n, a / n, a * a / n});
  }
  result.filter.push_back({0, 0, 1});
  result.pairs = {1, 3};
  return result;
}

Scalar number(const Literal& value) { return Scalar::literal(ElementType::kF32, value); }

Scalar plus(const Scalar& a, const Scalar& b) { return a.valid() ? a + b : b; }

Scalar scaled(const Scalar& value, const Literal& factor) {
  if (factor.is(1)) return value;
  if (factor.is(-1)) return -value;
  return value * number(factor);
}

// sum_j row[j] * values[j]; -1 becomes a subtraction.
Scalar dot(const std::vector<Literal>& row, const std::vector<Scalar>& values) {
  Scalar total;
  for (size_t j = 0; j < row.size(); ++j) {
    if (row[j].is_zero() || !values[j].valid()) continue;
    if (total.valid() && row[j].is(-1))
      total = total - values[j];
    else
      total = plus(total, scaled(values[j], row[j]));
  }
  return total;
}

// BT d along one direction: of each pair the even and the odd part once.
std::vector<Scalar> transform_rows(const Matrix& matrix, const std::vector<size_t>& pairs,
                                   const std::vector<Scalar>& values) {
  std::vector<Scalar> result(matrix.size());
  for (const size_t first : pairs) {
    std::vector<Literal> even(values.size());
    std::vector<Literal> odd(values.size());
    for (size_t j = 0; j < values.size(); ++j)
      (matrix[first][j] == matrix[first + 1][j] ? even : odd)[j] = matrix[first][j];
    const Scalar e = dot(even, values);
    const Scalar o = dot(odd, values);
    result[first] = e + o;
    result[first + 1] = e - o;
  }
  for (size_t i = 0; i < matrix.size(); ++i)
    if (!result[i].valid()) result[i] = dot(matrix[i], values);
  return result;
}

// AT m along one direction: of each pair the sum and the difference once.
std::vector<Scalar> transform_columns(const Matrix& matrix, const std::vector<size_t>& pairs,
                                      const std::vector<Scalar>& values) {
  std::vector<Scalar> sums = values;
  std::vector<Scalar> differences(values.size());
  for (const size_t first : pairs) {
    sums[first] = values[first] + values[first + 1];
    differences[first] = values[first] - values[first + 1];
    sums[first + 1] = {};
  }
  std::vector<Scalar> result;
  for (const std::vector<Literal>& row : matrix) {
    std::vector<Literal> of_sums = row;
    std::vector<Literal> of_differences(row.size());
    for (const size_t first : pairs)
      if (!(row[first] == row[first + 1])) {
        of_differences[first] = row[first];
        of_sums[first] = 0;
      }
    Scalar total = dot(of_sums, sums);
    const Scalar rest = dot(of_differences, differences);
    if (rest.valid()) total = plus(total, rest);
    result.push_back(total);
  }
  return result;
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
                           const int64_t (&strides)[4], const Transforms& t) {
  const size_t n = t.filter.size();
  Buffer result = Buffer::allocate(
      ElementType::kF32, {static_cast<int64_t>(n * n), channels, outputs});
  const auto from = weights.as<float>();
  const auto to = result.as_mutable<float>();
  for (int64_t k = 0; k < outputs; ++k)
    for (int64_t c = 0; c < channels; ++c) {
      double g[3][3];
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 3; ++s)
          g[r][s] = static_cast<double>(from[static_cast<size_t>(
              k * strides[0] + c * strides[1] + r * strides[2] + s * strides[3])]);
      for (size_t i = 0; i < n; ++i) {
        double row[3];
        for (size_t s = 0; s < 3; ++s)
          row[s] = t.filter[i][0] * g[0][s] + t.filter[i][1] * g[1][s] + t.filter[i][2] * g[2][s];
        for (size_t j = 0; j < n; ++j) {
          const double value =
              t.filter[j][0] * row[0] + t.filter[j][1] * row[1] + t.filter[j][2] * row[2];
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
  if (a->kind != ScalarNode::Kind::kRead || b->kind != ScalarNode::Kind::kRead)
    return std::nullopt;
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
  const Transforms t = size == 4 ? transforms_4() : transforms_2();
  const auto n = static_cast<int64_t>(t.filter.size());
  const int64_t channels = op.extents[conv.reduced];
  const int64_t outputs = op.extents[conv.channel];
  const int64_t tile_rows = (op.extents[conv.row] + size - 1) / size;
  const int64_t tile_columns = (op.extents[conv.column] + size - 1) / size;
  const int64_t blocks = (tile_rows + rows - 1) / rows;
  const ScalarNode& x = op.body->args[0]->tensor == conv.input ? *op.body->args[0]
                                                               : *op.body->args[1];
  const ScalarNode& w = op.body->args[0]->tensor == conv.input ? *op.body->args[1]
                                                               : *op.body->args[0];

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
      t);
  program.tensors.push_back(std::move(u));
  const auto u_id = static_cast<int>(program.tensors.size()) - 1;
  const int v_id = local("winograd_input", channels);
  const int m_id = local("winograd_product", outputs);

  const size_t shared = outer.size();
  const auto begin = [&](const char* what) {
    Op part;
    part.label = op.label;
    part.extents = outer;
    part.group = group;
    part.group_shared = shared;
    (void)what;
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
  Op first = begin("input");
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
      line.push_back(Scalar::read_or(ElementType::kF32, conv.input, indices, number(0)));
    }
    d.push_back(std::move(line));
  }
  const Grid v = both_ways(d, [&](const std::vector<Scalar>& line) {
    return transform_rows(t.input, t.pairs, line);
  });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      first.writes.push_back({v_id, at({Index(i * n + j), place, last}),
                              v[static_cast<size_t>(i)][static_cast<size_t>(j)]});

  // Products.
  Op second = begin("product");
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
  Op third = begin("output");
  third.extents.insert(third.extents.end(), {rows, tile_columns, outputs});
  third.outputs = third.extents.size();
  Grid m;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Scalar> line;
    for (int64_t j = 0; j < n; ++j)
      line.push_back(
          Scalar::read(ElementType::kF32, m_id, at({Index(i * n + j), place, last})));
    m.push_back(std::move(line));
  }
  const Grid y = both_ways(m, [&](const std::vector<Scalar>& line) {
    return transform_columns(t.output, t.pairs, line);
  });
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
