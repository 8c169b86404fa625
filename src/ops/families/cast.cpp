// Changes of type, and Dropout, which does nothing outside training.
#include <cstring>

#include "ops/elementwise.h"
#include "ops/table.h"

namespace hone {
namespace {

bool is_float8(ElementType type) {
  return type >= ElementType::kF8E4M3FN && type <= ElementType::kF8E8M0;
}

TensorExpr cast_to(OpContext& c, ElementType to) {
  require_class(c, 0, ElementClass::kComputable);
  if (!belongs(to, ElementClass::kComputable)) {
    throw_unsupported("Cast to " + std::string(name_of(to)), "hone computes with numbers and bool");
  }
  const bool saturate = !is_float8(to) || c.int_attribute("saturate", 1) != 0;
  const std::string rounding = c.string_attribute("round_mode", "up");
  if (to == ElementType::kF8E8M0 && rounding != "up") {
    throw_unsupported("Cast to f8e8m0 with round_mode = \"" + rounding + "\"");
  }
  Builder b;
  const std::vector<Operand> in = c.declare(b, {"x", "like"});
  const Axes axes = b.axes("i", c.shape(0));
  return b.finish({b.map("y", axes, Scalar::cast(to, in[0].at(axes), saturate))});
}

ElementType target_type(const OpContext& c) {
  const ElementType to = c.type_attribute("to", ElementType::kInvalid);
  if (to == ElementType::kInvalid) throw_invalid(std::string(c.op()) + " lacks the attribute `to`");
  return to;
}

ElementType bit_cast_type(const OpContext& c) {
  const ElementType to = target_type(c);
  if (c.type(0) == ElementType::kString || to == ElementType::kString ||
      bits_of(to) != bits_of(c.type(0))) {
    throw_invalid("BitCast from " + std::string(name_of(c.type(0))) + " to " +
                  std::string(name_of(to)) + ": the types differ in width");
  }
  return to;
}

std::vector<Buffer> run_bit_cast(const OpContext& c, std::span<const Buffer> in) {
  Buffer out = Buffer::allocate(bit_cast_type(c), in[0].dims());
  if (out.byte_size() > 0) std::memcpy(out.mutable_data(), in[0].data(), out.byte_size());
  return {out};
}

// Whether elements are dropped at random; needs the contents of the operands since opset 12.
bool drops(const OpContext& c) {
  if (c.opset() < 7) return c.int_attribute("is_test", 0) == 0;
  if (!c.has(2)) return false;
  const Buffer& training = c.constant(2);
  if (training.count() != 1) throw_invalid("training_mode of Dropout must be a scalar");
  if (training.as_int(0) == 0) return false;
  if (!c.has(1)) return true;
  const Buffer& ratio = c.constant(1);
  if (ratio.count() != 1) throw_invalid("ratio of Dropout must be a scalar");
  return ratio.as_double(0) != 0;
}

TensorExpr define_dropout(OpContext& c) {
  require_class(c, 0, ElementClass::kAny);
  if (drops(c)) {
    throw_unsupported("Dropout in training mode drops elements at random",
                      "export the model for inference");
  }
  Builder b;
  const Operand x = c.declare(b, {"x", "ratio", "training_mode"})[0];
  if (c.output_count() < 2) return b.finish({x});
  const ElementType mask_type = c.opset() < 10 ? x.type() : ElementType::kBool;
  return b.finish({x, b.map("mask", b.axes("i", x.shape()), Scalar::literal(mask_type, 1))});
}

}  // namespace

void register_cast(OperatorTable& table) {
  table.add({.name = "Cast",
             .doc = "Each element as the nearest number of another type; integers wrap.",
             .inputs = "x",
             .attributes = "to: type, saturate: int = 1, round_mode: string = \"up\"",
             .define = [](OpContext& c) { return cast_to(c, target_type(c)); },
             .example = "Cast(x: f32[2, 3]) {to = 6}"});
  table.add({.name = "CastLike",
             .since = 15,
             .doc = "Each element as the nearest number of the second operand's type.",
             .inputs = "x, like",
             .attributes = "saturate: int = 1, round_mode: string = \"up\"",
             .define = [](OpContext& c) { return cast_to(c, c.type(1)); },
             .example = "CastLike(x: f32[2, 3], like: f16[])"});
  table.add(
      {.name = "BitCast",
       .since = 26,
       .doc = "The bits of each element, read as another type of the same width.",
       .inputs = "x",
       .attributes = "to: type",
       .opaque_reason = "the bits of a number have no meaning in a tensor expression",
       .kernel = run_bit_cast,
       .infer =
           [](OpContext& c) { return std::vector<TensorType>{{bit_cast_type(c), c.shape(0)}}; },
       .example = "BitCast(x: f32[2, 3]) {to = 6}"});
  table.add({.name = "Dropout",
             .doc = "The operand itself (in training: with elements dropped at random).",
             .inputs = "x, ratio?, training_mode?",
             .outputs = "y, mask?",
             .attributes = "ratio: float = 0.5, seed: int",
             .define = define_dropout,
             .example = "Dropout(x: f32[2, 3])"});
}

}  // namespace hone
