// Coefficients of polynomials, lowest first. Written by tools/fit_polynomials.py.
#pragma once

namespace hone::polynomials {

// e^x = 1 + x + x^2 P(x) for |x| <= ln 2.
// Largest relative error: 2^-26.0.
inline constexpr float kExp[] = {
    0x1.00000cp-1F, 0x1.555514p-3F,  0x1.5549eep-5F,
    0x1.1126d8p-7F, 0x1.71bf5cp-10F, 0x1.9bafb8p-13F,
};

// e^x - 1 = x + x^2 P(x) for |x| <= ln(2) / 2.
// Largest relative error: 2^-26.1.
inline constexpr float kExpm1[] = {
    0x1.fffffep-2F, 0x1.5554b4p-3F, 0x1.5556f8p-5F, 0x1.122534p-7F, 0x1.6b953ap-10F,
};

// 2^x for |x| <= 1/2.
// Largest relative error: 2^-34.5.
inline constexpr double kExp2Double[] = {
    0x1.ffffffffabbd9p-1, 0x1.62e42ff1162aep-1,  0x1.ebfbe0a4be20bp-3,  0x1.c6b08aaf2ab7p-5,
    0x1.3b29dc41381d2p-7, 0x1.5d8a70951e969p-10, 0x1.446a1f88411dap-13, 0x1.fe176c5e0ab8bp-17,
};

// log(1 + x) = x - x^2 / 2 + x^3 P(x) for sqrt(1/2) <= 1 + x <= sqrt(2).
// Largest relative error: 2^-27.4.
inline constexpr float kLog[] = {
    0x1.555554p-2F, -0x1.000226p-2F, 0x1.99a01cp-3F, -0x1.54728ap-3F,
    0x1.22d93p-3F,  -0x1.0d8246p-3F, 0x1.055eaep-3F, -0x1.38c974p-4F,
};

// log2((1 + s) / (1 - s)) = s P(s^2) for 1 + s / 1 - s as in kLog.
// Largest relative error: 2^-45.1.
inline constexpr double kLog2Double[] = {
    0x1.71547652b8252p+1, 0x1.ec709dc53b762p-1, 0x1.2776c294414f9p-1,
    0x1.a61a2dfcabe64p-2, 0x1.4795774ec7c57p-2, 0x1.21af0fa2754b4p-2,
};

// sin(x) = x + x^3 P(x^2) for |x| <= pi / 4.
// Largest relative error: 2^-27.9.
inline constexpr float kSin[] = {
    -0x1.555546p-3F,
    0x1.110778p-7F,
    -0x1.995408p-13F,
};

// cos(x) = 1 - x^2 / 2 + x^4 P(x^2) for |x| <= pi / 4.
// Largest relative error: 2^-33.0.
inline constexpr float kCos[] = {
    0x1.55554ap-5F,
    -0x1.6c0c28p-10F,
    0x1.99e80cp-16F,
};

// tanh(x) = x P(x^2) / Q(x^2) for |x| <= 9.1.
// Largest relative error: 2^-27.3.
inline constexpr float kTanhTop[] = {
    0x1.bcp+0F, 0x1.e984fcp-3F, 0x1.c710dap-8F, 0x1.ca0958p-15F, 0x1.775624p-24F,
};

// Q of the same.
inline constexpr float kTanhBottom[] = {
    0x1.bcp+0F, 0x1.a2613ep-1F, 0x1.89d7bep-5F, 0x1.7dc734p-11F, 0x1.76990ep-19F, 0x1.5bf7ccp-30F,
};

// erf(x) = x P(x^2) / Q(x^2) for |x| <= 3.93.
// Largest relative error: 2^-25.4.
inline constexpr float kErfTop[] = {
    0x1.2d8f3p+0F, 0x1.97e52ep-3F, 0x1.c3764cp-5F, 0x1.0295c8p-8F, 0x1.37c456p-12F, 0x1.1e1d3ap-19F,
};

// Q of the same.
inline constexpr float kErfBottom[] = {
    0x1.0b4p+0F, 0x1.0c89ccp-1F, 0x1.e8908cp-4F, 0x1.008408p-6F, 0x1.3ee04p-10F, 0x1.4ccfbp-15F,
};

}  // namespace hone::polynomials
