#include "ops/arithmetic.h"

#include <algorithm>

namespace hone {

Scalar as_number(ElementType type, const Index& value) {
  const Scalar index = Scalar::index(value);
  if (index.is_literal() && is_float(type)) return Scalar::literal(type, index->literal);
  return Scalar::cast(type, index);
}

Literal lowest_of(ElementType type) {
  if (is_float(type)) return Literal::infinity(true);
  if (is_unsigned_int(type) || type == ElementType::kBool) return {0};
  return {-(int64_t{1} << (bits_of(type) - 2)) * 2};
}

void require_type(const OpContext& c, size_t i, std::string_view what,
                  const std::vector<ElementType>& types) {
  const ElementType type = c.type(i);
  if (std::find(types.begin(), types.end(), type) != types.end()) return;
  std::string wanted;
  for (const ElementType t : types)
    wanted += (wanted.empty() ? "" : ", ") + std::string(name_of(t));
  throw_invalid(std::string(what) + " is of type " + std::string(name_of(type)),
                "allowed are " + wanted);
}

void require_axes(const OpContext& c, size_t i, std::string_view what, int rank) {
  if (c.rank(i) != rank)
    throw_invalid(std::string(what) + " has " + std::to_string(c.rank(i)) + " axes instead of " +
                  std::to_string(rank));
}

Scalar requantize(const Scalar& value, const Scalar& multiplier, const Scalar& zero_point) {
  const ElementType type = zero_point.type();
  if (type != ElementType::kU8 && type != ElementType::kI8)
    throw_unsupported("quantization to " + std::string(name_of(type)));
  const bool is_signed = type == ElementType::kI8;
  const Scalar scaled =
      Scalar::cast(ElementType::kF64, value) * Scalar::cast(ElementType::kF64, multiplier) +
      Scalar::cast(ElementType::kF64, zero_point);
  const Scalar rounded = Scalar::apply(Fn::kRound, {scaled});
  return Scalar::cast(
      type, min(max(rounded, Literal(is_signed ? -128 : 0)), Literal(is_signed ? 127 : 255)));
}

}  // namespace hone
