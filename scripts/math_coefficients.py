#!/usr/bin/python3
"""Writes the constants of kernels/math: polynomials fitted by Remez' exchange, and constants split
into parts that a double or a float holds.

usage: python3 scripts/math_coefficients.py > kernels/math/polynomials.h

Wants mpmath, of which Debian's interpreter has none: python3 -m venv, pip install mpmath. Takes
about a minute. The same mpmath or another, the output is the same to the bit: everything is
computed to 60 digits and rounded once.
"""

import dataclasses
import struct
import subprocess
import sys
from typing import Callable

import mpmath
from mpmath import mpf

mpmath.mp.dps = 60

_GRID = 600  # Points at which the error is looked at, dense towards the ends.


@dataclasses.dataclass
class Fit:
    """What one polynomial p(z) approximates, and how well it has to."""

    name: str
    about: str  # One line for its comment.
    tail: Callable  # The function p stands for.
    weight: Callable  # Of an error in p, relative to the value it ends up in.
    low: object
    high: object
    bits: float  # The weighted error is below 2^-bits.
    type: str = "double"


def round_to(value, type_):
    """The nearest float or double, as a Python float."""
    nearest = float(mpmath.mp.make_mpf(mpmath.libmp.mpf_pos(
        mpf(value)._mpf_, 53 if type_ == "double" else 24, "n")))
    if type_ == "float":
        assert struct.unpack("f", struct.pack("f", nearest))[0] == nearest
    return nearest


def chebyshev_points(low, high, count):
    middle, half = (mpf(high) + low) / 2, (mpf(high) - low) / 2
    return [middle - half * mpmath.cos(mpmath.pi * (i + mpf(1) / 2) / count) for i in range(count)]


def horner(coefficients, z):
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * z + coefficient
    return value


def solve(nodes, tails, weights, count):
    """The polynomial whose weighted error at count + 1 nodes is level, with alternating sign."""
    rows = [[z**j for j in range(count)] + [(-1)**i / weight]
            for i, (z, weight) in enumerate(zip(nodes, weights))]
    return list(mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix(tails)))[:count]


def extremes(errors):
    """Of each run of equal sign the place of its largest error."""
    places = [0]
    for i in range(1, len(errors)):
        if (errors[i] > 0) != (errors[places[-1]] > 0):
            places.append(i)
        elif abs(errors[i]) > abs(errors[places[-1]]):
            places[-1] = i
    return places


def remez(fit, count):
    """(coefficients in 60 digits, weighted error) of the minimax polynomial of `count` terms."""
    grid = chebyshev_points(fit.low, fit.high, _GRID)
    tails, weights = [fit.tail(z) for z in grid], [fit.weight(z) for z in grid]
    places = [round((i + 0.5) * _GRID / (count + 1) - 0.5) for i in range(count + 1)]
    for _ in range(12):
        coefficients = solve([grid[i] for i in places], [tails[i] for i in places],
                             [weights[i] for i in places], count)
        errors = [(horner(coefficients, z) - tail) * weight
                  for z, tail, weight in zip(grid, tails, weights)]
        found = extremes(errors)
        worst, least = max(map(abs, errors)), min(abs(errors[i]) for i in found)
        if len(found) < count + 1:
            break  # Noise of the grid: what there is differs from the best by less than a bit.
        while len(found) > count + 1:
            found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
        if worst < least * mpf("1.01"):
            break
        places = found
    return coefficients, worst


def fitted(fit):
    """(rounded coefficients, log2 of the weighted error) with as few terms as are enough."""
    for count in range(2, 40):
        coefficients, worst = remez(fit, count)
        if worst < mpf(2)**-fit.bits:
            return ([round_to(coefficient, fit.type) for coefficient in coefficients],
                    float(mpmath.log(worst, 2)))
    raise ValueError(f"{fit.name}: no polynomial of 40 terms is good enough")


def literal(value, type_):
    text = value.hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{exponent}" + ("F" if type_ == "float" else "")


def split(value, bits):
    """`value` as a sum of parts, each of that many bits (the sign aside)."""
    parts = []
    for count in bits:
        part = mpmath.mp.make_mpf(mpmath.libmp.mpf_pos(mpf(value)._mpf_, count, "n"))
        parts.append(float(part))
        value -= part
    return parts


# ---- What there is ------------------------------------------------------------------------------

LN2 = mpmath.log(2)
QUARTER_PI = mpmath.pi / 4
EXP_HIGH = LN2 / 2 * mpf("1.001")
TRIG_HIGH = (QUARTER_PI * mpf("1.0005"))**2
TAN_EIGHTH = mpmath.sqrt(2) - 1
ATANH_HIGH = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1))**2 * mpf("1.0001")


def of_root(function):
    """function(sqrt(z)) as a function of z."""
    return lambda z: function(mpmath.sqrt(z))


def atanh_rest(terms):
    """What follows the first terms of 2 atanh(s) = 2s + 2/3 s^3 + ..., as a function of z = s^2."""
    def tail(z):
        s = mpmath.sqrt(z)
        known = sum(2 * s**(2 * j + 1) / (2 * j + 1) for j in range(terms))
        return (2 * mpmath.atanh(s) - known) / s**(2 * terms + 1)
    return tail


def both(name, double_bits, float_bits, **shape):
    """The fit for double and that for float."""
    yield Fit(name, **shape, bits=double_bits)
    yield Fit(name, **shape, bits=float_bits, type="float")


def fits():
    exp_tail = dict(
        about="exp(r) = 1 + r + r^2 / 2 + r^3 p(r) for |r| <= ln(2) / 2",
        tail=lambda r: (mpmath.exp(r) - 1 - r - r**2 / 2) / r**3,
        weight=lambda r: r**3 / mpmath.exp(r), low=-EXP_HIGH, high=EXP_HIGH)
    yield from both("ExpTail", 58, 27, **exp_tail)
    yield Fit("ExpTailShort", **exp_tail, bits=36)

    yield from both(
        "SinhTail", 59, 28, about="sinh(r) = r + r z p(z) with z = r^2, |r| <= ln(2) / 2",
        tail=of_root(lambda r: (mpmath.sinh(r) - r) / r**3),
        weight=of_root(lambda r: r**3 / mpmath.sinh(r)), low=0, high=EXP_HIGH**2)
    yield from both(
        "CoshTail", 59, 28, about="cosh(r) = 1 + z / 2 + z^2 p(z) with z = r^2, |r| <= ln(2) / 2",
        tail=of_root(lambda r: (mpmath.cosh(r) - 1 - r * r / 2) / r**4),
        weight=of_root(lambda r: r**4), low=0, high=EXP_HIGH**2)

    log_tail = dict(about="log(m) = 2s + s z p(z) with s = (m - 1) / (m + 1), z = s^2, "
                          "m in [sqrt(1/2), sqrt(2)]",
                    tail=atanh_rest(1), weight=of_root(lambda s: s**3 / (2 * mpmath.atanh(s))),
                    low=0, high=ATANH_HIGH)
    yield Fit("LogTail", **log_tail, bits=59)
    yield Fit("LogTailShort", **log_tail, bits=42)
    yield Fit("LogTailLong",
              about="log(m) = 2s + 2/3 s z + s z^2 p(z), all else as in LogTail",
              tail=atanh_rest(2), weight=of_root(lambda s: s**5 / (2 * mpmath.atanh(s))),
              low=0, high=ATANH_HIGH, bits=68)
    yield Fit("LogTail", about="log(1 + f) = f - f^2 / 2 + f^3 p(f) for 1 + f in "
                               "[sqrt(1/2), sqrt(2)]",
              tail=lambda f: (mpmath.log1p(f) - f + f * f / 2) / f**3,
              weight=lambda f: f**3 / mpmath.log1p(f),
              low=mpmath.sqrt(mpf(1) / 2) - 1, high=TAN_EIGHTH, bits=27, type="float")

    yield from both(
        "SinTail", 58, 27, about="sin(r) = r + r z p(z) with z = r^2, |r| <= pi / 4",
        tail=of_root(lambda r: (mpmath.sin(r) - r) / r**3),
        weight=of_root(lambda r: r**3 / mpmath.sin(r)), low=0, high=TRIG_HIGH)
    yield from both(
        "CosTail", 58, 27, about="cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2, |r| <= pi / 4",
        tail=of_root(lambda r: (mpmath.cos(r) - 1 + r * r / 2) / r**4),
        weight=of_root(lambda r: r**4 / mpmath.cos(r)), low=0, high=TRIG_HIGH)

    yield from both(
        "AtanTail", 58, 27, about="atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8)",
        tail=of_root(lambda t: (mpmath.atan(t) - t) / t**3),
        weight=of_root(lambda t: t**3 / mpmath.atan(t)), low=0,
        high=(TAN_EIGHTH * mpf("1.0001"))**2)
    yield from both(
        "AsinTail", 58, 27, about="asin(s) = s + s z p(z) with z = s^2, |s| <= 1/2",
        tail=of_root(lambda s: (mpmath.asin(s) - s) / s**3),
        weight=of_root(lambda s: s**3 / mpmath.asin(s)), low=0, high=mpf(1) / 4)

    yield from both(
        "InverseCbrt", 15.5, 14, about="1 / cbrt(m) for m in [1, 2], a first guess",
        tail=lambda m: 1 / mpmath.cbrt(m), weight=mpmath.cbrt, low=1, high=2)

    yield from both(
        "ErfTail", 58, 27, about="erf(x) = x + x p(z) with z = x^2, |x| <= 1/2",
        tail=of_root(lambda x: mpmath.erf(x) / x - 1),
        weight=of_root(lambda x: x / mpmath.erf(x)), low=0, high=mpf(1) / 4)
    yield from both(
        "ErfcScaled", 57, 26.5,
        about="erfc(x) exp(x^2) (1 + 2x) = kErfcScaledAt2 + t p(t) for t = (x - 2) / (x + 2), "
              "x >= 1/2",
        tail=lambda t: (scaled_erfc(t) - ERFC_SCALED_AT_2) / t,
        weight=lambda t: t / scaled_erfc(t), low=mpf(-3) / 5, high=mpf("0.9999"))


def scaled_erfc(t):
    """exp(x^2) erfc(x) (1 + 2x) at the x for which (x - 2) / (x + 2) is t."""
    x = 2 * (1 + t) / (1 - t)
    if x > 100:  # The asymptotic series; erfc itself is too small for words.
        series, term = mpf(1), mpf(1)
        for n in range(1, 12):
            term *= -(2 * n - 1) / (2 * x * x)
            series += term
        return series / (x * mpmath.sqrt(mpmath.pi)) * (1 + 2 * x)
    return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x)


ERFC_SCALED_AT_2 = scaled_erfc(mpf(0))


def constants():
    """(comment, names, the bits of each part for double, and for float, value) of each group."""
    full = ((53, 53), (24, 24))
    one = ((53,), (24,))
    yield ("ln(2). Times an exponent the first part is exact.", ("kLn2High", "kLn2Low"),
           ((42, 53), (16, 24)), LN2)
    yield "ln(2) in full parts, for sums of two.", ("kLn2", "kLn2Rest"), full, LN2
    yield "log2(e).", ("kLog2E", "kLog2ERest"), full, 1 / LN2
    yield "log10(e).", ("kLog10E", "kLog10ERest"), full, 1 / mpmath.log(10)
    yield ("log10(2). Times an exponent the first part is exact.",
           ("kLog10Of2High", "kLog10Of2Low"), ((42, 53), (16, 24)), LN2 / mpmath.log(10))
    yield ("pi / 2.", ("kHalfPi", "kHalfPiRest", "kHalfPiRest2"), ((53, 53, 53), (24, 24, 24)),
           mpmath.pi / 2)
    yield "2 / pi.", ("kTwoOverPi",), one, 2 / mpmath.pi
    yield ("tan(pi / 8), from which on atan's arguments are turned by pi / 4.", ("kTanEighthPi",),
           one, TAN_EIGHTH)
    yield "2 / 3.", ("kTwoThirds", "kTwoThirdsRest"), full, mpf(2) / 3
    yield "1 / 3.", ("kThird",), one, mpf(1) / 3
    yield "Cube roots of 1/2 and 1/4.", ("kCbrtHalf",), one, mpmath.cbrt(mpf(1) / 2)
    yield "", ("kCbrtQuarter",), one, mpmath.cbrt(mpf(1) / 4)
    yield ("erfc(2) exp(4) 5.", ("kErfcScaledAt2", "kErfcScaledAt2Rest"), full, ERFC_SCALED_AT_2)


def render_constants():
    for about, names, (double_bits, float_bits), value in constants():
        if about:
            yield ""
            yield f"// {about}"
        for name, in_double, in_float in zip(names, split(value, double_bits),
                                             split(value, float_bits)):
            yield "template <class T>"
            yield (f"inline constexpr T {name} = sizeof(T) == sizeof(float) ? "
                   f"T({literal(in_float, 'float')}) : T({literal(in_double, 'double')});")


def two_over_pi_words(count):
    """The bits of 2 / pi after the point, 32 a word."""
    with mpmath.workdps(count * 10 + 20):
        bits = int(mpmath.floor(2 / mpmath.pi * mpf(2)**(32 * count)))
    return [(bits >> (32 * (count - 1 - i))) & 0xFFFFFFFF for i in range(count)]


def render():
    yield "#pragma once"
    yield ""
    yield "#include <cstdint>"
    yield ""
    yield '#include "kernels/math/bits.h"'
    yield ""
    yield "// Made by scripts/math_coefficients.py: change that."
    yield "namespace shoal::kernels::math::poly {"
    yield from render_constants()
    for fit in fits():
        coefficients, bits = fitted(fit)
        print(f"{fit.name} ({fit.type}): {len(coefficients)} terms, 2^{bits:.1f}", file=sys.stderr)
        yield ""
        yield f"// {fit.about}; error 2^{bits:.1f}."
        yield f"SHOAL_MATH_INLINE {fit.type} {fit.name}({fit.type} z) {{"
        yield "  return Horner(z, " + ", ".join(literal(c, fit.type) for c in coefficients) + ");"
        yield "}"
    words = ", ".join(f"0x{word:08x}U" for word in [0, 0] + two_over_pi_words(38))
    yield ""
    yield "// 64 zeros, then the bits of 2 / pi after the point."
    yield "SHOAL_MATH_INLINE uint32_t TwoOverPiWord(uint32_t index) {"
    yield f"  static constexpr uint32_t kWords[] = {{{words}}};"
    yield "  return kWords[index];"
    yield "}"
    yield ""
    yield "}  // namespace shoal::kernels::math::poly"


def main():
    text = "\n".join(render()) + "\n"
    formatted = subprocess.run(["clang-format", "--assume-filename=polynomials.h"], input=text,
                               capture_output=True, text=True, check=True)
    print(formatted.stdout, end="")


if __name__ == "__main__":
    main()
