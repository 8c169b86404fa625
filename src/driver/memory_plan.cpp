#include "driver/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace hone {

int64_t place_buffers(std::vector<Lifetime>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  int64_t total = 0;
  std::vector<size_t> placed;
  for (const size_t i : order) {
    Lifetime& buffer = buffers[i];
    buffer.bytes = (buffer.bytes + 63) / 64 * 64;
    std::vector<const Lifetime*> others;
    for (const size_t k : placed)
      if (buffers[k].first <= buffer.last && buffer.first <= buffers[k].last)
        others.push_back(&buffers[k]);
    std::ranges::sort(others, {}, &Lifetime::offset);
    // The smallest gap that is large enough.
    int64_t at = 0;
    int64_t best = -1;
    int64_t best_gap = INT64_MAX;
    for (const Lifetime* other : others) {
      const int64_t gap = other->offset - at;
      if (gap >= buffer.bytes && gap < best_gap) {
        best = at;
        best_gap = gap;
      }
      at = std::max(at, other->offset + other->bytes);
    }
    buffer.offset = best >= 0 ? best : at;
    total = std::max(total, buffer.offset + buffer.bytes);
    placed.push_back(i);
  }
  return total;
}

}  // namespace hone
