#include <array>

#include "expr/scalar.h"

namespace hone {
namespace {

constexpr int kCall = 0;     // written as a call
constexpr int kCompare = 3;  // binding strengths of infix signs
constexpr int kSumLevel = 4;
constexpr int kProductLevel = 5;

//   name, arity, infix, boolean result, commutative, opaque in F_p, operations
constexpr std::array<FnInfo, kFnCount> kFunctions = {{
    {"+", 2, kSumLevel, false, true, false, 1},
    {"-", 2, kSumLevel, false, false, false, 1},
    {"*", 2, kProductLevel, false, true, false, 1},
    {"/", 2, kProductLevel, false, false, false, 1},
    {"neg", 1, kCall, false, false, false, 1},
    {"abs", 1, kCall, false, false, true, 1},
    {"min", 2, kCall, false, true, false, 1},
    {"max", 2, kCall, false, true, false, 1},
    {"pow", 2, kCall, false, false, true, 10},
    {"mod", 2, kCall, false, false, true, 2},
    {"fmod", 2, kCall, false, false, true, 2},
    {"sign", 1, kCall, false, false, true, 1},
    {"floor", 1, kCall, false, false, true, 1},
    {"ceil", 1, kCall, false, false, true, 1},
    {"round", 1, kCall, false, false, true, 1},
    {"trunc", 1, kCall, false, false, true, 1},
    {"exp", 1, kCall, false, false, true, 10},
    {"expm1", 1, kCall, false, false, true, 10},
    {"log", 1, kCall, false, false, true, 10},
    {"log1p", 1, kCall, false, false, true, 10},
    {"sqrt", 1, kCall, false, false, true, 1},
    {"erf", 1, kCall, false, false, true, 10},
    {"tanh", 1, kCall, false, false, true, 10},
    {"sin", 1, kCall, false, false, true, 10},
    {"cos", 1, kCall, false, false, true, 10},
    {"tan", 1, kCall, false, false, true, 10},
    {"asin", 1, kCall, false, false, true, 10},
    {"acos", 1, kCall, false, false, true, 10},
    {"atan", 1, kCall, false, false, true, 10},
    {"sinh", 1, kCall, false, false, true, 10},
    {"cosh", 1, kCall, false, false, true, 10},
    {"asinh", 1, kCall, false, false, true, 10},
    {"acosh", 1, kCall, false, false, true, 10},
    {"atanh", 1, kCall, false, false, true, 10},
    {"==", 2, kCompare, true, true, false, 1},
    {"<", 2, kCompare, true, false, false, 1},
    {"<=", 2, kCompare, true, false, false, 1},
    {"and", 2, 2, true, true, false, 1},
    {"or", 2, 1, true, true, false, 1},
    {"xor", 2, kCall, true, true, false, 1},
    {"not", 1, kCall, true, false, false, 1},
    {"bit_and", 2, kCall, false, true, true, 1},
    {"bit_or", 2, kCall, false, true, true, 1},
    {"bit_xor", 2, kCall, false, true, true, 1},
    {"bit_not", 1, kCall, false, false, true, 1},
    {"shift_left", 2, kCall, false, false, true, 1},
    {"shift_right", 2, kCall, false, false, true, 1},
    {"is_nan", 1, kCall, true, false, true, 1},
    {"is_inf", 1, kCall, true, false, true, 1},
    {"select", 3, kCall, false, false, false, 1},
    {"cast", 1, kCall, false, false, false, 0},
    {"cast_wrap", 1, kCall, false, false, false, 0},
}};
static_assert(!kFunctions.back().name.empty(), "one row for every Fn");

}  // namespace

const FnInfo& info_of(Fn fn) { return kFunctions[static_cast<size_t>(fn)]; }

}  // namespace hone
