// The functions of the C library that generated code may call.
#pragma once

#include <span>

namespace hone {

struct LibrarySymbol {
  const char* name;
  void* address;
};
[[nodiscard]] std::span<const LibrarySymbol> library_symbols();

}  // namespace hone
