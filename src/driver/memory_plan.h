// Places of buffers in one arena, so that those alive at the same time do not overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace hone {

struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both included
  int64_t offset = 0;       // set by place_buffers
};

// Sets the offsets (multiples of 64) and gives the size of the arena.
[[nodiscard]] int64_t place_buffers(std::vector<Lifetime>& buffers);

}  // namespace hone
