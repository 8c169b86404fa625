// The inner kernel of sums of products: acc[m, n] += sum_k a[m, k] * b[k, n] on packed blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/element_type.h"

namespace hone::vm {

// Columns of acc and b come in multiples of this.
inline constexpr int64_t kContractColumns = 16;

struct ContractBlock {
  std::byte* acc;      // [m, width]
  const std::byte* a;  // element (m, k) at m * a_row + k * a_step
  int64_t a_row, a_step;
  const std::byte* b;  // panels of kContractColumns: [width / columns, panel_rows, columns]
  int64_t panel_rows;  // >= k
  int64_t width;       // a multiple of kContractColumns
  int64_t m, k;
};
using ContractKernel = void (*)(const ContractBlock&);

// Null for types without one.
[[nodiscard]] ContractKernel find_contract(ElementType type);

}  // namespace hone::vm
