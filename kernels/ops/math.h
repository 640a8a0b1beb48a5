#pragma once

#include <array>
#include <string_view>

#include "kernels/math/accuracy.h"
#include "kernels/ops/rows.h"

// Rows: powers, exponentials, logarithms, angles, error functions.
namespace shoal::kernels {

// A function of kernels/math; its bound is that of the name.
constexpr OpInfo MathFunction(std::string_view of, int8_t inputs, OpInfo row) {
  const math::Accuracy& accuracy = math::AccuracyOf(of);
  row.error = {accuracy.float32, accuracy.float64};
  if (row.dtypes == 0) {
    row.dtypes = kFloatDTypes;
    row.promotion = Promotion::kFloat;
  }
  return Elementwise(inputs, row);
}
constexpr OpInfo MathFunction(OpInfo row) { return MathFunction(row.name, 1, row); }

inline constexpr std::array kMathOps = {
    MathFunction("pow", 2,
                 {.name = "power",
                  .symbol = "**",
                  .doc = "x to the power of y; integers wrap, and to a negative power are 0 unless "
                         "x is 1 or -1.",
                  .dtypes = kIntegerDTypes | kFloatDTypes,
                  .promotion = Promotion::kNumber,
                  .cost_ns_per_element = 2.0}),
    MathFunction({.name = "cbrt", .doc = "The cube root.", .cost_ns_per_element = 1.0}),
    MathFunction("hypot", 2,
                 {.name = "hypot",
                  .doc = "The length of (x, y), without overflow on the way; infinite if one is.",
                  .cost_ns_per_element = 0.8}),
    MathFunction({.name = "exp", .doc = "e to the power of x.", .cost_ns_per_element = 0.4}),
    MathFunction({.name = "exp2", .doc = "2 to the power of x.", .cost_ns_per_element = 0.4}),
    MathFunction({.name = "expm1",
                  .doc = "exp(x) - 1, precise where x is small.",
                  .cost_ns_per_element = 0.6}),
    MathFunction({.name = "log",
                  .doc = "The natural logarithm; -inf of 0, NaN of negative numbers.",
                  .cost_ns_per_element = 0.5}),
    MathFunction({.name = "log1p",
                  .doc = "log(1 + x), precise where x is small; -inf of -1, NaN below.",
                  .cost_ns_per_element = 0.8}),
    MathFunction({.name = "log2",
                  .doc = "The logarithm to base 2; -inf of 0, NaN of negative numbers.",
                  .cost_ns_per_element = 0.6}),
    MathFunction({.name = "log10",
                  .doc = "The logarithm to base 10; -inf of 0, NaN of negative numbers.",
                  .cost_ns_per_element = 0.6}),
    MathFunction({.name = "sin",
                  .doc = "The sine of x radians; NaN of infinities.",
                  .cost_ns_per_element = 0.6}),
    MathFunction({.name = "cos",
                  .doc = "The cosine of x radians; NaN of infinities.",
                  .cost_ns_per_element = 0.6}),
    MathFunction({.name = "tan",
                  .doc = "The tangent of x radians; NaN of infinities.",
                  .cost_ns_per_element = 0.9}),
    MathFunction({.name = "asin",
                  .doc = "The angle, in [-pi/2, pi/2], whose sine is x; NaN beyond -1 and 1.",
                  .cost_ns_per_element = 0.7}),
    MathFunction({.name = "acos",
                  .doc = "The angle, in [0, pi], whose cosine is x; NaN beyond -1 and 1.",
                  .cost_ns_per_element = 0.7}),
    MathFunction({.name = "atan",
                  .doc = "The angle, in [-pi/2, pi/2], whose tangent is x.",
                  .cost_ns_per_element = 0.8}),
    MathFunction("atan2", 2,
                 {.name = "atan2",
                  .doc = "The angle, in [-pi, pi], of the point with ordinate x and abscissa y.",
                  .cost_ns_per_element = 1.2}),
    MathFunction({.name = "sinh", .doc = "The hyperbolic sine.", .cost_ns_per_element = 0.8}),
    MathFunction({.name = "cosh", .doc = "The hyperbolic cosine.", .cost_ns_per_element = 0.8}),
    MathFunction({.name = "tanh", .doc = "The hyperbolic tangent.", .cost_ns_per_element = 0.8}),
    MathFunction({.name = "asinh", .doc = "The inverse of sinh.", .cost_ns_per_element = 1.5}),
    MathFunction(
        {.name = "acosh", .doc = "The inverse of cosh; NaN below 1.", .cost_ns_per_element = 1.5}),
    MathFunction({.name = "atanh",
                  .doc = "The inverse of tanh; infinite at -1 and 1, NaN beyond.",
                  .cost_ns_per_element = 1.2}),
    MathFunction({.name = "erf", .doc = "The error function.", .cost_ns_per_element = 1.0}),
    MathFunction({.name = "erfc",
                  .doc = "1 - erf(x), precise where that is small.",
                  .cost_ns_per_element = 1.0}),
};

}  // namespace shoal::kernels
