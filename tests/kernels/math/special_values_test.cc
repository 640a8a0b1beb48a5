// Zeros, infinities, NaNs, the ends of domains: what the C standard says of them.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/math/functions.h"

namespace shoal::kernels::math {
namespace {

/// Equal, zeros by their sign too; both NaN; or finite numbers at most two units apart (the
/// standard library's are not exact either).
template <class T>
testing::AssertionResult Agree(T got, T want) {
  const bool near = std::isfinite(got) && std::isfinite(want) && want != 0 &&
                    got <= std::nextafter(std::nextafter(want, kInfinity<T>), kInfinity<T>) &&
                    got >= std::nextafter(std::nextafter(want, -kInfinity<T>), -kInfinity<T>);
  const bool same = got == want && std::signbit(got) == std::signbit(want);
  if (near || same || (std::isnan(got) && std::isnan(want))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << std::hexfloat << got << " instead of " << want;
}

template <class T>
class SpecialValuesTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialValuesTest, Types);

TYPED_TEST(SpecialValuesTest, UnaryFunctionsAreTheStandards) {
  for (const UnaryFunction& function : kUnaryFunctions) {
    for (const TypeParam x : SpecialNumbers<TypeParam>()) {
      EXPECT_TRUE(Agree(function.Call(x), function.Standard(x)))
          << function.name << " of " << std::hexfloat << x;
    }
  }
}

TYPED_TEST(SpecialValuesTest, BinaryFunctionsAreTheStandards) {
  for (const BinaryFunction& function : kBinaryFunctions) {
    for (const TypeParam x : SpecialNumbers<TypeParam>()) {
      for (const TypeParam y : SpecialNumbers<TypeParam>()) {
        EXPECT_TRUE(Agree(function.Call(x, y), function.Standard(x, y)))
            << function.name << " of " << std::hexfloat << x << ", " << y;
      }
    }
  }
}

TYPED_TEST(SpecialValuesTest, WhatIsExactIsExact) {
  using T = TypeParam;
  for (int n = -30; n <= 30; ++n) {
    const T power = std::ldexp(T{1}, n);
    EXPECT_EQ(Exp2(static_cast<T>(n)), power);
    EXPECT_EQ(Log2(power), static_cast<T>(n));
    EXPECT_EQ(Pow(T{2}, static_cast<T>(n)), power);
    EXPECT_EQ(Cbrt(std::ldexp(T{1}, 3 * n)), power);
  }
  T power_of_ten = 1;
  for (int n = 0; n <= 10; ++n, power_of_ten *= 10) {
    EXPECT_EQ(Log10(power_of_ten), static_cast<T>(n));
    EXPECT_EQ(Pow(T{10}, static_cast<T>(n)), power_of_ten);
  }
  for (int n = 1; n <= 200; ++n) {
    const T number = static_cast<T>(n);
    EXPECT_EQ(Cbrt(number * number * number), number);
    EXPECT_EQ(Hypot(3 * number, 4 * number), 5 * number);
    EXPECT_EQ(Pow(number, T{2}), number * number);
  }
}

}  // namespace
}  // namespace shoal::kernels::math
