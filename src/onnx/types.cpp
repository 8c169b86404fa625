#include "onnx/types.h"

#include <algorithm>
#include <cctype>

#include "ops/onnx_types.h"
#include "support/error.h"
#include "tensor/buffer.h"
#include "tensor/dim_builder.h"

namespace hone {
namespace {

constexpr std::string_view kUnnamed = "unknown_";

// "unknown_3_0" followed by `underscores` underscores; nothing for other names.
std::optional<size_t> trailing_underscores(const std::string& name) {
  if (!name.starts_with(kUnnamed)) return std::nullopt;
  size_t at = kUnnamed.size();
  const auto digits = [&] {
    const size_t begin = at;
    while (at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0) ++at;
    return at > begin;
  };
  if (!digits() || at == name.size() || name[at++] != '_' || !digits()) return std::nullopt;
  const size_t rest = name.size() - at;
  return name.find_first_not_of('_', at) == std::string::npos ? std::optional(rest) : std::nullopt;
}

Dim dim_of(const onnx::TensorShapeProto::Dimension& dim) {
  if (dim.has_dim_value()) {
    if (dim.dim_value() < 0)
      throw_invalid("has the negative dimension " + std::to_string(dim.dim_value()));
    return dim.dim_value();
  }
  if (dim.has_dim_param() && !dim.dim_param().empty())
    return Dim::symbol(symbol_of_dim_param(dim.dim_param()));
  return -1;
}

}  // namespace

std::string symbol_of_dim_param(const std::string& name) {
  return trailing_underscores(name) ? name + "_" : name;
}

std::optional<std::string> dim_param_of_symbol(const std::string& symbol) {
  const auto underscores = trailing_underscores(symbol);
  if (!underscores) return symbol;
  if (*underscores == 0) return std::nullopt;
  return symbol.substr(0, symbol.size() - 1);
}

std::string unnamed_symbol(int value, size_t axis) {
  return std::string(kUnnamed) + std::to_string(value) + "_" + std::to_string(axis);
}

std::optional<TensorType> tensor_type_of(const onnx::TypeProto& type) {
  if (!type.has_tensor_type()) return std::nullopt;
  const auto element = element_type_of_onnx(type.tensor_type().elem_type());
  if (!element) return std::nullopt;
  TensorType result{*element, std::nullopt};
  if (!type.tensor_type().has_shape()) return result;
  result.shape.emplace();
  std::vector<int64_t> known;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    result.shape->push_back(dim_of(dim));
    if (dim.dim_value() > 0) known.push_back(dim.dim_value());
  }
  (void)checked_count(known);  // shapes beyond 2^62 elements overflow later arithmetic
  return result;
}

onnx::TypeProto type_proto_of(const TensorType& type) {
  onnx::TypeProto proto;
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(onnx_number(type.element)));
  if (!type.shape) return proto;
  auto* shape = tensor->mutable_shape();
  for (const Dim& dim : *type.shape) {
    auto* out = shape->add_dim();
    const DimAtom* atom = as_atom(dim);
    if (dim.is_const()) {
      if (dim.value() >= 0) out->set_dim_value(dim.value());
    } else if (atom != nullptr && atom->kind == DimAtom::Kind::kSymbol) {
      if (const auto name = dim_param_of_symbol(atom->name)) out->set_dim_param(*name);
    }
  }
  return proto;
}

}  // namespace hone
