// Helpers of reference kernels: plain C++ on buffers, for operators that have no expression form.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

// Is input i given?
[[nodiscard]] bool given(std::span<const Buffer> inputs, size_t i);
// Input i; a Failure when it is absent.
[[nodiscard]] const Buffer& input(std::span<const Buffer> inputs, size_t i);
// Input i as the only number of a tensor.
[[nodiscard]] int64_t scalar_int(std::span<const Buffer> inputs, size_t i);

// The elements at these flat positions of `source` (any type, strings too), under a new shape.
[[nodiscard]] Buffer pick(const Buffer& source, std::vector<int64_t> dims,
                          const std::vector<int64_t>& positions);
// Numbers as a tensor of any numeric type, converted as by Cast.
[[nodiscard]] Buffer of_doubles(ElementType type, std::vector<int64_t> dims,
                                const std::vector<double>& values);

// Orders elements of one tensor: -1, 0 or 1. NaN comes last and equals itself. Strings by bytes.
class ElementOrder {
 public:
  explicit ElementOrder(const Buffer& x);
  [[nodiscard]] int operator()(int64_t i, int64_t j) const;

 private:
  enum class Kind : uint8_t { kFloat, kInteger, kUnsigned, kString } kind_;
  const Buffer& x_;
};

// Extents before, at and after an axis.
struct AxisView {
  int64_t outer = 1, extent = 1, inner = 1;
  [[nodiscard]] int64_t at(int64_t o, int64_t k, int64_t i) const {
    return (o * extent + k) * inner + i;
  }
};
[[nodiscard]] AxisView view_along(const std::vector<int64_t>& dims, int axis);

// The outputs that a node has, of all that a kernel computed.
[[nodiscard]] std::vector<Buffer> first_outputs(const OpContext& c, std::vector<Buffer> all);
// An extent that only a run knows; graph inference gives each a symbol of its own.
inline constexpr int64_t kUnknownDim = -1;

}  // namespace hone
