#include "ops/context.h"

#include <algorithm>

#include "ops/onnx_types.h"
#include "support/error.h"

namespace hone {
namespace {

std::string input_name(std::string_view op, size_t i) {
  return "input " + std::to_string(i) + " of " + std::string(op);
}

template <typename T>
const T* attribute_as(const Attributes& attributes, const std::string& name, const char* kind) {
  const auto at = attributes.find(name);
  if (at == attributes.end()) return nullptr;
  const T* value = std::get_if<T>(&at->second);
  if (value == nullptr) throw_invalid("attribute " + name + " is not " + kind);
  return value;
}

}  // namespace

ElementType OpContext::type(size_t i) const {
  if (!has(i)) throw_invalid(input_name(op_, i) + " is missing");
  if (operands_[i].type.element == ElementType::kInvalid)
    throw_unknown("the type of " + input_name(op_, i) + " is not known");
  return operands_[i].type.element;
}

const Shape& OpContext::shape(size_t i) const {
  if (!has(i)) throw_invalid(input_name(op_, i) + " is missing");
  if (!operands_[i].type.shape)
    throw_unknown("the rank of " + input_name(op_, i) + " is not known");
  return *operands_[i].type.shape;
}

bool OpContext::is_known(size_t i) const {
  if (!has(i)) return false;
  const KnownValue& known = operands_[i].known;
  return known.dims.has_value() ||
         (!known.constant.empty_handle() && is_integer(known.constant.type()));
}

std::vector<Dim> OpContext::dims_value(size_t i) const {
  if (!has(i)) throw_invalid(input_name(op_, i) + " is missing");
  const KnownValue& known = operands_[i].known;
  if (known.dims) return *known.dims;
  std::vector<Dim> result;
  for (const int64_t value : ints_value(i)) result.emplace_back(value);
  return result;
}

std::vector<int64_t> OpContext::ints_value(size_t i) const {
  if (!has(i)) throw_invalid(input_name(op_, i) + " is missing");
  const KnownValue& known = operands_[i].known;
  if (known.constant.empty_handle()) {
    if (known.dims)
      if (auto ints = to_ints(*known.dims)) return *ints;
    throw_unknown("the contents of " + input_name(op_, i) + " are not known before a run");
  }
  if (!is_integer(known.constant.type()) && known.constant.type() != ElementType::kBool)
    throw_invalid(input_name(op_, i) + " must hold integers");
  std::vector<int64_t> result;
  for (int64_t k = 0; k < known.constant.count(); ++k) result.push_back(known.constant.as_int(k));
  return result;
}

const Buffer& OpContext::constant(size_t i) const {
  if (!has(i)) throw_invalid(input_name(op_, i) + " is missing");
  if (operands_[i].known.constant.empty_handle())
    throw_unknown("the contents of " + input_name(op_, i) + " are not known before a run");
  return operands_[i].known.constant;
}

bool OpContext::has_attribute(const std::string& name) const { return attributes_.contains(name); }

int64_t OpContext::int_attribute(const std::string& name, int64_t otherwise) const {
  const auto* value = attribute_as<int64_t>(attributes_, name, "an integer");
  return value ? *value : otherwise;
}

float OpContext::float_attribute(const std::string& name, float otherwise) const {
  const auto* value = attribute_as<float>(attributes_, name, "a float");
  return value ? *value : otherwise;
}

Literal OpContext::literal_attribute(const std::string& name, float otherwise) const {
  return Literal::of_double(float_attribute(name, otherwise));
}

std::string OpContext::string_attribute(const std::string& name, std::string otherwise) const {
  const auto* value = attribute_as<std::string>(attributes_, name, "a string");
  return value ? *value : otherwise;
}

std::vector<int64_t> OpContext::ints_attribute(const std::string& name,
                                               std::vector<int64_t> otherwise) const {
  const auto* value = attribute_as<std::vector<int64_t>>(attributes_, name, "a list of integers");
  return value ? *value : otherwise;
}

std::vector<float> OpContext::floats_attribute(const std::string& name,
                                               std::vector<float> otherwise) const {
  const auto* value = attribute_as<std::vector<float>>(attributes_, name, "a list of floats");
  return value ? *value : otherwise;
}

std::vector<Dim> OpContext::dims_attribute(const std::string& name,
                                           std::vector<Dim> otherwise) const {
  const auto at = attributes_.find(name);
  if (at == attributes_.end()) return otherwise;
  if (const auto* dims = std::get_if<std::vector<Dim>>(&at->second)) return *dims;
  if (const auto* one = std::get_if<int64_t>(&at->second)) return {Dim(*one)};
  const auto* ints = attribute_as<std::vector<int64_t>>(attributes_, name, "a list of integers");
  return {ints->begin(), ints->end()};
}

const Buffer* OpContext::tensor_attribute(const std::string& name) const {
  return attribute_as<Buffer>(attributes_, name, "a tensor");
}

ElementType OpContext::type_attribute(const std::string& name, ElementType otherwise) const {
  const auto* number = attribute_as<int64_t>(attributes_, name, "an integer");
  if (number == nullptr) return otherwise;
  const auto type = element_type_of_onnx(*number);
  if (!type)
    throw_invalid("attribute " + name + " = " + std::to_string(*number) + " is no element type");
  return *type;
}

int OpContext::axis(int64_t value, int rank, bool inclusive) const {
  const int64_t end = rank + (inclusive ? 1 : 0);
  const int64_t normalised = value < 0 ? value + end : value;
  if (normalised < 0 || normalised >= end)
    throw_invalid("axis " + std::to_string(value) + " is outside a tensor of rank " +
                  std::to_string(rank));
  return static_cast<int>(normalised);
}

std::vector<int> OpContext::axes(const std::vector<int64_t>& values, int rank) const {
  std::vector<int> result;
  for (const int64_t value : values) result.push_back(axis(value, rank));
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    throw_invalid("an axis is named twice");
  return result;
}

std::vector<Operand> OpContext::declare(Builder& builder,
                                        const std::vector<std::string>& names) const {
  std::vector<Operand> result;
  for (size_t i = 0; i < operands_.size(); ++i) {
    if (!has(i)) {
      result.emplace_back();
      continue;
    }
    std::string name = i < names.size() ? names[i] : "x" + std::to_string(i);
    result.push_back(builder.operand(std::move(name), type(i), shape(i)));
  }
  return result;
}

namespace {

Dim broadcast_dim(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.is_const() && b.is_const())
    throw_invalid("extents " + a.to_string() + " and " + b.to_string() + " cannot be broadcast");
  // A symbol beside a number must be that number or 1; two symbols: one of them may be 1.
  if (a.is_const()) return a;
  if (b.is_const()) return b;
  return max(a, b);
}

}  // namespace

Shape broadcast(const std::vector<const Shape*>& shapes) {
  size_t rank = 0;
  for (const Shape* shape : shapes) rank = std::max(rank, shape->size());
  Shape result(rank, Dim(1));
  for (const Shape* shape : shapes) {
    const size_t skip = rank - shape->size();
    for (size_t i = 0; i < shape->size(); ++i)
      result[skip + i] = broadcast_dim(result[skip + i], (*shape)[i]);
  }
  return result;
}

std::vector<Index> broadcast_indices(const Shape& shape, const Axes& axes, const Shape& output) {
  std::vector<Index> result;
  const size_t skip = axes.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& extent = shape[i];
    const Index axis = axes[skip + i];
    if (extent.is(1) && !output[skip + i].is(1)) {
      result.emplace_back(0);
    } else if (extent == output[skip + i] || extent.is_const()) {
      result.push_back(axis);
    } else {
      result.push_back(min(axis, Index(extent - 1)));
    }
  }
  return result;
}

}  // namespace hone
