// Which ops run as one kernel.
#pragma once

#include <vector>

#include "partition/program.h"
#include "partition/storage.h"

namespace hone {

struct Group {
  std::vector<size_t> ops;  // of one list, in order
  size_t shared = 0;        // output axes that all of them begin with
  std::vector<int> local;   // tensors that live only inside of these axes
};

// Covers all ops of the list once, in an order in which everything is written before it is read.
[[nodiscard]] std::vector<Group> group_ops(const TensorProgram& program, const Storage& storage,
                                           const std::vector<Op>& ops);

}  // namespace hone
