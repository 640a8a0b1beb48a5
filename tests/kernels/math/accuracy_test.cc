#include "kernels/math/accuracy.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/kernels/math/functions.h"
#include "tests/kernels/math/quad.h"

namespace shoal::kernels::math {
namespace {

constexpr int kPoints = 2500;  // Of each interval.

struct Interval {
  double low;
  double high;
};

// Where every function is looked at, besides all bit patterns: around its zeros and poles, around
// 1, at the seams between its formulas, and over what gives a finite result.
constexpr Interval kIntervals[] = {
    {-1e-3, 1e-3}, {-0.4, 0.4}, {0.3, 0.5},       {0.45, 0.55}, {0.7, 1.5},
    {0.9, 1.1},    {-1, 1},     {0.999, 1},       {-1, -0.999}, {1, 1.001},
    {-10, 10},     {2, 3},      {10, 28},         {17, 22},     {-40, 40},
    {-110, 110},   {-760, 720}, {-1080, 1030},    {-160, 130},  {700, 712},
    {-750, -700},  {1e5, 1e6},  {1.07e9, 1.08e9}, {1e7, 1e9},   {1e15, 1e22},
};

template <class T>
struct Worst {
  void Look(double ulps, T at_x, T at_y = 0) {
    if (ulps <= max) return;
    max = ulps;
    x = at_x;
    y = at_y;
  }
  double max = 0;
  T x = 0;
  T y = 0;
};

/// Numbers of every sign and size, NaNs and infinities among them.
template <class T>
T AnyNumber(std::mt19937_64& random) {
  return FromBits<T>(static_cast<Bits<T>>(random()));
}

template <class T>
T NumberIn(Interval interval, std::mt19937_64& random) {
  return static_cast<T>(std::uniform_real_distribution(interval.low, interval.high)(random));
}

template <class T>
Worst<T> WorstOf(const UnaryFunction& function) {
  std::mt19937_64 random(1);
  Worst<T> worst;
  const auto look = [&](T x) { worst.Look(UlpsApart(function.Call(x), function.exact(x)), x); };
  for (int i = 0; i < kPoints; ++i) look(AnyNumber<T>(random));
  for (const Interval interval : kIntervals) {
    for (int i = 0; i < kPoints; ++i) look(NumberIn<T>(interval, random));
  }
  for (const T x : SpecialNumbers<T>()) look(x);
  return worst;
}

template <class T>
Worst<T> WorstOf(const BinaryFunction& function) {
  std::mt19937_64 random(1);
  Worst<T> worst;
  const auto look = [&](T x, T y) {
    worst.Look(UlpsApart(function.Call(x, y), function.exact(x, y)), x, y);
  };
  for (int i = 0; i < 4 * kPoints; ++i) {
    look(AnyNumber<T>(random), AnyNumber<T>(random));
    // Numbers of like size, and a power near the largest and smallest there is.
    const T x = std::exp(NumberIn<T>({-1, 1}, random) * (i % 2 == 0 ? T{1} : T{80}));
    look(x, NumberIn<T>({-3, 3}, random));
    look(x, NumberIn<T>({-1, 1}, random) * T(sizeof(T) == 4 ? 104 : 746) / std::log(x));
  }
  return worst;
}

TEST(AccuracyTest, UnaryFunctionsAreWithinTheirBounds) {
  for (const UnaryFunction& function : kUnaryFunctions) {
    const Accuracy& stated = AccuracyOf(function.name);
    const auto in32 = WorstOf<float>(function);
    const auto in64 = WorstOf<double>(function);
    EXPECT_LE(in32.max, stated.float32) << function.name << "f at " << std::hexfloat << in32.x;
    EXPECT_LE(in64.max, stated.float64) << function.name << " at " << std::hexfloat << in64.x;
    RecordProperty(std::string(function.name), std::to_string(in64.max));
  }
}

TEST(AccuracyTest, BinaryFunctionsAreWithinTheirBounds) {
  for (const BinaryFunction& function : kBinaryFunctions) {
    const Accuracy& stated = AccuracyOf(function.name);
    const auto in32 = WorstOf<float>(function);
    const auto in64 = WorstOf<double>(function);
    EXPECT_LE(in32.max, stated.float32)
        << function.name << "f at " << std::hexfloat << in32.x << ", " << in32.y;
    EXPECT_LE(in64.max, stated.float64)
        << function.name << " at " << std::hexfloat << in64.x << ", " << in64.y;
    RecordProperty(std::string(function.name), std::to_string(in64.max));
  }
}

// The doubles that come closest to a multiple of pi / 2 in all of their range, and in the range of
// the cheap reduction: what is left of them after it has 61 and 50 leading zeros.
TEST(AccuracyTest, NumbersNextToAMultipleOfHalfPi) {
  for (const double x : {0x1.6ac5b262ca1ffp+849, 0x1.dea0b4ac9aa32p+29, 0x1.921fb54442d18p+0,
                         0x1.2d97c7f3321d2p+1, 0x1.0000000000001p+30}) {
    EXPECT_LE(UlpsApart(Sin(x), sinq(x)), AccuracyOf("sin").float64) << x;
    EXPECT_LE(UlpsApart(Cos(x), cosq(x)), AccuracyOf("cos").float64) << x;
    EXPECT_LE(UlpsApart(Tan(x), tanq(x)), AccuracyOf("tan").float64) << x;
  }
}

}  // namespace
}  // namespace shoal::kernels::math
