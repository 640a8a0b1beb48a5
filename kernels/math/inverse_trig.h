#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// Arcus functions: a multiple of pi / 4 plus or minus that of a small argument. Floats are computed
// in double, without the second halves that keep a double's error below an ulp.
namespace shoal::kernels::math {

/// c pi / 4 for c of 0 to 4.
SHOAL_MATH_INLINE Two<double> EighthTurns(double c) {
  const double high = c * (0.5 * poly::kHalfPi);
  const double low = Fma(c, 0.5 * poly::kHalfPi, -high);
  return {high, Fma(c, 0.5 * poly::kHalfPiRest, low)};
}

/// The quotient of two magnitudes, made fit for atan's series.
struct AtanArgument {
  Two<double> t;   ///< |t| <= tan(pi / 8).
  double eighths;  ///< The angle is this many pi / 4 + atan(t).
};

/// The angle whose tangent is below / above, 0 <= below <= above, above a normal number.
template <class Result>
SHOAL_MATH_INLINE AtanArgument ReduceForAtan(double below, double above) {
  // Beyond tan(pi / 8) turn by pi / 4: tan(v - pi / 4) = (tan(v) - 1) / (tan(v) + 1).
  const bool turn = below > poly::kTanEighthPi * above;
  const double eighths = turn ? 1.0 : 0.0;
  if constexpr (sizeof(Result) == sizeof(float)) {
    return {{(turn ? below - above : below) / (turn ? above + below : above), 0.0}, eighths};
  } else {
    const Two<double> difference = FastTwoSum(-above, below);
    const Two<double> sum = FastTwoSum(above, below);
    const Two<double> a = {turn ? difference.high : below, turn ? difference.low : 0.0};
    const Two<double> b = {turn ? sum.high : above, turn ? sum.low : 0.0};
    return {Quotient(a, b), eighths};
  }
}

/// offset eighths of a turn, plus sign times the angle of `a`.
template <class Result>
SHOAL_MATH_INLINE double AtanFrom(AtanArgument a, double offset, double sign) {
  const double t = sign * a.t.high;
  const double z = t * t;
  const Two<double> base = EighthTurns(Fma(sign, a.eighths, offset));
  if constexpr (sizeof(Result) == sizeof(float)) {
    return base.high + Fma(t * z, poly::AtanTailShort(z), t);
  } else {
    const Two<double> sum = FastTwoSum(base.high, t);
    // d atan(t) = dt / (1 + t^2), to which 1 - t^2 is close enough for the second half.
    const double low = Fma(sign * a.t.low, 1.0 - z, base.low);
    return sum.high + (sum.low + Fma(t * z, poly::AtanTail(z), low));
  }
}

/// atan(x). x at +-0, +-pi / 2 at infinity, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Atan(T x) {
  const double magnitude = Abs(double{x});
  const bool swap = magnitude > 1.0;
  // Beyond 2^100 the angle is pi / 2, and infinity has no quotient.
  const double above = magnitude < 0x1p100 ? magnitude : 0x1p100;
  const double checked = x == x ? above : kNaN<double>;
  const auto a = ReduceForAtan<T>(swap ? 1.0 : checked, swap ? checked : 1.0);
  const double angle = AtanFrom<T>(a, swap ? 2.0 : 0.0, swap ? -1.0 : 1.0);
  return FlipSign(static_cast<T>(angle), x);
}

/// The angle of the point (x, y), as C99 has it: zeros and infinities have signs, quadrants too.
template <class T>
SHOAL_MATH_INLINE T Atan2(T y, T x) {
  const double y_magnitude = Abs(double{y});
  const double x_magnitude = Abs(double{x});
  const bool swap = y_magnitude > x_magnitude;
  const double below = swap ? x_magnitude : y_magnitude;
  const double above = swap ? y_magnitude : x_magnitude;
  // Two infinities are as two ones, (0, 0) as (1, 0); else a power of two keeps the quotient's
  // parts from overflow and underflow.
  const bool infinite = above == kInfinity<double>;
  const bool trivial = infinite | (above == 0.0);
  const double small_scale = above < 0x1p-800 ? 0x1p200 : 1.0;
  const double scale = above > 0x1p800 ? 0x1p-200 : small_scale;
  const double below_trivial = infinite & (below == above) ? 1.0 : 0.0;
  const auto a =
      ReduceForAtan<T>(trivial ? below_trivial : below * scale, trivial ? 1.0 : above * scale);
  // In the first octant the angle itself; then each mirror: at the diagonal, at the y axis.
  const bool left = (BitsOf(x) & kSignBit<T>) != 0;
  const double offset = swap ? 2.0 : (left ? 4.0 : 0.0);
  const double angle = AtanFrom<T>(a, offset, swap != left ? -1.0 : 1.0);
  const bool valid = (x == x) & (y == y);
  return valid ? FlipSign(static_cast<T>(angle), y) : kNaN<T>;
}

/// asin and acos of a magnitude: below 1/2 by the series; above it by
/// asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)), whose root is exact to both halves.
struct AsinSeries {
  double s;     ///< The argument of the series.
  double rest;  ///< asin(s) - s, and what the root lost.
};
template <class Result>
SHOAL_MATH_INLINE AsinSeries AsinOf(double magnitude, bool big) {
  const double z = big ? 0.5 - 0.5 * magnitude : magnitude * magnitude;
  const double root = SquareRoot(z);
  const double s = big ? root : magnitude;
  if constexpr (sizeof(Result) == sizeof(float)) {
    return {s, s * z * poly::AsinTailShort(z)};
  } else {
    const double lost = big & (z > 0.0) ? Fma(-root, root, z) / (root + root) : 0.0;
    return {s, Fma(s * z, poly::AsinTail(z), lost)};
  }
}

/// eighths pi / 4 + factor (s + rest); eighths is 0, or the sum's larger part.
SHOAL_MATH_INLINE double AngleFrom(double eighths, double factor, AsinSeries a) {
  const Two<double> base = EighthTurns(eighths);
  const Two<double> sum = FastTwoSum(base.high, factor * a.s);
  return sum.high + (sum.low + Fma(factor, a.rest, base.low));
}

/// asin(x). NaN beyond 1, x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Asin(T x) {
  const double magnitude = Abs(double{x});
  const bool big = magnitude > 0.5;
  const auto a = AsinOf<T>(magnitude, big);
  return FlipSign(static_cast<T>(AngleFrom(big ? 2.0 : 0.0, big ? -2.0 : 1.0, a)), x);
}

/// acos(x). NaN beyond 1, 0 at 1.
template <class T>
SHOAL_MATH_INLINE T Acos(T x) {
  const double magnitude = Abs(double{x});
  const bool big = magnitude > 0.5;
  const bool negative = x < T{0};
  const auto a = AsinOf<T>(magnitude, big);
  const double of_big = negative ? 4.0 : 0.0;
  const double factor_of_big = negative ? -2.0 : 2.0;
  const double factor_of_small = negative ? 1.0 : -1.0;
  return static_cast<T>(AngleFrom(big ? of_big : 2.0, big ? factor_of_big : factor_of_small, a));
}

}  // namespace shoal::kernels::math
