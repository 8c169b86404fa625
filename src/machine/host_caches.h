// Sizes of this machine's caches, as the operating system tells them.
#pragma once

#include <cstdint>

namespace hone {

struct HostCaches {
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // a core's share; 0: not known
};
[[nodiscard]] HostCaches host_caches();

}  // namespace hone
