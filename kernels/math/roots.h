#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// The cube root, and the root of a sum of squares.
namespace shoal::kernels::math {

/// cbrt(x), odd to the bit.
///
/// x = 8^q M with M in [1, 8). A polynomial and one step of fourth order give M^(-1/3) without a
/// division; M times its square is the root, which double corrects once more.
template <class T>
SHOAL_MATH_INLINE T Cbrt(T x) {
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  const double magnitude = Abs(double{x});
  const bool subnormal = magnitude < std::numeric_limits<double>::min();
  const uint64_t bits = BitsOf(subnormal ? magnitude * 0x1p54 : magnitude);
  const double exponent = FromInteger<double>(bits >> 52) - (subnormal ? 1077.0 : 1023.0);
  const double mantissa = FromBits<double>((bits & kFraction) | BitsOf(1.0));

  const auto q = NearestInteger(exponent - 1.0, poly::kThird);
  const double rest = Fma(q.value, -3.0, exponent);
  const double power = rest == 1.0 ? 2.0 : 4.0;
  const double of_power = rest == 1.0 ? poly::kCbrtHalf : poly::kCbrtQuarter;
  const double cube = mantissa * (rest == 0.0 ? 1.0 : power);
  const double guess = poly::InverseCbrt(mantissa) * (rest == 0.0 ? 1.0 : of_power);

  // (1 - e)^(-1/3) = 1 + e / 3 + 2/9 e^2 + 14/81 e^3 + ...
  const double e = Fma(-cube * guess, guess * guess, 1.0);
  const double series = Horner(e, 1.0 / 3.0, 2.0 / 9.0, 14.0 / 81.0);
  const double inverse = Fma(guess * e, series, guess);
  double root = cube * inverse * inverse;
  if constexpr (sizeof(T) == sizeof(double)) {
    const Two<double> square = TwoProduct(root, root);
    const double error = Fma(-square.low, root, Fma(-square.high, root, cube));
    root = Fma(error, inverse * inverse * poly::kThird, root);
  }
  const T result = static_cast<T>(root * PowerOfTwo<double>(q.bits));
  const bool regular = (magnitude > 0.0) & (magnitude < kInfinity<double>);
  return regular ? FlipSign(result, x) : x;
}

/// sqrt(x^2 + y^2) without overflow on the way. inf if either is infinite, even beside a NaN.
SHOAL_MATH_INLINE double Hypot(double x, double y) {
  const double x_magnitude = Abs(x);
  const double y_magnitude = Abs(y);
  const bool swap = y_magnitude > x_magnitude;
  const double large = swap ? y_magnitude : x_magnitude;
  const double small = swap ? x_magnitude : y_magnitude;
  const double up = large < 0x1p-450 ? 0x1p600 : 1.0;
  const double scale = large > 0x1p500 ? 0x1p-600 : up;
  const double down = large < 0x1p-450 ? 0x1p-600 : 1.0;
  const double unscale = large > 0x1p500 ? 0x1p600 : down;
  const Two<double> a = TwoProduct(large * scale, large * scale);
  const Two<double> b = TwoProduct(small * scale, small * scale);
  const Two<double> sum = FastTwoSum(a.high, b.high);
  const Two<double> root = SquareRoot(FastTwoSum(sum.high, sum.low + (a.low + b.low)));
  const double result = Sum(root) * unscale;
  const double nonzero = large == 0.0 ? 0.0 : result;
  const bool infinite = (x_magnitude == kInfinity<double>) | (y_magnitude == kInfinity<double>);
  return infinite ? kInfinity<double> : nonzero;
}
SHOAL_MATH_INLINE float Hypot(float x, float y) {
  const double wide_x = x;
  const double wide_y = y;
  const float result = static_cast<float>(SquareRoot(Fma(wide_x, wide_x, wide_y * wide_y)));
  const bool infinite = (Abs(x) == kInfinity<float>) | (Abs(y) == kInfinity<float>);
  return infinite ? kInfinity<float> : result;
}

}  // namespace shoal::kernels::math
