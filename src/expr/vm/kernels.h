// Typed loops over dense arrays: what the evaluator's instructions run. Every kernel is total:
// integers wrap, dividing by zero gives 0, nothing is undefined.
#pragma once

#include <cstddef>
#include <cstdint>

#include "expr/scalar.h"
#include "expr/tensor_expr.h"

namespace hone::vm {

// The types that kernels compute in: f32, f64, field, i8..i64, u8..u64, bool. Narrower types
// compute in the one that holds them.
enum class Numbers : uint8_t { kNative, kDouble, kField };
[[nodiscard]] ElementType compute_type(ElementType type, Numbers numbers);

struct KernelArgs {
  std::byte* out;
  const std::byte* in[3];
  int64_t count;
  uint64_t seed;  // of random functions
  int tag;        // of kernels that serve several functions or formats
};
using Kernel = void (*)(const KernelArgs&);

// A function on arrays; where one operand of two is a single element, the variants for that, or
// null where only whole arrays are served.
struct KernelSet {
  Kernel arrays = nullptr;
  Kernel first_single = nullptr, second_single = nullptr;
};

// The kernel of a function on operands of a compute type; `arrays` is null where there is none.
// Select takes (bool, type, type). Casts: find_cast.
[[nodiscard]] KernelSet find_kernel(Fn fn, ElementType type);
[[nodiscard]] KernelSet find_arithmetic(Fn fn, ElementType type);
[[nodiscard]] KernelSet find_transcendental(Fn fn, ElementType type);
[[nodiscard]] KernelSet find_logic(Fn fn, ElementType type);
// x^n in the field, n = tag >= 0.
[[nodiscard]] Kernel find_field_power();
// i64: floor(in[0] / in[1]) by a positive number.
[[nodiscard]] Kernel find_floor_divide();
// Between compute types. Floats go to integers toward zero, integers wrap.
[[nodiscard]] Kernel find_cast(ElementType from, ElementType to);
// Rounds compute values to what a narrow type (f16, f8, i4, ...) holds, in place of type; null
// for types that are their own compute type. The tag: the type, plus kWrap not to saturate.
[[nodiscard]] Kernel find_narrowing(ElementType type);
inline constexpr int kWrap = 256;

// Combiners. `acc` has `count` elements (vertical) or `rows` (horizontal, over `cols` each).
struct ArgState {
  std::byte* best;    // extreme values so far
  int64_t* position;  // of them; -1 before the first
};
struct CombineKernels {
  void (*vertical)(std::byte* acc, const std::byte* value, int64_t count) = nullptr;
  void (*horizontal)(std::byte* acc, const std::byte* value, int64_t rows, int64_t cols) = nullptr;
  // Positions of a column: first_position + column (horizontal) or first_position (vertical).
  void (*arg_vertical)(ArgState acc, const std::byte* value, int64_t count,
                       int64_t first_position) = nullptr;
  void (*arg_horizontal)(ArgState acc, const std::byte* value, int64_t rows, int64_t cols,
                         int64_t first_position) = nullptr;
  std::byte identity[8] = {};
};
[[nodiscard]] CombineKernels find_combiner(Combiner combiner, ElementType type);
[[nodiscard]] bool is_arg(Combiner combiner);

}  // namespace hone::vm
