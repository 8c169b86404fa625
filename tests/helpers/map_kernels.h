// Kernels that apply one scalar function to arrays, and the numbers to try them on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/ir.h"
#include "tensor/buffer.h"

namespace hone::testing {

inline constexpr int64_t kMapElements = 1024;

// Numbers at the borders of types, and random ones of all sizes, as elements of `type`.
[[nodiscard]] Buffer inputs_of(ElementType type, uint64_t seed);

// out[i] = body(a[i], b[i], ...), `lanes` at a time.
[[nodiscard]] loop::Function map_kernel(
    const std::string& name, ElementType result, int lanes, const std::vector<ElementType>& types,
    const std::function<loop::Expr(std::vector<loop::Expr>)>& body);

// Fails the test at the first element that differs by more than `tolerance` of its size. NaN equals
// NaN and zeros of either sign are equal.
void expect_same(const Buffer& got, const Buffer& wanted, const std::vector<Buffer>& inputs,
                 const std::string& what, double tolerance = 0);

}  // namespace hone::testing
