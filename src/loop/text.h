// Loop IR as text, and back.
//
//   kernel name(x: f32[4096] in, y: f32[4096] out align 4; n, m)   # n, m: extents left open
//     parallel i = 0 .. 512
//       alloc acc: f32[16] register           # seen by the rest of the block, or what is indented
//       for k = 2 .. 7                        # also: for k = b .. + extent
//         unroll u = 0 .. 2
//           acc[8*u :8] = fma(x8(x[k]), x[16*i + 8*u :8], acc[8*u :8])
//       prefetch x[16*i + 64]
//       let v = max(acc[0 :8], f32x8(1/2))
//       if i < $n
//         y[8*i :8*3 if v < f32x8(1)] = v     # eight elements with stride 3, where the mask holds
//
//   expressions  infix  or, and, == < <=, + -, * / %;  prefix -;  f(args) by name of the function;
//                f32(3), f32x8(-inf)    a number, in all lanes
//                x8(s)                  the scalar s in all lanes
//                ramp(base, step, 8)    base, base + step, ...
//                to_f32(e), wrap_i8(e)  casts
//                fma(a, b, c), fold_add(v), shuffle(a, b, [0, 8, 1, 9])
//   `a - 3` is a + (-3), as the IR writes it; a true subtraction of a constant is `a - (3)`.
//   Where a name would hide another one that is in scope it is followed by its number: i@7.
//
// Blocks are what stands further right, as in Python. Reading gives an equal function, except that
// variables and buffers are numbered in order of their definition.
#pragma once

#include <string>
#include <string_view>

#include "loop/ir.h"

namespace hone::loop {

[[nodiscard]] std::string to_text(const Function& function);
// One expression, with the names of `function`.
[[nodiscard]] std::string to_text(const Expr& expr, const Function& function);
// "f32", "f32x8"
[[nodiscard]] std::string to_text(Type type);

// An error names line and column.
[[nodiscard]] Result<Function> parse_function(std::string_view text);

// Is this a word that the text form gives a meaning to?
[[nodiscard]] bool is_word(std::string_view name);
// The words that stand for a kind of loop, a scope, and the function of a fold.
[[nodiscard]] std::string_view word_of(LoopKind kind);
[[nodiscard]] std::string_view word_of(Scope scope);
[[nodiscard]] std::string_view fold_word(Fn fn);  // empty where it is no fold

}  // namespace hone::loop
