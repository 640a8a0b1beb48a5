// Properties that hold to the bit whatever the accuracy.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

#include "tests/kernels/math/functions.h"

namespace shoal::kernels::math {
namespace {

template <class T>
class SymmetryTest : public testing::Test {
 protected:
  template <class Look>
  void ForManyNumbers(const Look& look) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> near(-20, 20);
    for (int i = 0; i < 3000; ++i) {
      look(FromBits<T>(static_cast<Bits<T>>(random())));
      look(static_cast<T>(near(random)));
    }
    for (const T x : SpecialNumbers<T>()) look(x);
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SymmetryTest, Types);

Parity ParityOf(std::string_view name) {
  for (const std::string_view even : {"cos", "cosh"}) {
    if (name == even) return Parity::kEven;
  }
  for (const std::string_view odd :
       {"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "erf"}) {
    if (name == odd) return Parity::kOdd;
  }
  return Parity::kNone;
}

template <class T>
bool SameBits(T x, T y) {
  return BitsOf(x) == BitsOf(y) || (std::isnan(x) && std::isnan(y));
}

TYPED_TEST(SymmetryTest, OddAndEvenFunctionsAre) {
  for (const UnaryFunction& function : kUnaryFunctions) {
    const Parity parity = ParityOf(function.name);
    if (parity == Parity::kNone) continue;
    this->ForManyNumbers([&](TypeParam x) {
      const TypeParam mirrored = function.Call(-x);
      EXPECT_TRUE(SameBits(parity == Parity::kOdd ? -mirrored : mirrored, function.Call(x)))
          << function.name << " at " << std::hexfloat << x;
    });
  }
}

TYPED_TEST(SymmetryTest, AtanTwoHasFourQuadrantsOfOneForm) {
  this->ForManyNumbers([](TypeParam x) {
    const auto y = static_cast<TypeParam>(1.75);
    EXPECT_TRUE(SameBits(Atan2(-y, x), -Atan2(y, x))) << x;
    EXPECT_TRUE(SameBits(Hypot(x, y), Hypot(y, -x))) << x;
  });
}

// The two ways of the reduction agree with the choice between them.
TYPED_TEST(SymmetryTest, TrigonometryOfABlockIsThatOfItsElements) {
  this->ForManyNumbers([](TypeParam x) {
    const bool moderate = IsModerate(x);
    EXPECT_TRUE(SameBits(Sin(x), moderate ? SinModerate(x) : SinLarge(x))) << x;
    EXPECT_TRUE(SameBits(Cos(x), moderate ? CosModerate(x) : CosLarge(x))) << x;
    EXPECT_TRUE(SameBits(Tan(x), moderate ? TanModerate(x) : TanLarge(x))) << x;
  });
}

// Next to a number whose result is as good as exact a neighbour may not fall behind it.
TYPED_TEST(SymmetryTest, GrowingFunctionsDoNotFall) {
  using T = TypeParam;
  for (const UnaryFunction& function : kUnaryFunctions) {
    for (const std::string_view name : {"exp", "log", "atan", "sinh", "tanh", "asinh", "cbrt"}) {
      if (function.name != name) continue;
      for (T x = T(0.01); x < T{60}; x *= T(1.01)) {
        EXPECT_LE(function.Call(x), function.Call(x * T(1.0001))) << name << " at " << x;
      }
    }
  }
}

}  // namespace
}  // namespace shoal::kernels::math
