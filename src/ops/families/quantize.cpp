// From numbers to narrow integers and floats, and back.
#include "ops/element_classes.h"
#include "ops/elementwise.h"
#include "ops/quantization.h"
#include "ops/table.h"

namespace hone {
namespace {

bool is_quantised(ElementType t) {
  return (is_integer(t) && bits_of(t) <= 16) ||
         (is_float(t) && bits_of(t) <= 8 && t != ElementType::kF8E8M0);
}

// `output_dtype`, or the type of operand i, or `otherwise`.
ElementType output_type(const OpContext& c, size_t i, ElementType otherwise) {
  const ElementType named = c.int_attribute("output_dtype", 0) == 0
                                ? ElementType::kInvalid
                                : c.type_attribute("output_dtype", ElementType::kInvalid);
  return named != ElementType::kInvalid ? named : c.has(i) ? c.type(i) : otherwise;
}

// The type of x / scale: `precision`, or the operands' own, or a type that holds both.
ElementType division_type(const OpContext& c) {
  if (c.int_attribute("precision", 0) != 0) {
    const ElementType named = c.type_attribute("precision", ElementType::kF32);
    if (!belongs(named, ElementClass::kFloat)) throw_invalid("precision is no floating type");
    return named;
  }
  if (is_integer(c.type(1))) return ElementType::kF64;
  return c.type(0) == c.type(1) && c.type(0) != ElementType::kF8E8M0 ? c.type(0)
                                                                     : ElementType::kF32;
}

// y = round(x / scale) + zero_point, clamped to the type's range
TensorExpr define_quantize(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  require_class(c, 1, ElementClass::kComputable);
  const ElementType type = output_type(c, 2, ElementType::kU8);
  if (!is_quantised(type)) {
    throw_invalid("QuantizeLinear gives no elements of type " + std::string(name_of(type)));
  }
  if (c.has(2) && c.type(2) != type) throw_invalid("output_dtype is not the zero point's type");
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "zero_point"});
  const Granularity grain(c, 0, 1);
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i].valid()) grain.require_shapes(b, c, 0, i);
  }
  const Axes at = b.axes("i", c.shape(0));
  const ElementType work = division_type(c);
  const Scalar quotient =
      Scalar::cast(work, in[0].at(at)) / Scalar::cast(work, grain.read(in[1], at));
  const Scalar zero_point = c.has(2) ? grain.read(in[2], at) : Scalar();
  const bool saturate = c.int_attribute("saturate", 1) != 0;
  const Scalar wide = Scalar::cast(accumulator_of(work), quotient);
  return b.finish({b.map("y", at, quantize_to(type, wide, zero_point, saturate))});
}

// y = (x - zero_point) scale, in f32, as the type of the scale
TensorExpr define_dequantize(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  require_class(c, 1, ElementClass::kAnyFloat);
  const ElementType type = output_type(c, 1, ElementType::kF32);
  if (!belongs(type, ElementClass::kFloat)) {
    throw_invalid("DequantizeLinear gives no elements of type " + std::string(name_of(type)));
  }
  if (c.has(2) && c.type(2) != c.type(0)) throw_invalid("the zero point has another type than x");
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "scale", "zero_point"});
  const Granularity grain(c, 0, 1);
  for (size_t i = 1; i < in.size(); ++i) {
    if (in[i].valid()) grain.require_shapes(b, c, 0, i);
  }
  const Axes at = b.axes("i", c.shape(0));
  const ElementType work = type == ElementType::kF64 ? type : ElementType::kF32;
  Scalar y = Scalar::cast(work, in[0].at(at));
  if (c.has(2)) y = y - Scalar::cast(work, grain.read(in[2], at));
  y = y * Scalar::cast(work, grain.read(in[1], at));
  return b.finish({b.map("y", at, Scalar::cast(type, y))});
}

// high = max(0, max x), low = min(0, min x)
// scale = (high - low) / 255, or 1 / 255 where x is all 0
// zero_point = round(-low / scale), y = round(x / scale) + zero_point, both clamped to [0, 255]
TensorExpr define_dynamic_quantize(OpContext& c) {
  require_class(c, 0, ElementClass::kFloat);
  Builder b;
  const Operand in = c.declare(b, {"x"})[0];
  const Axes at = b.axes("i", c.shape(0));
  const Scalar x = in.at(at);
  const Scalar high = max(b.reduce("high", {}, Combiner::kMax, at, x).at(Axes{}), 0);
  const Scalar low = min(b.reduce("low", {}, Combiner::kMin, at, x).at(Axes{}), 0);
  const Scalar width = select(equal(high, low), 1, high - low);
  const Operand scale = b.map("scale", {}, width / 255);
  const Scalar s = scale.at(Axes{});
  const Scalar start = apply(Fn::kRound, clamp(-low / s, 0, 255));
  const Operand zero_point = b.map("zero_point", {}, Scalar::cast(ElementType::kU8, start));
  const Operand y = b.map("y", at, quantize_to(ElementType::kU8, x / s, zero_point.at(Axes{})));
  return b.finish({y, scale, zero_point});
}

}  // namespace

void register_quantize(OperatorTable& table) {
  table.add({.name = "QuantizeLinear",
             .since = 10,
             .doc = "round(x / scale) + zero_point, clamped to the range of the result's type.",
             .inputs = "x, scale, zero_point?",
             .attributes = "axis: int = 1, block_size: int = 0, output_dtype: type = 0, "
                           "precision: type = 0, saturate: int = 1",
             .define = define_quantize,
             .example = "QuantizeLinear(x: f32[2, 3], scale: f32[], zero_point: i8[])"});
  table.add({.name = "DequantizeLinear",
             .since = 10,
             .doc = "(x - zero_point) scale.",
             .inputs = "x, scale, zero_point?",
             .attributes = "axis: int = 1, block_size: int = 0, output_dtype: type = 0",
             .define = define_dequantize,
             .example = "DequantizeLinear(x: i8[2, 3], scale: f32[3], zero_point: i8[3])"});
  table.add({.name = "DynamicQuantizeLinear",
             .since = 11,
             .doc = "x as u8 with the scale and zero point that cover its range.",
             .inputs = "x",
             .outputs = "y, scale, zero_point",
             .define = define_dynamic_quantize,
             .example = "DynamicQuantizeLinear(x: f32[2, 3])"});
}

}  // namespace hone
