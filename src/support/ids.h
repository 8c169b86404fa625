// Ids with types of their own, so that a node cannot be taken for a value.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hone {

template <typename Tag>
struct Id {
  int32_t value = -1;

  [[nodiscard]] bool valid() const { return value >= 0; }
  [[nodiscard]] size_t index() const { return static_cast<size_t>(value); }
  friend auto operator<=>(Id, Id) = default;
};

}  // namespace hone

template <typename Tag>
struct std::hash<hone::Id<Tag>> {
  size_t operator()(hone::Id<Tag> id) const noexcept { return std::hash<int32_t>{}(id.value); }
};
