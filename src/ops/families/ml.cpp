// The simple operators of the domain ai.onnx.ml.
#include <bit>
#include <cmath>
#include <map>

#include "ops/element_classes.h"
#include "ops/indexing.h"
#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

// y = 1 where x > threshold, else 0
TensorExpr define_binarizer(OpContext& c) {
  require_class(c, 0, ElementClass::kNumber);
  Builder b;
  const Operand x = c.declare(b, {"x"})[0];
  const Axes axes = b.axes("i", x.shape());
  const Scalar threshold = Scalar::literal(x.type(), c.literal_attribute("threshold", 0));
  return b.finish({b.map(
      "y", axes, select(less(threshold, x.at(axes)), Scalar::literal(x.type(), 1), Literal(0)))});
}

// y[o.., j] = x[o.., indices[j]]; a vector gives a matrix of one row
TensorExpr define_array_feature_extractor(OpContext& c) {
  require_class(c, 0, ElementClass::kComputable);
  Builder b;
  const auto x = c.declare(b, {"x", "indices"});
  if (x[0].rank() < 1) throw_invalid("the input needs a dimension or more");
  if (!is_integer(x[1].type())) throw_invalid("indices must be integers");
  Shape shape = x[0].shape();
  shape.back() = element_count(x[1].shape());
  if (x[0].rank() == 1) shape.insert(shape.begin(), Dim(1));
  const Axes axes = b.axes("i", shape);
  const auto position = reshape_indices(x[1].shape(), {shape.back()}, {Index(axes.back())});
  std::vector<Index> at(axes.end() - x[0].rank(), axes.end());
  at.back() = Index::value(Scalar::cast(ElementType::kI64, x[1].at(position)));
  return b.finish({b.map("y", axes, x[0].at(at))});
}

// One side of LabelEncoder's table: the attribute keys_* or values_*.
Buffer labels(const OpContext& c, const std::string& side) {
  if (const Buffer* tensor = c.tensor_attribute(side + "_tensor")) return *tensor;
  if (const auto at = c.attributes().find(side + "_strings"); at != c.attributes().end())
    if (const auto* texts = std::get_if<std::vector<std::string>>(&at->second))
      return Buffer::of_strings({static_cast<int64_t>(texts->size())}, *texts);
  if (c.has_attribute(side + "_int64s"))
    return Buffer::of_ints(c.ints_attribute(side + "_int64s", {}));
  if (c.has_attribute(side + "_floats")) {
    const std::vector<float> values = c.floats_attribute(side + "_floats", {});
    return Buffer::of<float>(ElementType::kF32, {static_cast<int64_t>(values.size())}, values);
  }
  throw_unsupported("a table without " + side + "_*");
}

Buffer default_label(const OpContext& c, ElementType type) {
  if (const Buffer* tensor = c.tensor_attribute("default_tensor")) return *tensor;
  if (type == ElementType::kString)
    return Buffer::of_strings({1}, {c.string_attribute("default_string", "_Unused")});
  if (type == ElementType::kI64) return Buffer::of_ints({c.int_attribute("default_int64", -1)});
  return of_doubles(type, {1}, {c.float_attribute("default_float", -0.0F)});
}

// Equal keys give equal texts; every NaN is the same key.
std::string key_of(const Buffer& x, int64_t i) {
  if (x.type() == ElementType::kString) return x.strings()[static_cast<size_t>(i)];
  if (!is_float(x.type())) return std::to_string(x.as_int(i));
  const double value = x.as_double(i) + 0.0;
  return std::isnan(value) ? "nan" : std::to_string(std::bit_cast<uint64_t>(value));
}

std::vector<Buffer> run_label_encoder(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = input(inputs, 0);
  const Buffer keys = labels(c, "keys");
  const Buffer values = labels(c, "values");
  if (keys.count() != values.count()) throw_invalid("keys and values differ in number");
  if (keys.type() != x.type()) throw_invalid("the keys' type is not that of the input");
  const Buffer otherwise = default_label(c, values.type());
  if (otherwise.type() != values.type() || otherwise.count() != 1)
    throw_invalid("the default must be one element of the values' type");
  std::map<std::string, int64_t> table;
  for (int64_t i = 0; i < keys.count(); ++i) table[key_of(keys, i)] = i;

  // Found elements come from the values, the others from the default.
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto at = table.find(key_of(x, i));
    found.push_back(at == table.end() ? -1 : at->second);
  }
  if (values.type() == ElementType::kString) {
    std::vector<std::string> texts;
    for (const int64_t i : found)
      texts.push_back(i < 0 ? otherwise.strings()[0] : values.strings()[static_cast<size_t>(i)]);
    return {Buffer::of_strings(x.dims(), std::move(texts))};
  }
  if (is_integer(values.type())) {
    std::vector<int64_t> numbers;
    for (const int64_t i : found) numbers.push_back(i < 0 ? otherwise.as_int(0) : values.as_int(i));
    return {convert(Buffer::of<int64_t>(ElementType::kI64, x.dims(), numbers), values.type())};
  }
  std::vector<double> numbers;
  for (const int64_t i : found)
    numbers.push_back(i < 0 ? otherwise.as_double(0) : values.as_double(i));
  return {of_doubles(values.type(), x.dims(), numbers)};
}

}  // namespace

void register_ml(OperatorTable& table) {
  table.add({.name = "Binarizer",
             .domain = "ai.onnx.ml",
             .doc = "Ones above a threshold, zeros else.",
             .inputs = "x",
             .attributes = "threshold: float = 0",
             .define = define_binarizer,
             .example = "Binarizer(x: f32[2, 3]) {threshold = 0.5}"});
  table.add({.name = "ArrayFeatureExtractor",
             .domain = "ai.onnx.ml",
             .doc = "The elements at given positions of the last axis.",
             .inputs = "x, indices",
             .define = define_array_feature_extractor,
             .example = "ArrayFeatureExtractor(x: f32[2, 5], indices: i64[2] = [4, 0])"});
  table.add(
      {.name = "LabelEncoder",
       .domain = "ai.onnx.ml",
       .since = 2,
       .doc = "Replaces each element by its value in a table, or by a default.",
       .inputs = "x",
       .attributes = "keys_strings: strings, keys_int64s: ints, keys_floats: floats, "
                     "keys_tensor: tensor, values_strings: strings, values_int64s: ints, "
                     "values_floats: floats, values_tensor: tensor, "
                     "default_string: string, default_int64: int, default_float: float, "
                     "default_tensor: tensor",
       .opaque_reason = "a table of keys has no expression form",
       .kernel = run_label_encoder,
       .infer =
           [](OpContext& c) {
             return std::vector<TensorType>{{labels(c, "values").type(), c.shape(0)}};
           },
       .example = "LabelEncoder(x: i64[3]) {keys_int64s = [1, 2], values_floats = [0.5, 2.0]}"});
}

}  // namespace hone
