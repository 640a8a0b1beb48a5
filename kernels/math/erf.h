#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/exp.h"
#include "kernels/math/polynomials.h"

// The error function and its complement. Below 1/2 erf is a polynomial in x^2 times x. From there
// on erfc(x) e^(x^2) (1 + 2x) is one in t = (x - 2) / (x + 2), which has all of [1/2, inf) in
// [-3/5, 1); it is between 1.1 and 1.3 throughout, so its first term may carry most of it.
namespace shoal::kernels::math {

/// erfc(a) for a >= 1/2 (below it: some number).
template <class T>
SHOAL_MATH_INLINE T ErfcBeyondHalf(T a) {
  constexpr T kZeroFrom = sizeof(T) == sizeof(float) ? T{11} : T{28};
  const T clamped = a > kZeroFrom ? kZeroFrom : a;
  const T t = (clamped - T{2}) / (clamped + T{2});
  const Two<T> factor = FastTwoSum(poly::kErfcScaledAt2<T>, t * poly::ErfcScaled(t));
  const Two<T> scaled = Quotient(Two<T>{factor.high, factor.low + poly::kErfcScaledAt2Rest<T>},
                                 TwoSum(clamped + clamped, T{1}));
  // e^-(a^2) with a^2 as a sum of two: its second half alone is worth hundreds of ulps.
  const Two<T> square = TwoProduct(clamped, clamped);
  const auto r = ReduceByLn2(Two<T>{-square.high, -square.low});
  const Two<T> power = ExpReduced(r.high, r.low);
  return Scale(Sum(LooseProduct(power, scaled)), r.n);
}

/// erf(x). x at +-0, +-1 at infinity, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Erf(T x) {
  const T a = Abs(x);
  const T below = Fma(a, poly::ErfTail(a * a), a);
  return FlipSign(a < T(0.5) ? below : T{1} - ErfcBeyondHalf(a), x);
}

/// erfc(x) = 1 - erf(x), also where that is tiny. 0 at inf, 2 at -inf.
template <class T>
SHOAL_MATH_INLINE T Erfc(T x) {
  const T a = Abs(x);
  const Two<T> difference = TwoSum(T{1}, -x);
  const T below = difference.high + Fma(-x, poly::ErfTail(x * x), difference.low);
  const T beyond = ErfcBeyondHalf(a);
  const T mirrored = x < T{0} ? T{2} - beyond : beyond;
  return a < T(0.5) ? below : mirrored;
}

}  // namespace shoal::kernels::math
