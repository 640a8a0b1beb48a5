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
    {"exp", 0.76, 0.76},   {"exp2", 0.76, 0.76}, {"expm1", 0.9, 0.8},    {"log", 0.8, 0.82},
    {"log1p", 0.88, 0.8},  {"log2", 0.8, 0.8},   {"log10", 0.8, 0.7},    {"pow", 0.501, 0.76},
    {"sin", 0.78, 0.8},    {"cos", 0.78, 0.8},   {"tan", 0.99, 0.9},     {"asin", 0.7, 0.65},
    {"acos", 0.7, 0.65},   {"atan", 0.7, 0.66},  {"atan2", 0.95, 0.8},   {"sinh", 0.7, 0.72},
    {"cosh", 0.7, 0.7},    {"tanh", 0.84, 0.72}, {"asinh", 0.96, 0.95},  {"acosh", 0.9, 0.82},
    {"atanh", 0.92, 0.82}, {"cbrt", 0.51, 0.51}, {"hypot", 0.501, 0.76}, {"erf", 0.95, 0.93},
    {"erfc", 0.93, 0.9},
});

/// The row of a function that is in the table.
constexpr const Accuracy& AccuracyOf(std::string_view name) {
  for (const Accuracy& row : kAccuracies) {
    if (row.name == name) return row;
  }
  throw name;  // In a constant expression: does not compile.
}

}  // namespace shoal::kernels::math
