#pragma once

#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "kernels/math/erf.h"
#include "kernels/math/exp.h"
#include "kernels/math/hyperbolic.h"
#include "kernels/math/inverse_trig.h"
#include "kernels/math/log.h"
#include "kernels/math/pow.h"
#include "kernels/math/roots.h"
#include "kernels/math/trig.h"
#include "tests/kernels/math/quad.h"

// The functions of kernels/math as tables, for tests that hold for all of them.
namespace shoal::kernels::math {

// X(our name, the standard's name and name in kAccuracies)
// clang-format off: one a line.
#define SHOAL_MATH_UNARY(X) \
  X(Exp, exp)               \
  X(Exp2, exp2)             \
  X(Expm1, expm1)           \
  X(Log, log)               \
  X(Log1p, log1p)           \
  X(Log2, log2)             \
  X(Log10, log10)           \
  X(Sin, sin)               \
  X(Cos, cos)               \
  X(Tan, tan)               \
  X(Asin, asin)             \
  X(Acos, acos)             \
  X(Atan, atan)             \
  X(Sinh, sinh)             \
  X(Cosh, cosh)             \
  X(Tanh, tanh)             \
  X(Asinh, asinh)           \
  X(Acosh, acosh)           \
  X(Atanh, atanh)           \
  X(Cbrt, cbrt)             \
  X(Erf, erf)               \
  X(Erfc, erfc)
// clang-format on
#define SHOAL_MATH_BINARY(X) X(Pow, pow) X(Atan2, atan2) X(Hypot, hypot)

/// What f(-x) has to do with f(x), to the bit.
enum class Parity { kNone, kOdd, kEven };

/// One function of one number, in both types.
struct UnaryFunction {
  template <class T>
  T Call(T x) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32(x);
    } else {
      return float64(x);
    }
  }
  template <class T>
  T Standard(T x) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return standard32(x);
    } else {
      return standard64(x);
    }
  }

  std::string_view name;
  float (*float32)(float);
  double (*float64)(double);
  float (*standard32)(float);
  double (*standard64)(double);
  Quad (*exact)(Quad);
};

inline const auto kUnaryFunctions = std::to_array<UnaryFunction>({
#define SHOAL_ROW(Name, name)             \
  {#name,                                 \
   [](float x) { return Name(x); },       \
   [](double x) { return Name(x); },      \
   [](float x) { return std::name(x); },  \
   [](double x) { return std::name(x); }, \
   [](Quad x) { return name##q(x); }},
    SHOAL_MATH_UNARY(SHOAL_ROW)
#undef SHOAL_ROW
});

/// The same for functions of two numbers.
struct BinaryFunction {
  template <class T>
  T Call(T x, T y) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return float32(x, y);
    } else {
      return float64(x, y);
    }
  }
  template <class T>
  T Standard(T x, T y) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      return standard32(x, y);
    } else {
      return standard64(x, y);
    }
  }

  std::string_view name;
  float (*float32)(float, float);
  double (*float64)(double, double);
  float (*standard32)(float, float);
  double (*standard64)(double, double);
  Quad (*exact)(Quad, Quad);
};

inline const auto kBinaryFunctions = std::to_array<BinaryFunction>({
#define SHOAL_ROW(Name, name)                          \
  {#name,                                              \
   [](float x, float y) { return Name(x, y); },        \
   [](double x, double y) { return Name(x, y); },      \
   [](float x, float y) { return std::name(x, y); },   \
   [](double x, double y) { return std::name(x, y); }, \
   [](Quad x, Quad y) { return name##q(x, y); }},
    SHOAL_MATH_BINARY(SHOAL_ROW)
#undef SHOAL_ROW
});

/// Numbers at which functions change their ways.
template <class T>
std::vector<T> SpecialNumbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers;
  for (const T magnitude : {T{0},
                            Limits::denorm_min(),
                            Limits::min(),
                            Limits::epsilon(),
                            T(0.25),
                            T(0.5),
                            T{1},
                            T{2},
                            T{3},
                            T{4},
                            T(5.5),
                            T{10},
                            T{64},
                            T{745},
                            T{1000},
                            T(0x1p23),
                            T(0x1p24),
                            T(0x1p30),
                            T(0x1p52) + T{1},
                            T(0x1p53),
                            T(0x1p60),
                            Limits::max(),
                            Limits::infinity(),
                            Limits::quiet_NaN()}) {
    for (const T number : {magnitude, std::nextafter(magnitude, T{0}),
                           std::nextafter(magnitude, Limits::infinity())}) {
      numbers.push_back(number);
      numbers.push_back(-number);
    }
  }
  return numbers;
}

}  // namespace shoal::kernels::math
