// Functions of f32 as inline code, for any number of lanes. Error bounds: docs/numerics.md.
#pragma once

#include "codegen/reals.h"

namespace hone {

Reals emit_exp(const Reals& x);
Reals emit_expm1(const Reals& x);
Reals emit_tanh(const Reals& x);
Reals emit_erf(const Reals& x);
Reals emit_log(const Reals& x);
Reals emit_log1p(const Reals& x);
// Large arguments call the C library.
Reals emit_sin(const Reals& x);
Reals emit_cos(const Reals& x);
Reals emit_pow(const Reals& x, const Reals& y);

}  // namespace hone
