#!/usr/bin/env python3
"""Fits the polynomials and rational functions of generated code, and writes their coefficients.

    tools/python tools/fit_polynomials.py > src/codegen/polynomials.h && clang-format -i ...

Each function is fitted for the least largest relative error (Lawson's iteration: least squares
whose weights follow the error). Coefficients are rounded to the format they are used in, one by one
from the lowest, and the others are fitted again after each, so that the next makes up for it.
"""

import math

import numpy as np

ROUNDS = 300
LN2 = math.log(2)


def nodes(low, high, count=600):
    """Points that lie denser at both ends."""
    k = np.arange(count)
    return 0.5 * (low + high) + 0.5 * (high - low) * np.cos(np.pi * (k + 0.5) / count)


def lawson(matrix, target):
    """Coefficients c of the least max |matrix @ c - target|, and that maximum."""
    weights = np.full(len(target), 1 / len(target))
    best, error_of_best = None, math.inf
    for _ in range(ROUNDS):
        root = np.sqrt(weights)
        scaled = matrix * root[:, None]
        size = np.abs(scaled).max(axis=0)
        found = np.linalg.lstsq(scaled / size, target * root, rcond=None)[0] / size
        error = np.abs(matrix @ found - target)
        if error.max() < error_of_best:
            best, error_of_best = found, error.max()
        weights = np.maximum(weights * error, 1e-18)
        weights /= weights.sum()
    return best, error_of_best


def fit_rounded(columns, target, kind):
    """As lawson, with coefficients of the float type `kind`."""
    rest, fixed = target.copy(), []
    error = math.inf
    for done in range(len(columns)):
        matrix = np.stack(columns[done:], axis=1)
        found, error = lawson(matrix, rest)
        fixed.append(float(kind(found[0])))
        rest = rest - columns[done] * fixed[-1]
    return fixed, max(error, np.abs(rest).max())


def fit_polynomial(x, function, degree, weight, kind=np.float32):
    """P of `degree` with the least max |weight * (P - function)|."""
    columns = [weight * x**k for k in range(degree + 1)]
    return fit_rounded(columns, weight * function, kind)


def fit_odd_rational(x, function, over, under, scale):
    """x P(x^2) / Q(x^2) for an odd function, by the degrees of P and Q.

    Q begins with `scale`. It moves the roundings of P and Q, and was chosen of 64 for the least
    error in units of the last place when all is computed in floats."""
    t, ratio = x * x, function / x
    q = np.ones_like(t)
    for _ in range(12):  # the denominator of the last round makes the problem linear
        weight = 1 / (ratio * q)
        columns = [weight * t**k for k in range(over + 1)]
        columns += [-weight * ratio * t**k for k in range(1, under + 1)]
        found, _ = lawson(np.stack(columns, axis=1), weight * ratio)
        q = 1 + sum(c * t ** (k + 1) for k, c in enumerate(found[over + 1 :]))
    # The denominator is rounded as it is, and the numerator fitted to the rounded one.
    bottom = [scale] + [float(np.float32(scale * c)) for c in found[over + 1 :]]
    q = sum(c * t**k for k, c in enumerate(bottom))
    columns = [t**k / (ratio * q) for k in range(over + 1)]
    top, error = fit_rounded(columns, np.ones_like(t), np.float32)
    return top, bottom, error


def shortest_hex(value):
    mantissa, exponent = float(value).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent


def show(name, comment, values, error, kind="float"):
    print(f"\n// {comment}")
    if error is not None:
        print(f"// Largest relative error: 2^{math.log2(error):.1f}.")
    suffix = "F" if kind == "float" else ""
    numbers = [shortest_hex(v) + suffix for v in values]
    print(f"inline constexpr {kind} {name}[] = {{")
    print("\n".join(f"    {number}," for number in numbers) + "\n};")


def exponentials():
    x = nodes(-LN2, LN2)
    # e^x = 1 + x + x^2 P(x)
    target = (np.exp(x.astype(np.longdouble)) - 1 - x) / (x.astype(np.longdouble) ** 2)
    p, e = fit_polynomial(x, target.astype(float), 5, x * x / np.exp(x))
    show("kExp", "e^x = 1 + x + x^2 P(x) for |x| <= ln 2.", p, e)
    x = nodes(-LN2 / 2, LN2 / 2)
    target = (np.expm1(x.astype(np.longdouble)) - x) / (x.astype(np.longdouble) ** 2)
    p, e = fit_polynomial(x, target.astype(float), 4, x * x / np.expm1(x))
    show("kExpm1", "e^x - 1 = x + x^2 P(x) for |x| <= ln(2) / 2.", p, e)
    x = nodes(-0.5, 0.5)
    target = np.exp2(x.astype(np.longdouble)).astype(float)
    p, e = fit_polynomial(x, target, 7, 1 / target, np.float64)
    show("kExp2Double", "2^x for |x| <= 1/2.", p, e, "double")


def logarithms():
    x = nodes(math.sqrt(0.5) - 1, math.sqrt(2) - 1)
    wide = x.astype(np.longdouble)
    target = ((np.log1p(wide) - wide + wide * wide / 2) / wide**3).astype(float)
    p, e = fit_polynomial(x, target, 7, x**3 / np.log1p(x))
    show("kLog", "log(1 + x) = x - x^2 / 2 + x^3 P(x) for sqrt(1/2) <= 1 + x <= sqrt(2).", p, e)
    s = nodes(1e-4, 3 - 2 * math.sqrt(2))
    wide = s.astype(np.longdouble)
    target = (np.log2((1 + wide) / (1 - wide)) / wide).astype(float)
    p, e = fit_polynomial(s * s, target, 5, 1 / target, np.float64)
    show("kLog2Double", "log2((1 + s) / (1 - s)) = s P(s^2) for 1 + s / 1 - s as in kLog.", p, e,
         "double")


def circular():
    x = nodes(1e-4, math.pi / 4)
    wide = x.astype(np.longdouble)
    p, e = fit_polynomial(x * x, ((np.sin(wide) - wide) / wide**3).astype(float), 2,
                          x**3 / np.sin(x))
    show("kSin", "sin(x) = x + x^3 P(x^2) for |x| <= pi / 4.", p, e)
    p, e = fit_polynomial(x * x, ((np.cos(wide) - 1 + wide**2 / 2) / wide**4).astype(float), 2,
                          x**4 / np.cos(x))
    show("kCos", "cos(x) = 1 - x^2 / 2 + x^4 P(x^2) for |x| <= pi / 4.", p, e)


def saturating():
    x = nodes(1e-3, 9.1)
    top, bottom, e = fit_odd_rational(x, np.tanh(x), 4, 5, 1.734375)
    show("kTanhTop", "tanh(x) = x P(x^2) / Q(x^2) for |x| <= 9.1.", top, e)
    show("kTanhBottom", "Q of the same.", bottom, None)
    x = nodes(1e-3, 3.93)
    top, bottom, e = fit_odd_rational(x, np.array([math.erf(v) for v in x]), 5, 5, 1.0439453125)
    show("kErfTop", "erf(x) = x P(x^2) / Q(x^2) for |x| <= 3.93.", top, e)
    show("kErfBottom", "Q of the same.", bottom, None)


def main():
    print("// Coefficients of polynomials, lowest first. Written by tools/fit_polynomials.py.")
    print("#pragma once\n\nnamespace hone::polynomials {")
    exponentials()
    logarithms()
    circular()
    saturating()
    print("\n}  // namespace hone::polynomials")


main()
