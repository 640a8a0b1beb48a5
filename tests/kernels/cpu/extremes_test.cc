#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

/// In the order in which -0 is below +0.
template <Real T>
bool Below(T x, T y) {
  if constexpr (std::floating_point<T>) {
    if (x == y) return std::signbit(x) && !std::signbit(y);
  }
  return x < y;
}

template <Real T>
bool IsNumber(T x) {
  return x == x;
}

constexpr auto kBoth = [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) && IsTrue(y)); };
constexpr auto kEither = [](Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) || IsTrue(y)); };

TEST(ExtremesTest, NaNWinsInMinimumAndMaximum) {
  ExpectBinary(
      "minimum",
      []<Real T>(T x, T y) {
        if (!IsNumber(x) || !IsNumber(y)) return IsNumber(x) ? y : x;
        return Below(x, y) ? x : y;
      },
      kBoth);
  ExpectBinary(
      "maximum",
      []<Real T>(T x, T y) {
        if (!IsNumber(x) || !IsNumber(y)) return IsNumber(x) ? y : x;
        return Below(x, y) ? y : x;
      },
      kEither);
}

TEST(ExtremesTest, NaNLosesInFminAndFmax) {
  ExpectBinary(
      "fmin",
      []<Real T>(T x, T y) {
        if (!IsNumber(x)) return y;
        return !IsNumber(y) || Below(x, y) ? x : y;
      },
      kBoth);
  ExpectBinary(
      "fmax",
      []<Real T>(T x, T y) {
        if (!IsNumber(x)) return y;
        return IsNumber(y) && Below(x, y) ? y : x;
      },
      kEither);
}

TEST(ExtremesTest, CopysignTakesTheSignOfZerosAndNaNsToo) {
  ExpectBinary("copysign", []<std::floating_point T>(T x, T y) { return std::copysign(x, y); });
}

}  // namespace
}  // namespace shoal::kernels::cpu
