// How a kernel is carried out: a small value with a text form, one line a nest.
//
//   nest vector=3:8x2 rows=2:6 unroll=4 k_block=384 m_block=96 n_block=64 prefetch=1 pack=1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace hone {

struct NestSchedule {
  int vector_axis = -1;  // output axis: lanes are outputs; reduction axis: lanes are folded
  int lanes = 1;
  int vectors = 1;        // per tile
  int row_axis = -1;      // output axis
  int rows = 1;           // per tile
  int unroll = 1;         // of the innermost reduction loop
  int64_t k_block = 0;    // steps of the outermost reduction axis at a time; 0: all
  int64_t m_block = 0;    // rows of a task; 0: all
  int64_t n_block = 0;    // elements of the vector axis of a task; 0: all
  bool prefetch = false;  // the next tile's part of packed constants, while this one is computed
  std::vector<int> pack;  // tensors that are copied into the order in which tiles read them
  friend bool operator==(const NestSchedule&, const NestSchedule&) = default;
};

struct Schedule {
  std::vector<NestSchedule> nests;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

[[nodiscard]] std::string to_text(const Schedule& schedule);
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text);

}  // namespace hone
