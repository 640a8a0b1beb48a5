#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"
#include "kernels/math/trig_reduction.h"

// Sine, cosine, tangent, each in three forms: XModerate holds for |x| < kModerateBound, XLarge for
// all other x, and X chooses. A loop over a block takes the first where `IsModerate` is true of all
// its elements, else X, and gets the same bits.
namespace shoal::kernels::math {

/// Is x in the range of the cheap reduction?
template <class T>
SHOAL_MATH_INLINE bool IsModerate(T x) {
  return Abs(x) < kModerateBound<T>;
}

/// The sine and the cosine of r, |r| <= pi / 4, each an exact term and a small one.
///
/// sin(a + b) = sin(a) + b cos(a) and cos(a + b) = cos(a) - b sin(a), to first order in b.
template <class T>
SHOAL_MATH_INLINE Two<T> SineReduced(Two<T> r, T z) {
  return {r.high, Fma(r.high * z, poly::SinTail(z), r.low * Fma(z, T(-0.5), T{1}))};
}
template <class T>
SHOAL_MATH_INLINE Two<T> CosineReduced(Two<T> r, T z) {
  const T flat = Fma(z, T(-0.5), T{1});
  const T flat_low = Fma(z, T(-0.5), T{1} - flat);
  return {flat, Fma(z * z, poly::CosTail(z), Fma(-r.high, r.low, flat_low))};
}

/// sin(n pi / 2 + r); with n + 1 for n it is the cosine.
template <class T>
SHOAL_MATH_INLINE T SineOf(Two<T> r, Bits<T> n) {
  const T z = r.high * r.high;
  const T sine = Sum(SineReduced(r, z));
  const T cosine = Sum(CosineReduced(r, z));
  const T value = (n & 1) != 0 ? cosine : sine;
  return FromBits<T>(BitsOf(value) ^ ((n & 2) << (8 * sizeof(T) - 2)));
}

/// tan(n pi / 2 + r): sine / cosine, or for odd n -cosine / sine.
template <class T>
SHOAL_MATH_INLINE T TangentOf(Two<T> r, Bits<T> n) {
  const T z = r.high * r.high;
  const Two<T> sine = SineReduced(r, z);
  const Two<T> cosine = CosineReduced(r, z);
  const bool odd = (n & 1) != 0;
  const Two<T> above = {odd ? cosine.high : sine.high, odd ? cosine.low : sine.low};
  const Two<T> below = {odd ? sine.high : cosine.high, odd ? sine.low : cosine.low};
  const T tangent =
      Sum(Quotient(FastTwoSum(above.high, above.low), FastTwoSum(below.high, below.low)));
  return FromBits<T>(BitsOf(tangent) ^ (n << (8 * sizeof(T) - 1)));
}

template <class T>
SHOAL_MATH_INLINE T SinModerate(T x) {
  const auto a = ReduceModerate(Abs(x));
  return FlipSign(SineOf(a.r, a.n), x);
}
template <class T>
SHOAL_MATH_INLINE T SinLarge(T x) {
  const auto a = ReduceLarge(Abs(x));
  return FlipSign(SineOf(a.r, a.n), x);
}

template <class T>
SHOAL_MATH_INLINE T CosModerate(T x) {
  const auto a = ReduceModerate(Abs(x));
  return SineOf(a.r, a.n + 1);
}
template <class T>
SHOAL_MATH_INLINE T CosLarge(T x) {
  const auto a = ReduceLarge(Abs(x));
  return SineOf(a.r, a.n + 1);
}

template <class T>
SHOAL_MATH_INLINE T TanModerate(T x) {
  const auto a = ReduceModerate(Abs(x));
  return FlipSign(TangentOf(a.r, a.n), x);
}
template <class T>
SHOAL_MATH_INLINE T TanLarge(T x) {
  const auto a = ReduceLarge(Abs(x));
  return FlipSign(TangentOf(a.r, a.n), x);
}

/// sin(x). NaN at infinity, x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Sin(T x) {
  return IsModerate(x) ? SinModerate(x) : SinLarge(x);
}

/// cos(x). NaN at infinity, even to the bit.
template <class T>
SHOAL_MATH_INLINE T Cos(T x) {
  return IsModerate(x) ? CosModerate(x) : CosLarge(x);
}

/// tan(x). NaN at infinity, x at +-0, odd to the bit. Never infinite: no number is a pole.
template <class T>
SHOAL_MATH_INLINE T Tan(T x) {
  return IsModerate(x) ? TanModerate(x) : TanLarge(x);
}

}  // namespace shoal::kernels::math
