#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/exp.h"
#include "kernels/math/polynomials.h"

// The error function and its complement. Below 1/2 erf is a polynomial in x^2 times x. From
// there on erfc(x) e^(x^2) (1 + 2x) is one in t = (x - 2) / (x + 2), which has all of [1/2, inf) in
// [-3/5, 1); it is between 1.1 and 1.3 throughout.
namespace shoal::kernels::math {

/// erfc(a) for a >= 1/2 (below it: some number).
SHOAL_MATH_INLINE double ErfcBeyondHalf(double a) {
  const double clamped = a > 28.0 ? 28.0 : a;
  const double t = (clamped - 2.0) / (clamped + 2.0);
  const Two<double> factor = FastTwoSum(poly::kErfcScaledAt2, t * poly::ErfcScaled(t));
  const Two<double> scaled =
      Quotient(Two<double>{factor.high, factor.low + poly::kErfcScaledAt2Rest},
               TwoSum(clamped + clamped, 1.0));
  // e^-(a^2) with a^2 as a sum of two: its second half alone is worth 2^-44 of the result.
  const Two<double> square = TwoProduct(clamped, clamped);
  const auto r = ReduceByLn2(-square.high);
  const Two<double> argument = TwoSum(r.high, -square.low);
  const Two<double> expm1 = Expm1Reduced(argument.high, argument.low + r.low);
  const Two<double> sum = FastTwoSum(1.0, expm1.high);
  const Two<double> power = {sum.high, sum.low + expm1.low};
  return Scale(Sum(TwoProduct(power, scaled)), r.n);
}
/// The same for a result of float's precision.
SHOAL_MATH_INLINE double ErfcShortBeyondHalf(double a) {
  const double clamped = a > 11.0 ? 11.0 : a;
  const double t = (clamped - 2.0) / (clamped + 2.0);
  const double factor = Fma(t, poly::ErfcScaledShort(t), poly::kErfcScaledAt2);
  return ExpShort(-clamped * clamped) * factor / Fma(2.0, clamped, 1.0);
}

/// erf(x). x at +-0 (times 2 / sqrt(pi), as everywhere near 0), +-1 at infinity, odd to the bit.
SHOAL_MATH_INLINE double Erf(double x) {
  const double a = Abs(x);
  const double below = Fma(a, poly::ErfTail(a * a), a);
  return FlipSign(a < 0.5 ? below : 1.0 - ErfcBeyondHalf(a), x);
}
SHOAL_MATH_INLINE float Erf(float x) {
  const double a = Abs(double{x});
  const double below = Fma(a, poly::ErfTailShort(a * a), a);
  return FlipSign(static_cast<float>(a < 0.5 ? below : 1.0 - ErfcShortBeyondHalf(a)), x);
}

/// erfc(x) = 1 - erf(x), also where that is tiny. 0 at inf, 2 at -inf.
SHOAL_MATH_INLINE double Erfc(double x) {
  const double a = Abs(x);
  const Two<double> difference = TwoSum(1.0, -x);
  const double below = difference.high + Fma(-x, poly::ErfTail(x * x), difference.low);
  const double beyond = ErfcBeyondHalf(a);
  return a < 0.5 ? below : (x < 0.0 ? 2.0 - beyond : beyond);
}
SHOAL_MATH_INLINE float Erfc(float x) {
  const double wide = x;
  const double a = Abs(wide);
  const double below = (1.0 - wide) - wide * poly::ErfTailShort(wide * wide);
  const double beyond = ErfcShortBeyondHalf(a);
  return static_cast<float>(a < 0.5 ? below : (x < 0.0F ? 2.0 - beyond : beyond));
}

}  // namespace shoal::kernels::math
