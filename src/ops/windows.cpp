#include "ops/windows.h"

#include <algorithm>

namespace hone {
namespace {

bool is_zero(const Dim& dim) { return dim.is(0); }

// The pads that make the number of windows ceil(input / stride).
void same_pads(Windows& w, const Shape& input, bool more_at_begin) {
  for (size_t i = 0; i < w.rank(); ++i) {
    const Dim windows = ceil_div(input[i], w.strides[i]);
    const Dim reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const Dim total = max(Dim(0), (windows - 1) * w.strides[i] + reach - input[i]);
    w.pad_begin[i] = floor_div(more_at_begin ? total + 1 : total, 2);
    w.pad_end[i] = total - w.pad_begin[i];
    w.output.push_back(windows);
  }
}

void explicit_pads(Windows& w, const OpContext& c, const Shape& input, Rounding rounding) {
  const size_t rank = w.rank();
  const std::vector<Dim> pads = spatial_attribute(c, "pads", 2 * rank, 0, 0);
  std::copy_n(pads.begin(), rank, w.pad_begin.begin());
  std::copy_n(pads.begin() + static_cast<std::ptrdiff_t>(rank), rank, w.pad_end.begin());
  for (size_t i = 0; i < rank; ++i) {
    const Dim reach = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const Dim room = input[i] + w.pad_begin[i] + w.pad_end[i] - reach;
    if (rounding == Rounding::kFloor) {
      w.output.push_back(floor_div(room, w.strides[i]) + 1);
    } else {
      const Dim starts_inside = ceil_div(input[i] + w.pad_begin[i], w.strides[i]);
      w.output.push_back(min(ceil_div(room, w.strides[i]) + 1, starts_inside));
    }
  }
}

}  // namespace

std::vector<Index> Windows::positions(const Axes& window, const Axes& taps) const {
  std::vector<Index> result;
  for (size_t i = 0; i < rank(); ++i) result.push_back(position(i, window[i], taps[i]));
  return result;
}

std::vector<Dim> spatial_attribute(const OpContext& c, const std::string& name, size_t count,
                                   int64_t otherwise, int64_t least) {
  std::vector<Dim> values = c.dims_attribute(name, std::vector<Dim>(count, Dim(otherwise)));
  if (values.empty()) values.assign(count, Dim(otherwise));
  if (values.size() != count)
    throw_invalid("attribute " + name + " has " + std::to_string(values.size()) +
                  " values instead of " + std::to_string(count));
  for (const Dim& value : values)
    if (value.is_const() && (value.value() < least || value.value() > (int64_t{1} << 40)))
      throw_invalid("attribute " + name + " has the value " + value.to_string() +
                    ", which must be at least " + std::to_string(least));
  return values;
}

Windows windows_of(const OpContext& c, const Shape& input, std::vector<Dim> kernel,
                   Rounding rounding) {
  Windows w;
  const size_t rank = input.size();
  if (kernel.size() != rank)
    throw_invalid("the kernel has " + std::to_string(kernel.size()) + " spatial axes, the input " +
                  std::to_string(rank));
  for (const Dim& extent : kernel)
    if (extent.is_const() && extent.value() < 1) throw_invalid("the kernel is empty");
  w.kernel = std::move(kernel);
  w.strides = spatial_attribute(c, "strides", rank, 1, 1);
  w.dilations = spatial_attribute(c, "dilations", rank, 1, 1);
  w.pad_begin.assign(rank, Dim(0));
  w.pad_end.assign(rank, Dim(0));
  const std::string mode = c.string_attribute("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    same_pads(w, input, mode == "SAME_LOWER");
  } else if (mode == "VALID") {
    for (size_t i = 0; i < rank; ++i)
      w.output.push_back(
          floor_div(input[i] - (w.kernel[i] - 1) * w.dilations[i] - 1, w.strides[i]) + 1);
  } else if (mode == "NOTSET" || mode.empty()) {
    explicit_pads(w, c, input, rounding);
  } else {
    throw_invalid("auto_pad = " + mode, "one of NOTSET, SAME_UPPER, SAME_LOWER, VALID is meant");
  }
  for (const Dim& extent : w.output)
    if (extent.is_const() && extent.value() < 0)
      throw_invalid("the window is larger than the padded input");
  const bool padded = !std::all_of(w.pad_begin.begin(), w.pad_begin.end(), is_zero) ||
                      !std::all_of(w.pad_end.begin(), w.pad_end.end(), is_zero);
  w.may_leave = padded || (rounding == Rounding::kCeil && mode != "VALID");
  return w;
}

Shape spatial_extents(const OpContext& c, size_t i) {
  if (c.rank(i) < 3)
    throw_invalid("input " + std::to_string(i) + " has " + std::to_string(c.rank(i)) +
                  " axes and so no spatial one");
  return {c.shape(i).begin() + 2, c.shape(i).end()};
}

std::vector<Dim> required_kernel(const OpContext& c, size_t rank) {
  if (!c.has_attribute("kernel_shape")) throw_invalid("the attribute kernel_shape is missing");
  return spatial_attribute(c, "kernel_shape", rank, 1, 1);
}

}  // namespace hone
