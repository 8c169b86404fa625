#include "codegen/library_symbols.h"

#include <cmath>
#include <cstring>

namespace hone {
namespace {

using Unary = double (*)(double);
using UnaryFloat = float (*)(float);
using Binary = double (*)(double, double);
using BinaryFloat = float (*)(float, float);

// Both precisions of a function, from one name.
#define HONE_UNARY(name)                                                                     \
  LibrarySymbol{#name, reinterpret_cast<void*>(static_cast<Unary>(::name))}, LibrarySymbol { \
    #name "f", reinterpret_cast<void*>(static_cast<UnaryFloat>(::name##f))                   \
  }
#define HONE_BINARY(name)                                                                     \
  LibrarySymbol{#name, reinterpret_cast<void*>(static_cast<Binary>(::name))}, LibrarySymbol { \
    #name "f", reinterpret_cast<void*>(static_cast<BinaryFloat>(::name##f))                   \
  }

const LibrarySymbol kSymbols[] = {
    HONE_UNARY(exp),
    HONE_UNARY(expm1),
    HONE_UNARY(log),
    HONE_UNARY(log1p),
    HONE_UNARY(erf),
    HONE_UNARY(tanh),
    HONE_UNARY(sin),
    HONE_UNARY(cos),
    HONE_UNARY(tan),
    HONE_UNARY(asin),
    HONE_UNARY(acos),
    HONE_UNARY(atan),
    HONE_UNARY(sinh),
    HONE_UNARY(cosh),
    HONE_UNARY(asinh),
    HONE_UNARY(acosh),
    HONE_UNARY(atanh),
    HONE_UNARY(floor),
    HONE_UNARY(ceil),
    HONE_UNARY(rint),
    HONE_UNARY(trunc),
    HONE_BINARY(pow),
    HONE_BINARY(fmod),
    LibrarySymbol{"memcpy", reinterpret_cast<void*>(&std::memcpy)},
    LibrarySymbol{"memmove", reinterpret_cast<void*>(&std::memmove)},
    LibrarySymbol{"memset", reinterpret_cast<void*>(&std::memset)},
};

}  // namespace

std::span<const LibrarySymbol> library_symbols() { return kSymbols; }

}  // namespace hone
