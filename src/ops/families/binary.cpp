// Functions of two or more tensors, element by element, broadcast: arithmetic, order, logic, bits.
#include "ops/elementwise.h"
#include "ops/table.h"

namespace hone {
namespace {

struct BinaryRow {
  const char* name;
  int since;
  ElementClass takes;
  const char* doc;
  Scalar (*body)(const Scalar& a, const Scalar& b);
};

template <Fn kFn>
Scalar call(const Scalar& a, const Scalar& b) {
  return Scalar::apply(kFn, {a, b});
}
template <Fn kFn>
Scalar call_swapped(const Scalar& a, const Scalar& b) {
  return Scalar::apply(kFn, {b, a});
}

constexpr ElementClass kNumber = ElementClass::kNumber;
constexpr ElementClass kBool = ElementClass::kBool;
constexpr ElementClass kInteger = ElementClass::kInteger;

const BinaryRow kRows[] = {
    {"Add", 1, kNumber, "a + b; integers wrap.", call<Fn::kAdd>},
    {"Sub", 1, kNumber, "a - b; integers wrap.", call<Fn::kSub>},
    {"Mul", 1, kNumber, "a b; integers wrap.", call<Fn::kMul>},
    {"Div", 1, kNumber, "a / b; integers are cut toward zero.", call<Fn::kDiv>},
    {"Less", 1, kNumber, "Whether a < b.", call<Fn::kLt>},
    {"LessOrEqual", 12, kNumber, "Whether a <= b.", call<Fn::kLe>},
    {"Greater", 1, kNumber, "Whether a > b.", call_swapped<Fn::kLt>},
    {"GreaterOrEqual", 12, kNumber, "Whether a >= b.", call_swapped<Fn::kLe>},
    {"And", 1, kBool, "Whether both hold.", call<Fn::kAnd>},
    {"Or", 1, kBool, "Whether one or both hold.", call<Fn::kOr>},
    {"Xor", 1, kBool, "Whether exactly one holds.", call<Fn::kXor>},
    {"BitwiseAnd", 18, kInteger, "The bits set in both.", call<Fn::kBitAnd>},
    {"BitwiseOr", 18, kInteger, "The bits set in one or both.", call<Fn::kBitOr>},
    {"BitwiseXor", 18, kInteger, "The bits set in exactly one.", call<Fn::kBitXor>},
};

struct VariadicRow {
  const char* name;
  ElementClass takes;
  const char* doc;
  Scalar (*join)(const Scalar& a, const Scalar& b);
  bool average;
};

const VariadicRow kVariadicRows[] = {
    {"Sum", ElementClass::kFloat, "The sum of all operands.", call<Fn::kAdd>, false},
    {"Mean", ElementClass::kFloat, "The mean of all operands.", call<Fn::kAdd>, true},
    {"Max", kNumber, "The greatest of all operands.", call<Fn::kMax>, false},
    {"Min", kNumber, "The least of all operands.", call<Fn::kMin>, false},
};

TensorExpr define_variadic(OpContext& c, const VariadicRow& row) {
  if (c.input_count() == 0) throw_invalid(std::string(row.name) + " needs at least one operand");
  require_class(c, 0, row.takes);
  require_same_types(c);
  return elementwise(c, c.input_count(), [&](const std::vector<Scalar>& xs) {
    Scalar joined = xs[0];
    for (size_t i = 1; i < xs.size(); ++i) joined = row.join(joined, xs[i]);
    return row.average ? joined / Literal(static_cast<int64_t>(xs.size())) : joined;
  });
}

// The result has the base's type. A fractional power of an integer is computed in f64 and cut; an
// integer power of an integer wraps.
Scalar power(const Scalar& base, const Scalar& exponent) {
  const ElementType type = base.type();
  if (exponent.type() == type) return pow(base, exponent);
  if (is_float(type)) return pow(base, Scalar::cast(type, exponent));
  const ElementType wide = is_float(exponent.type()) ? ElementType::kF64 : ElementType::kI64;
  return Scalar::cast(type, pow(Scalar::cast(wide, base), Scalar::cast(wide, exponent)));
}

// Amounts outside [0, bits) shift every bit out: 0 remains, or the sign to the right.
Scalar shift(const OpContext& c, const Scalar& x, const Scalar& amount) {
  const std::string direction = c.string_attribute("direction", "");
  const int bits = bits_of(x.type());
  const Scalar inside = logical_and(less_equal(number(amount, 0), amount), less(amount, bits));
  const Scalar safe = select(inside, amount, 0);
  if (direction == "LEFT") {
    return select(inside, Scalar::apply(Fn::kShiftLeft, {x, safe}), 0);
  }
  if (direction != "RIGHT") {
    throw_invalid("direction = \"" + direction + "\" is neither \"LEFT\" nor \"RIGHT\"");
  }
  const Scalar sign = is_signed_int(x.type()) ? select(less(x, 0), number(x, -1), 0) : number(x, 0);
  return select(inside, Scalar::apply(Fn::kShiftRight, {x, safe}), sign);
}

std::string example_of(const BinaryRow& row) {
  const std::string type = row.takes == kBool ? "bool" : row.takes == kInteger ? "i32" : "f32";
  return std::string(row.name) + "(a: " + type + "[2, 3], b: " + type + "[3])";
}

TensorExpr define_pow(OpContext& c) {
  require_class(c, 0, kNumber);
  require_class(c, 1, kNumber);
  return elementwise(c, 2, [](const auto& x) { return power(x[0], x[1]); });
}

TensorExpr define_mod(OpContext& c) {
  require_class(c, 0, kNumber);
  require_same_types(c);
  const Fn fn = c.int_attribute("fmod", 0) != 0 ? Fn::kFmod : Fn::kMod;
  return elementwise(c, 2, [&](const auto& x) { return Scalar::apply(fn, {x[0], x[1]}); });
}

TensorExpr define_shift(OpContext& c) {
  require_class(c, 0, kInteger);
  require_same_types(c);
  return elementwise(c, 2, [&](const auto& x) { return shift(c, x[0], x[1]); });
}

TensorExpr define_equal(OpContext& c) {
  require_same_types(c);
  require_class(c, 0, ElementClass::kComputable);
  return elementwise(c, 2, [](const auto& x) { return equal(x[0], x[1]); });
}

TensorType infer_equal(const OpContext& c) {
  require_same_types(c);
  return {ElementType::kBool, broadcast({&c.shape(0), &c.shape(1)})};
}

// Strings have no expression form: they are compared here.
std::vector<Buffer> run_equal(const OpContext& c, std::span<const Buffer> in) {
  if (c.type(0) != ElementType::kString) throw_unsupported("Equal of complex numbers");
  const std::vector<int64_t> dims = to_ints(*infer_equal(c).shape).value();
  Buffer result = Buffer::allocate(ElementType::kBool, dims);
  const std::span<uint8_t> out = result.as_mutable<uint8_t>();
  // Flat position of an output element in an operand that is broadcast.
  const auto position = [&](const Buffer& x, int64_t flat) {
    int64_t at = 0;
    int64_t stride = 1;
    for (size_t k = 0; k < dims.size(); ++k) {
      const int64_t extent = dims[dims.size() - 1 - k];
      if (k < x.dims().size()) {
        const int64_t own = x.dims()[x.dims().size() - 1 - k];
        at += own == 1 ? 0 : flat % extent * stride;
        stride *= own;
      }
      flat /= extent;
    }
    return static_cast<size_t>(at);
  };
  for (int64_t i = 0; i < result.count(); ++i) {
    out[static_cast<size_t>(i)] =
        in[0].strings()[position(in[0], i)] == in[1].strings()[position(in[1], i)] ? 1 : 0;
  }
  return {result};
}

TensorExpr define_where(OpContext& c) {
  require_class(c, 0, kBool);
  require_class(c, 1, ElementClass::kComputable);
  if (c.type(1) != c.type(2)) throw_invalid("the two branches of Where have different types");
  return elementwise(c, 3, [](const auto& x) { return select(x[0], x[1], x[2]); });
}

}  // namespace

void register_binary(OperatorTable& table) {
  for (const BinaryRow& row : kRows) {
    table.add({.name = row.name,
               .since = row.since,
               .doc = row.doc,
               .inputs = "a, b",
               .define =
                   [takes = row.takes, body = row.body](OpContext& c) {
                     require_class(c, 0, takes);
                     require_same_types(c);
                     return elementwise(c, 2, [&](const auto& x) { return body(x[0], x[1]); });
                   },
               .example = example_of(row)});
  }
  for (const VariadicRow& row : kVariadicRows) {
    table.add({.name = row.name,
               .doc = row.doc,
               .inputs = "xs...",
               .define = [row](OpContext& c) { return define_variadic(c, row); },
               .example = std::string(row.name) + "(a: f32[2, 3], b: f32[3], c: f32[2, 1])"});
  }
  table.add({.name = "Equal",
             .doc = "Whether a = b.",
             .inputs = "a, b",
             .define = define_equal,
             .kernel = run_equal,
             .infer = [](OpContext& c) { return std::vector<TensorType>{infer_equal(c)}; },
             .example = "Equal(a: i32[2, 3], b: i32[3])"});
  table.add({.name = "Pow",
             .doc = "a to the power b, of the type of a.",
             .inputs = "a, b",
             .define = define_pow,
             .example = "Pow(a: f32[2, 3], b: i64[3])"});
  table.add({.name = "Mod",
             .since = 10,
             .doc = "The remainder of a / b, with the sign of b, or of a if fmod.",
             .inputs = "a, b",
             .attributes = "fmod: int = 0",
             .define = define_mod,
             .example = "Mod(a: i32[2, 3], b: i32[3])"});
  table.add({.name = "BitShift",
             .since = 11,
             .doc = "The bits of a moved b places to the LEFT or RIGHT.",
             .inputs = "a, b",
             .attributes = "direction: string",
             .define = define_shift,
             .example = "BitShift(a: u8[3], b: u8[3]) {direction = \"LEFT\"}"});
  table.add({.name = "Where",
             .since = 9,
             .doc = "a where the condition holds, else b.",
             .inputs = "condition, a, b",
             .define = define_where,
             .example = "Where(condition: bool[2, 3], a: f32[2, 3], b: f32[])"});
}

}  // namespace hone
