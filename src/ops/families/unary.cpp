// Functions of one number: y[i..] = f(x[i..]).
#include "ops/elementwise.h"
#include "ops/table.h"

namespace hone {
namespace {

struct UnaryRow {
  const char* name;
  int since;
  ElementClass takes;
  const char* doc;
  Scalar (*body)(const Scalar& x);
};

template <Fn kFn>
Scalar call(const Scalar& x) {
  return apply(kFn, x);
}

constexpr ElementClass kFloat = ElementClass::kFloat;
constexpr ElementClass kNumber = ElementClass::kNumber;

const UnaryRow kRows[] = {
    {"Abs", 1, kNumber, "Absolute value.", call<Fn::kAbs>},
    {"Neg", 1, ElementClass::kSigned, "Negation.", call<Fn::kNeg>},
    {"Exp", 1, kFloat, "Exponential.", call<Fn::kExp>},
    {"Log", 1, kFloat, "Natural logarithm.", call<Fn::kLog>},
    {"Sqrt", 1, kFloat, "Square root.", call<Fn::kSqrt>},
    {"Erf", 9, kFloat, "Error function.", call<Fn::kErf>},
    {"Sin", 7, kFloat, "Sine.", call<Fn::kSin>},
    {"Cos", 7, kFloat, "Cosine.", call<Fn::kCos>},
    {"Tan", 7, kFloat, "Tangent.", call<Fn::kTan>},
    {"Asin", 7, kFloat, "Inverse sine.", call<Fn::kAsin>},
    {"Acos", 7, kFloat, "Inverse cosine.", call<Fn::kAcos>},
    {"Atan", 7, kFloat, "Inverse tangent.", call<Fn::kAtan>},
    {"Sinh", 9, kFloat, "Hyperbolic sine.", call<Fn::kSinh>},
    {"Cosh", 9, kFloat, "Hyperbolic cosine.", call<Fn::kCosh>},
    {"Tanh", 1, kFloat, "Hyperbolic tangent.", call<Fn::kTanh>},
    {"Asinh", 9, kFloat, "Inverse hyperbolic sine.", call<Fn::kAsinh>},
    {"Acosh", 9, kFloat, "Inverse hyperbolic cosine.", call<Fn::kAcosh>},
    {"Atanh", 9, kFloat, "Inverse hyperbolic tangent.", call<Fn::kAtanh>},
    {"Floor", 1, kFloat, "The greatest integer that is not greater.", call<Fn::kFloor>},
    {"Ceil", 1, kFloat, "The least integer that is not less.", call<Fn::kCeil>},
    {"Round", 11, kFloat, "The nearest integer, the even one of two.", call<Fn::kRound>},
    {"Sign", 9, kNumber, "-1, 0 or 1.", call<Fn::kSign>},
    {"Reciprocal", 1, kFloat, "1 / x.", [](const Scalar& x) { return Literal(1) / x; }},
    {"Not", 1, ElementClass::kBool, "Logical negation.", call<Fn::kNot>},
    {"BitwiseNot", 18, ElementClass::kInteger, "Negation of each bit.", call<Fn::kBitNot>},
    {"IsNaN", 9, ElementClass::kAnyFloat, "Whether an element is not a number.", call<Fn::kIsNan>},
};

std::string example_of(const UnaryRow& row) {
  const char* type = row.takes == ElementClass::kBool      ? "bool"
                     : row.takes == ElementClass::kInteger ? "i32"
                                                           : "f32";
  return std::string(row.name) + "(x: " + type + "[2, 3])";
}

Scalar is_infinite(const OpContext& c, const Scalar& x) {
  const bool negative = c.int_attribute("detect_negative", 1) != 0;
  const bool positive = c.int_attribute("detect_positive", 1) != 0;
  const Scalar infinite = apply(Fn::kIsInf, x);
  if (negative && positive) return infinite;
  if (negative) return logical_and(infinite, less(x, 0));
  if (positive) return logical_and(infinite, less(number(x, 0), x));
  return Scalar::literal(ElementType::kBool, 0);
}

}  // namespace

void register_unary(OperatorTable& table) {
  for (const UnaryRow& row : kRows) {
    table.add({.name = row.name,
               .since = row.since,
               .doc = row.doc,
               .inputs = "x",
               .define =
                   [takes = row.takes, body = row.body](OpContext& c) {
                     require_class(c, 0, takes);
                     return elementwise(c, 1, [&](const auto& x) { return body(x[0]); });
                   },
               .example = example_of(row)});
  }
  table.add({.name = "IsInf",
             .since = 10,
             .doc = "Whether an element is infinite; the attributes name the signs that count.",
             .inputs = "x",
             .attributes = "detect_negative: int = 1, detect_positive: int = 1",
             .define =
                 [](OpContext& c) {
                   require_class(c, 0, ElementClass::kAnyFloat);
                   return elementwise(c, 1, [&](const auto& x) { return is_infinite(c, x[0]); });
                 },
             .example = "IsInf(x: f32[2, 3]) {detect_positive = 0}"});
  table.add({.name = "Identity",
             .doc = "The operand itself, of any type.",
             .inputs = "x",
             .define =
                 [](OpContext& c) {
                   require_class(c, 0, ElementClass::kAny);
                   Builder b;
                   return b.finish({c.declare(b, {"x"})[0]});
                 },
             .example = "Identity(x: f32[2, 3])"});
}

}  // namespace hone
