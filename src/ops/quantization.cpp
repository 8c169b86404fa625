#include "ops/quantization.h"

#include "ops/elementwise.h"

namespace hone {

Granularity::Granularity(const OpContext& c, size_t x, size_t scale) {
  const int rank = c.rank(scale);
  const std::vector<Dim> block = c.dims_attribute("block_size", {Dim(0)});
  if (block.size() != 1) throw_invalid("block_size must be one integer");
  if (rank == 0 || (rank == 1 && c.dim(scale, 0).is(1))) {
    kind_ = Kind::kTensor;
    return;
  }
  axis_ = c.axis(c.int_attribute("axis", 1), c.rank(x));
  if (block[0].is(0)) {
    kind_ = Kind::kAxis;
    if (rank != 1)
      throw_invalid("a scale of shape " + to_string(c.shape(scale)) +
                    " is neither a scalar nor a vector, and block_size is not given");
    return;
  }
  kind_ = Kind::kBlock;
  block_ = block[0];
  if (block_.is_const() && block_.value() < 0) throw_invalid("block_size is negative");
  if (rank != c.rank(x)) throw_invalid("a blocked scale must have the rank of x");
}

void Granularity::require_shapes(Builder& b, const OpContext& c, size_t x, size_t parameter) const {
  const Shape& have = c.shape(parameter);
  const auto wrong = [&] {
    throw_invalid("operand " + std::to_string(parameter) + " of shape " + to_string(have) +
                  " does not fit the shape of the scale");
  };
  const auto axis = static_cast<size_t>(axis_);
  switch (kind_) {
    case Kind::kTensor:
      if (have.size() > 1 || (have.size() == 1 && !have[0].is(1))) wrong();
      return;
    case Kind::kAxis:
      if (have.size() != 1) wrong();
      return b.require_equal(have[0], c.shape(x)[axis], "extents of the scale and the axis");
    case Kind::kBlock:
      if (have.size() != c.shape(x).size()) wrong();
      for (size_t i = 0; i < have.size(); ++i) {
        const Dim& whole = c.shape(x)[i];
        b.require_equal(have[i], i == axis ? ceil_div(whole, block_) : whole,
                        "extents of the scale and the blocks");
      }
  }
}

Scalar Granularity::read(const Operand& parameter, const Axes& axes) const {
  if (kind_ == Kind::kTensor) return read_single(parameter);
  const AxisId along = axes[static_cast<size_t>(axis_)];
  if (kind_ == Kind::kAxis) return parameter(along);
  std::vector<Index> position(axes.begin(), axes.end());
  position[static_cast<size_t>(axis_)] = floor_div(Index(along), block_);
  return parameter.at(std::move(position));
}

Scalar quantize_to(ElementType type, const Scalar& value, const Scalar& zero_point, bool saturate) {
  const bool integer = is_integer(type);
  Scalar result = integer ? apply(Fn::kRound, value) : value;
  if (zero_point.valid()) result = result + Scalar::cast(value.type(), zero_point);
  if (!integer) return Scalar::cast(type, result, saturate);
  const int bits = bits_of(type);
  const int64_t half = int64_t{1} << (bits - 1);
  const bool has_sign = is_signed_int(type);
  return Scalar::cast(type,
                      clamp(result, has_sign ? -half : 0, has_sign ? half - 1 : 2 * half - 1));
}

}  // namespace hone
