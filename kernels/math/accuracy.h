#pragma once

#include <array>
#include <string_view>

// How far results are from the true values at most.
namespace shoal::kernels::math {

/// The bounds of one function, in units of the last place of the result (of a subnormal result: of
/// the subnormals). 0.5 is as near as a number can be. The tests hold every function to them; where
/// they look is part of what a bound is worth, see tests/kernels/math/accuracy_test.cc.
struct Accuracy {
  std::string_view name;
  double float32;
  double float64;
};

inline constexpr auto kAccuracies = std::to_array<Accuracy>({
    {"exp", 0.76, 0.76},    {"exp2", 0.76, 0.76},  {"expm1", 1.0, 1.06},   {"log", 0.85, 0.85},
    {"log1p", 0.501, 0.82}, {"log2", 0.501, 0.80}, {"log10", 0.501, 0.70}, {"pow", 0.501, 0.76},
    {"sin", 0.501, 0.80},   {"cos", 0.501, 0.80},  {"tan", 0.501, 0.90},   {"asin", 0.501, 0.70},
    {"acos", 0.501, 0.70},  {"atan", 0.501, 0.70}, {"atan2", 0.501, 0.76}, {"sinh", 0.501, 0.70},
    {"cosh", 0.501, 0.70},  {"tanh", 0.501, 0.90}, {"asinh", 0.501, 0.95}, {"acosh", 0.501, 0.90},
    {"atanh", 0.501, 0.90}, {"cbrt", 0.501, 0.51}, {"hypot", 0.501, 0.76}, {"erf", 0.501, 0.90},
    {"erfc", 0.501, 0.95},
});

/// The row of a function that is in the table.
constexpr const Accuracy& AccuracyOf(std::string_view name) {
  for (const Accuracy& row : kAccuracies) {
    if (row.name == name) return row;
  }
  throw name;  // In a constant expression: does not compile.
}

}  // namespace shoal::kernels::math
