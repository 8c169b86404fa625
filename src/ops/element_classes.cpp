#include "ops/element_classes.h"

#include <string>

namespace hone {
namespace {

std::string_view describe(ElementClass which) {
  switch (which) {
    case ElementClass::kAny:
      return "any type";
    case ElementClass::kComputable:
      return "numbers or bool";
    case ElementClass::kNumber:
      return "numbers";
    case ElementClass::kSigned:
      return "signed numbers";
    case ElementClass::kFloat:
      return "floating-point numbers of 16 bits and more";
    case ElementClass::kAnyFloat:
      return "floating-point numbers";
    case ElementClass::kInteger:
      return "integers";
    case ElementClass::kBool:
      return "bool";
  }
  return "";
}

bool is_wide_float(ElementType t) { return t >= ElementType::kF32 && t <= ElementType::kBF16; }
bool is_wide_signed(ElementType t) { return t >= ElementType::kI8 && t <= ElementType::kI64; }
bool is_wide_integer(ElementType t) { return t >= ElementType::kI8 && t <= ElementType::kU64; }
bool is_computable(ElementType t) {
  return is_float(t) || is_integer(t) || t == ElementType::kBool;
}

}  // namespace

bool belongs(ElementType type, ElementClass to) {
  switch (to) {
    case ElementClass::kAny:
      return true;
    case ElementClass::kComputable:
      return is_computable(type);
    case ElementClass::kNumber:
      return is_wide_float(type) || is_wide_integer(type);
    case ElementClass::kSigned:
      return is_wide_float(type) || is_wide_signed(type);
    case ElementClass::kFloat:
      return is_wide_float(type);
    case ElementClass::kAnyFloat:
      return is_float(type);
    case ElementClass::kInteger:
      return is_wide_integer(type);
    case ElementClass::kBool:
      return type == ElementType::kBool;
  }
  return false;
}

void require_class(const OpContext& c, size_t i, ElementClass wanted) {
  const ElementType type = c.type(i);
  if (belongs(type, wanted)) return;
  const std::string reason = "operand " + std::to_string(i) + " of " + std::string(c.op()) +
                             " has elements of type " + std::string(name_of(type));
  if (!is_computable(type)) throw_unsupported(reason, "hone computes with numbers and bool");
  throw_invalid(reason + ", but it takes " + std::string(describe(wanted)),
                "insert a Cast before the node");
}

void require_same_types(const OpContext& c) {
  for (size_t i = 1; i < c.input_count(); ++i) {
    if (!c.has(i) || c.type(i) == c.type(0)) continue;
    throw_invalid("operands 0 and " + std::to_string(i) + " of " + std::string(c.op()) +
                      " have different types, " + std::string(name_of(c.type(0))) + " and " +
                      std::string(name_of(c.type(i))),
                  "insert a Cast before the node");
  }
}

void require_rank(const OpContext& c, size_t i, int at_least) {
  if (c.rank(i) >= at_least) return;
  throw_invalid("operand " + std::to_string(i) + " of " + std::string(c.op()) + " has shape " +
                to_string(c.shape(i)) + ", but needs at least " + std::to_string(at_least) +
                " dimensions");
}

ElementType accumulator_of(ElementType type) {
  return is_float(type) && type != ElementType::kF64 ? ElementType::kF32 : type;
}

Scalar number(ElementType type, const Dim& value) {
  if (value.is_const()) return Scalar::literal(type, Literal(value.value()));
  return Scalar::cast(type, Scalar::index(Index(value)));
}

}  // namespace hone
