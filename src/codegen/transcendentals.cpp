#include "codegen/functions.h"
#include "codegen/vector_math.h"

namespace hone {
namespace {

// The C library's name, for double; floats append an f.
const char* library_name(Fn fn, bool is_double) {
  switch (fn) {
    case Fn::kExp:
      return is_double ? "exp" : "expf";
    case Fn::kExpm1:
      return is_double ? "expm1" : "expm1f";
    case Fn::kLog:
      return is_double ? "log" : "logf";
    case Fn::kLog1p:
      return is_double ? "log1p" : "log1pf";
    case Fn::kErf:
      return is_double ? "erf" : "erff";
    case Fn::kTanh:
      return is_double ? "tanh" : "tanhf";
    case Fn::kSin:
      return is_double ? "sin" : "sinf";
    case Fn::kCos:
      return is_double ? "cos" : "cosf";
    case Fn::kTan:
      return is_double ? "tan" : "tanf";
    case Fn::kAsin:
      return is_double ? "asin" : "asinf";
    case Fn::kAcos:
      return is_double ? "acos" : "acosf";
    case Fn::kAtan:
      return is_double ? "atan" : "atanf";
    case Fn::kSinh:
      return is_double ? "sinh" : "sinhf";
    case Fn::kCosh:
      return is_double ? "cosh" : "coshf";
    case Fn::kAsinh:
      return is_double ? "asinh" : "asinhf";
    case Fn::kAcosh:
      return is_double ? "acosh" : "acoshf";
    case Fn::kAtanh:
      return is_double ? "atanh" : "atanhf";
    default:
      return nullptr;
  }
}

using Unary = Reals (*)(const Reals&);

// The functions that models use in long loops.
Unary inline_function(Fn fn) {
  switch (fn) {
    case Fn::kExp:
      return emit_exp;
    case Fn::kExpm1:
      return emit_expm1;
    case Fn::kLog:
      return emit_log;
    case Fn::kLog1p:
      return emit_log1p;
    case Fn::kTanh:
      return emit_tanh;
    case Fn::kErf:
      return emit_erf;
    case Fn::kSin:
      return emit_sin;
    case Fn::kCos:
      return emit_cos;
    default:
      return nullptr;
  }
}

}  // namespace

Value* emit_transcendental(Builder& b, Fn fn, std::span<Value* const> args) {
  const bool is_double = args[0]->getType()->getScalarType()->isDoubleTy();
  if (fn == Fn::kPow) return emit_pow({b, args[0]}, {b, args[1]}).v;
  if (const Unary emit = is_double ? nullptr : inline_function(fn)) return emit({b, args[0]}).v;
  const char* name = library_name(fn, is_double);
  if (name == nullptr) return nullptr;
  return b.call_per_lane(name, {args.data(), args.size()});
}

}  // namespace hone
