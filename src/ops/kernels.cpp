#include "ops/kernels.h"

#include <cmath>
#include <cstring>

namespace hone {

bool given(std::span<const Buffer> inputs, size_t i) {
  return i < inputs.size() && !inputs[i].empty_handle();
}

const Buffer& input(std::span<const Buffer> inputs, size_t i) {
  if (!given(inputs, i)) throw_invalid("input " + std::to_string(i) + " is missing");
  return inputs[i];
}

int64_t scalar_int(std::span<const Buffer> inputs, size_t i) {
  const Buffer& x = input(inputs, i);
  if (x.count() != 1 || !is_integer(x.type()))
    throw_invalid("input " + std::to_string(i) + " must be one integer");
  return x.as_int(0);
}

Buffer pick(const Buffer& source, std::vector<int64_t> dims,
            const std::vector<int64_t>& positions) {
  if (source.type() == ElementType::kString) {
    std::vector<std::string> values;
    for (const int64_t p : positions) values.push_back(source.strings()[static_cast<size_t>(p)]);
    return Buffer::of_strings(std::move(dims), std::move(values));
  }
  Buffer result = Buffer::allocate(source.type(), std::move(dims));
  HONE_CHECK(result.count() == static_cast<int64_t>(positions.size()), "position count differs");
  const size_t size = size_of(source.type());
  std::byte* to = result.count() > 0 ? result.mutable_data() : nullptr;
  for (size_t i = 0; i < positions.size(); ++i)
    std::memcpy(to + i * size, source.data() + static_cast<size_t>(positions[i]) * size, size);
  return result;
}

Buffer of_doubles(ElementType type, std::vector<int64_t> dims, const std::vector<double>& values) {
  return convert(Buffer::of<double>(ElementType::kF64, std::move(dims), values), type);
}

ElementOrder::ElementOrder(const Buffer& x) : kind_(Kind::kInteger), x_(x) {
  const ElementType type = x.type();
  if (type == ElementType::kString)
    kind_ = Kind::kString;
  else if (type == ElementType::kU64)
    kind_ = Kind::kUnsigned;
  else if (is_float(type))
    kind_ = Kind::kFloat;
  else if (!is_integer(type) && type != ElementType::kBool)
    throw_unsupported("elements of type " + std::string(name_of(type)) + " have no order");
}

int ElementOrder::operator()(int64_t i, int64_t j) const {
  const auto order = [](const auto& a, const auto& b) { return a < b ? -1 : b < a ? 1 : 0; };
  switch (kind_) {
    case Kind::kFloat: {
      const double a = x_.as_double(i);
      const double b = x_.as_double(j);
      if (std::isnan(a) || std::isnan(b)) return order(std::isnan(a), std::isnan(b));
      return order(a, b);
    }
    case Kind::kUnsigned:
      return order(static_cast<uint64_t>(x_.as_int(i)), static_cast<uint64_t>(x_.as_int(j)));
    case Kind::kInteger:
      return order(x_.as_int(i), x_.as_int(j));
    case Kind::kString:
      return order(x_.strings()[static_cast<size_t>(i)], x_.strings()[static_cast<size_t>(j)]);
  }
  return 0;
}

AxisView view_along(const std::vector<int64_t>& dims, int axis) {
  AxisView view;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    int64_t& part = d < axis ? view.outer : d == axis ? view.extent : view.inner;
    part *= dims[static_cast<size_t>(d)];
  }
  return view;
}

std::vector<Buffer> first_outputs(const OpContext& c, std::vector<Buffer> all) {
  if (all.size() > c.output_count()) all.resize(c.output_count());
  return all;
}

}  // namespace hone
