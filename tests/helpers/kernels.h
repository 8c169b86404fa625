// Loop IR functions by hand, run as machine code.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include "codegen/codegen.h"
#include "loop/ir.h"

namespace hone::testing {

// Memory that starts at a multiple of 64 bytes, as kernels may expect.
template <typename T>
class Aligned {
 public:
  explicit Aligned(size_t count, T value = T{}) : storage_(count * sizeof(T) + 64), size_(count) {
    for (size_t i = 0; i < count; ++i) data()[i] = value;
  }
  T* data() {
    auto address = reinterpret_cast<uintptr_t>(storage_.data());
    return reinterpret_cast<T*>((address + 63) / 64 * 64);
  }
  T& operator[](size_t i) { return data()[i]; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  std::vector<unsigned char> storage_;
  size_t size_;
};

inline std::shared_ptr<const JitModule> jit(const loop::Function& function) {
  auto module = JitModule::compile({function}, host_cpu());
  if (!module) {
    ADD_FAILURE() << module.error().to_string();
    return nullptr;
  }
  return *module;
}

// Runs tasks [0, tasks) of a kernel on buffers given as pointers, with open extents.
inline void run(const loop::Function& function, std::vector<void*> buffers, int64_t tasks = 1,
                std::vector<int64_t> extents = {}) {
  const auto module = jit(function);
  if (module == nullptr) return;
  Aligned<std::byte> scratch(static_cast<size_t>(loop::scratch_bytes(function)));
  module->find(function.name)(buffers.data(), extents.data(), 0, tasks, scratch.data());
}

}  // namespace hone::testing
