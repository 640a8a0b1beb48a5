#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"
#include "kernels/math/trig_reduction.h"

// Sine, cosine, tangent, each in three forms: XModerate holds for |x| < kModerateBound, XLarge for
// all other x, and X chooses. A loop over a block takes the first where `IsModerate` is true of all
// its elements, else X, and gets the same bits. Floats are computed in double.
namespace shoal::kernels::math {

/// Is x in the range of the cheap reduction?
template <class T>
SHOAL_MATH_INLINE bool IsModerate(T x) {
  return Abs(x) < static_cast<T>(kModerateBound);
}

/// The sine and the cosine of r.
template <class Result>
struct SineCosine {
  Two<double> sine;
  Two<double> cosine;
};
template <class Result>
SHOAL_MATH_INLINE SineCosine<Result> SineCosineReduced(Two<double> r) {
  const double z = r.high * r.high;
  if constexpr (sizeof(Result) == sizeof(float)) {
    const double sine = Fma(r.high * z, poly::SinTailShort(z), r.high);
    const double cosine = Fma(z * z, poly::CosTailShort(z), Fma(z, -0.5, 1.0));
    return {{sine, 0.0}, {cosine, 0.0}};
  } else {
    // sin(a + b) = sin(a) + b cos(a), cos(a + b) = cos(a) - b sin(a), to first order in b.
    const double flat = Fma(z, -0.5, 1.0);
    const double flat_low = Fma(z, -0.5, 1.0 - flat);
    const double sine = Fma(r.high * z, poly::SinTail(z), r.low * flat);
    const double cosine = Fma(z * z, poly::CosTail(z), Fma(-r.high, r.low, flat_low));
    return {{r.high, sine}, {flat, cosine}};
  }
}

/// sin(n pi / 2 + r); with n + 1 for n it is the cosine.
template <class Result>
SHOAL_MATH_INLINE double SineOf(Two<double> r, uint64_t n) {
  const auto of_r = SineCosineReduced<Result>(r);
  const double sine = Sum(of_r.sine);
  const double cosine = Sum(of_r.cosine);
  const double value = (n & 1) != 0 ? cosine : sine;
  return FromBits<double>(BitsOf(value) ^ ((n & 2) << 62));
}

/// tan(n pi / 2 + r).
template <class Result>
SHOAL_MATH_INLINE double TangentOf(Two<double> r, uint64_t n) {
  const auto of_r = SineCosineReduced<Result>(r);
  const bool odd = (n & 1) != 0;
  const uint64_t sign = (n & 1) << 63;
  if constexpr (sizeof(Result) == sizeof(float)) {
    const double sine = of_r.sine.high;
    const double cosine = of_r.cosine.high;
    const double tangent = (odd ? cosine : sine) / (odd ? sine : cosine);
    return FromBits<double>(BitsOf(tangent) ^ sign);
  } else {
    const Two<double> sine = FastTwoSum(of_r.sine.high, of_r.sine.low);
    const Two<double> cosine = FastTwoSum(of_r.cosine.high, of_r.cosine.low);
    const Two<double> above = {odd ? cosine.high : sine.high, odd ? cosine.low : sine.low};
    const Two<double> below = {odd ? sine.high : cosine.high, odd ? sine.low : cosine.low};
    return FromBits<double>(BitsOf(Sum(Quotient(above, below))) ^ sign);
  }
}

template <class T>
SHOAL_MATH_INLINE T SinModerate(T x) {
  const auto a = ReduceModerate<T>(Abs(double{x}));
  return FlipSign(static_cast<T>(SineOf<T>(a.r, a.n)), x);
}
template <class T>
SHOAL_MATH_INLINE T SinLarge(T x) {
  const auto a = ReduceLarge(Abs(double{x}));
  return FlipSign(static_cast<T>(SineOf<T>(a.r, a.n)), x);
}

template <class T>
SHOAL_MATH_INLINE T CosModerate(T x) {
  const auto a = ReduceModerate<T>(Abs(double{x}));
  return static_cast<T>(SineOf<T>(a.r, a.n + 1));
}
template <class T>
SHOAL_MATH_INLINE T CosLarge(T x) {
  const auto a = ReduceLarge(Abs(double{x}));
  return static_cast<T>(SineOf<T>(a.r, a.n + 1));
}

template <class T>
SHOAL_MATH_INLINE T TanModerate(T x) {
  const auto a = ReduceModerate<T>(Abs(double{x}));
  return FlipSign(static_cast<T>(TangentOf<T>(a.r, a.n)), x);
}
template <class T>
SHOAL_MATH_INLINE T TanLarge(T x) {
  const auto a = ReduceLarge(Abs(double{x}));
  return FlipSign(static_cast<T>(TangentOf<T>(a.r, a.n)), x);
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
