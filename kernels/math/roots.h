#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// The cube root, and the root of a sum of squares.
namespace shoal::kernels::math {

/// cbrt(x), odd to the bit.
///
/// x = 8^q M with M in [1, 8). A polynomial and one step of fourth (float: second) order give
/// M^(-1/3) without a division; M times its square is the root, which one more step makes precise.
template <class T>
SHOAL_MATH_INLINE T Cbrt(T x) {
  using Format = FormatOf<T>;
  constexpr bool kDouble = sizeof(T) == sizeof(double);
  constexpr Bits<T> kFractionMask = (Bits<T>{1} << Format::kFractionBits) - 1;
  constexpr T kBias = static_cast<T>(Format::kBias);
  const T magnitude = Abs(x);
  const bool subnormal = magnitude < std::numeric_limits<T>::min();
  const Bits<T> bits =
      BitsOf(subnormal ? magnitude * (kDouble ? T(0x1p54) : T(0x1p24)) : magnitude);
  const T bias = subnormal ? kBias + (kDouble ? T{54} : T{24}) : kBias;
  const T exponent = FromInteger<T>(bits >> Format::kFractionBits) - bias;
  const T mantissa = FromBits<T>((bits & kFractionMask) | BitsOf(T{1}));

  const auto q = NearestInteger(exponent - T{1}, poly::kThird<T>);
  const T rest = Fma(q.value, T{-3}, exponent);
  const T power = rest == T{1} ? T{2} : T{4};
  const T of_power = rest == T{1} ? poly::kCbrtHalf<T> : poly::kCbrtQuarter<T>;
  const T cube = mantissa * (rest == T{0} ? T{1} : power);
  const T guess = poly::InverseCbrt(mantissa) * (rest == T{0} ? T{1} : of_power);

  // (1 - e)^(-1/3) = 1 + e / 3 + 2/9 e^2 + 14/81 e^3 + ...
  const T e = Fma(-cube * guess, guess * guess, T{1});
  const T series = kDouble ? Horner(e, poly::kThird<T>, T(2.0 / 9), T(14.0 / 81)) : poly::kThird<T>;
  const T inverse = Fma(guess * e, series, guess);
  const T raw = cube * inverse * inverse;
  const Two<T> square = TwoProduct(raw, raw);
  const T error = Fma(-square.low, raw, Fma(-square.high, raw, cube));
  const T root = Fma(error, inverse * inverse * poly::kThird<T>, raw);
  const bool regular = (magnitude > T{0}) & (magnitude < kInfinity<T>);
  return regular ? FlipSign(root * PowerOfTwo<T>(q.bits), x) : x;
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
  const double nonzero = x_magnitude + y_magnitude == 0.0 ? 0.0 : result;
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
