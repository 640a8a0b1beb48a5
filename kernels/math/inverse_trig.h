#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// Arcus functions: a multiple of pi / 4 plus or minus the angle of a small argument, which is a
// polynomial.
namespace shoal::kernels::math {

/// c pi / 4 for c of 0 to 4.
template <class T>
SHOAL_MATH_INLINE Two<T> EighthTurns(T c) {
  constexpr T kQuarterPi = T(0.5) * poly::kHalfPi<T>;
  const Two<T> product = TwoProduct(c, kQuarterPi);
  return {product.high, Fma(c, T(0.5) * poly::kHalfPiRest<T>, product.low)};
}

/// The quotient of two magnitudes, made fit for atan's series.
template <class T>
struct AtanArgument {
  Two<T> t;   ///< |t| <= tan(pi / 8).
  T eighths;  ///< The angle is this many pi / 4 + atan(t).
};

/// The angle whose tangent is below / above, 0 <= below <= above, above a normal number.
///
/// Beyond tan(pi / 8) it is turned by pi / 4: tan(v - pi / 4) = (tan(v) - 1) / (tan(v) + 1).
template <class T>
SHOAL_MATH_INLINE AtanArgument<T> ReduceForAtan(T below, T above) {
  const bool turn = below > poly::kTanEighthPi<T> * above;
  const Two<T> difference = FastTwoSum(-above, below);
  const Two<T> sum = FastTwoSum(above, below);
  const Two<T> a = {turn ? difference.high : below, turn ? difference.low : T{0}};
  const Two<T> b = {turn ? sum.high : above, turn ? sum.low : T{0}};
  return {Quotient(a, b), turn ? T{1} : T{0}};
}

/// offset eighths of a turn, plus sign times the angle of `a`.
template <class T>
SHOAL_MATH_INLINE T AtanFrom(AtanArgument<T> a, T offset, T sign) {
  const T t = sign * a.t.high;
  const T z = t * t;
  const Two<T> base = EighthTurns(Fma(sign, a.eighths, offset));
  const Two<T> sum = FastTwoSum(base.high, t);
  // d atan(t) = dt / (1 + t^2), to which 1 - t^2 is close enough for the second half.
  const T low = Fma(sign * a.t.low, T{1} - z, base.low);
  return sum.high + (sum.low + Fma(t * z, poly::AtanTail(z), low));
}

/// atan(x). x at +-0, +-pi / 2 at infinity, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Atan(T x) {
  const T magnitude = Abs(x);
  const bool swap = magnitude > T{1};
  // Beyond 2^100 the angle is pi / 2, and infinity has no quotient.
  const T finite = magnitude > T(0x1p100) ? T(0x1p100) : magnitude;
  const auto a = ReduceForAtan(swap ? T{1} : finite, swap ? finite : T{1});
  return FlipSign(AtanFrom(a, swap ? T{2} : T{0}, swap ? T{-1} : T{1}), x);
}

/// The angle of the point (x, y), as C99 has it: zeros and infinities have signs, quadrants too.
template <class T>
SHOAL_MATH_INLINE T Atan2(T y, T x) {
  constexpr bool kDouble = sizeof(T) == sizeof(double);
  const T y_magnitude = Abs(y);
  const T x_magnitude = Abs(x);
  const bool swap = y_magnitude > x_magnitude;
  const T below = swap ? x_magnitude : y_magnitude;
  const T above = swap ? y_magnitude : x_magnitude;
  // Where the quotient's parts would overflow or underflow, a power of two is taken out.
  const T up =
      above < (kDouble ? T(0x1p-800) : T(0x1p-90)) ? (kDouble ? T(0x1p200) : T(0x1p30)) : T{1};
  const T scale =
      above > (kDouble ? T(0x1p800) : T(0x1p90)) ? (kDouble ? T(0x1p-200) : T(0x1p-30)) : up;
  // Two infinities are as two ones, one is as (0, 1), and so is (0, 0).
  const bool infinite = above == kInfinity<T>;
  const bool trivial = infinite | (above == T{0});
  const T below_trivial = (infinite & (below == above)) ? T{1} : T{0};
  const auto a =
      ReduceForAtan(trivial ? below_trivial : below * scale, trivial ? T{1} : above * scale);
  // In the first octant the angle itself; then each mirror: at the diagonal, at the y axis.
  const bool left = (BitsOf(x) & kSignBit<T>) != 0;
  const T offset_of_x = left ? T{4} : T{0};
  const T angle = AtanFrom(a, swap ? T{2} : offset_of_x, swap != left ? T{-1} : T{1});
  const bool valid = (x == x) & (y == y);
  return valid ? FlipSign(angle, y) : kNaN<T>;
}

/// What asin and acos of a magnitude have in common: below 1/2 the series; above it
/// asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
template <class T>
struct AsinSeries {
  T s;     ///< The argument of the series.
  T rest;  ///< asin(s) - s, and what the root lost.
};
template <class T>
SHOAL_MATH_INLINE AsinSeries<T> AsinOf(T magnitude, bool big) {
  const T z = big ? Fma(magnitude, T(-0.5), T(0.5)) : magnitude * magnitude;
  const T root = SquareRoot(z);
  const T s = big ? root : magnitude;
  const T lost = (big & (z > T{0})) ? Fma(-root, root, z) / (root + root) : T{0};
  return {s, Fma(s * z, poly::AsinTail(z), lost)};
}

/// eighths pi / 4 + factor (s + rest); eighths is 0, or the sum's larger part.
template <class T>
SHOAL_MATH_INLINE T AngleFrom(T eighths, T factor, AsinSeries<T> a) {
  const Two<T> base = EighthTurns(eighths);
  const Two<T> sum = FastTwoSum(base.high, factor * a.s);
  return sum.high + (sum.low + Fma(factor, a.rest, base.low));
}

/// asin(x). NaN beyond 1, x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Asin(T x) {
  const T magnitude = Abs(x);
  const bool big = magnitude > T(0.5);
  return FlipSign(AngleFrom(big ? T{2} : T{0}, big ? T{-2} : T{1}, AsinOf(magnitude, big)), x);
}

/// acos(x). NaN beyond 1, 0 at 1.
template <class T>
SHOAL_MATH_INLINE T Acos(T x) {
  const T magnitude = Abs(x);
  const bool big = magnitude > T(0.5);
  const bool negative = x < T{0};
  const T eighths_of_big = negative ? T{4} : T{0};
  const T factor_of_big = negative ? T{-2} : T{2};
  const T factor_of_small = negative ? T{1} : T{-1};
  return AngleFrom(big ? eighths_of_big : T{2}, big ? factor_of_big : factor_of_small,
                   AsinOf(magnitude, big));
}

}  // namespace shoal::kernels::math
