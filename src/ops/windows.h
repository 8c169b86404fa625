// Windows that slide over the spatial axes of a tensor [N, C, D1, D2, ...]: convolution, pooling.
#pragma once

#include <string>
#include <vector>

#include "ops/context.h"

namespace hone {

struct Windows {
  std::vector<Dim> kernel, strides, dilations, pad_begin, pad_end;
  Shape output;            // how many windows lie along each axis
  bool may_leave = false;  // a window may reach outside of the input

  [[nodiscard]] size_t rank() const { return kernel.size(); }
  // Where tap `tap` of window `window` reads along spatial axis `axis`.
  [[nodiscard]] Index position(size_t axis, const Index& window, const Index& tap) const {
    return window * strides[axis] + tap * dilations[axis] - Index(pad_begin[axis]);
  }
  [[nodiscard]] std::vector<Index> positions(const Axes& window, const Axes& taps) const;
};

enum class Rounding : uint8_t {
  kFloor,
  kCeil,  // a last window may stick out at the end, if it starts inside the input or its pads
};

// Reads strides, dilations, pads and auto_pad of a node whose input has the spatial extents
// `input`. All of them may be symbols.
[[nodiscard]] Windows windows_of(const OpContext& c, const Shape& input, std::vector<Dim> kernel,
                                 Rounding rounding = Rounding::kFloor);

// A list attribute with one entry for each of `count` places, all at least `least` where known.
[[nodiscard]] std::vector<Dim> spatial_attribute(const OpContext& c, const std::string& name,
                                                 size_t count, int64_t otherwise, int64_t least);
// The spatial extents of a tensor [N, C, D1, ...]; at least one.
[[nodiscard]] Shape spatial_extents(const OpContext& c, size_t i);
// The attribute kernel_shape, which pooling must have.
[[nodiscard]] std::vector<Dim> required_kernel(const OpContext& c, size_t rank);

}  // namespace hone
