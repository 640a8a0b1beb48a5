#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// Logarithms. x = 2^e m with m in [sqrt(1/2), sqrt(2)), and log(x) = e ln(2) + log(m). Double takes
// log(m) from s = (m - 1) / (m + 1), which halves the terms of the polynomial for one division;
// float's polynomial is short either way and is one in m - 1.
namespace shoal::kernels::math {

/// A positive number as 2^exponent * mantissa, mantissa in [sqrt(1/2), sqrt(2)).
template <class T>
struct Decomposed {
  T exponent;
  T mantissa;
};
template <class T>
SHOAL_MATH_INLINE Decomposed<T> Decompose(T x) {
  using Format = FormatOf<T>;
  constexpr T kScale = static_cast<T>(Bits<T>{1} << (Format::kFractionBits + 1));
  constexpr Bits<T> kFractionMask = (Bits<T>{1} << Format::kFractionBits) - 1;
  constexpr T kSqrtHalf = static_cast<T>(0x1.6a09e667f3bcdp-1);
  const bool subnormal = x < std::numeric_limits<T>::min();
  const Bits<T> bits = BitsOf(subnormal ? x * kScale : x) + (BitsOf(T{1}) - BitsOf(kSqrtHalf));
  const T bias = static_cast<T>(Format::kBias);
  return {FromInteger<T>(bits >> Format::kFractionBits) -
              (subnormal ? bias + static_cast<T>(Format::kFractionBits + 1) : bias),
          FromBits<T>((bits & kFractionMask) + BitsOf(kSqrtHalf))};
}

/// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)].
///
/// In double, with s = f / (2 + f): 2s = f - s f, and s f = f^2 / 2 - s f^2 / 2, so that the large
/// terms f and f^2 / 2 need no division.
SHOAL_MATH_INLINE double LogTail(double f) {
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half_square = 0.5 * f * f;
  return Fma(s, Fma(z, poly::LogTail(z), half_square), -half_square);
}
SHOAL_MATH_INLINE float LogTail(float f) {
  const float square = f * f;
  return Fma(square * f, poly::LogTail(f), -0.5F * square);
}

/// log(x) where it is defined and finite, given what was found for positive x.
template <class T>
SHOAL_MATH_INLINE T WithLogSpecials(T x, T result) {
  const T finite = x < kInfinity<T> ? result : kInfinity<T>;
  const T outside = x == T{0} ? -kInfinity<T> : kNaN<T>;
  return x > T{0} ? finite : outside;
}

/// ln(x). -inf at +-0, NaN below.
template <class T>
SHOAL_MATH_INLINE T Log(T x) {
  const auto d = Decompose(x);
  const T f = d.mantissa - T{1};
  const Two<T> sum = FastTwoSum(d.exponent * poly::kLn2High<T>, f);
  const T rest = Fma(d.exponent, poly::kLn2Low<T>, LogTail(f));
  return WithLogSpecials(x, sum.high + (sum.low + rest));
}

/// log(m) for m = 1 + f in [sqrt(1/2), sqrt(2)], as a sum of two.
template <class T>
SHOAL_MATH_INLINE Two<T> LogOfMantissa(T f) {
  return FastTwoSum(f, LogTail(f));
}

/// log2(x). Exact for powers of two; -inf at +-0, NaN below.
template <class T>
SHOAL_MATH_INLINE T Log2(T x) {
  const auto d = Decompose(x);
  const Two<T> log = LogOfMantissa(d.mantissa - T{1});
  const Two<T> log2 = LooseProduct(log, Two<T>{poly::kLog2E<T>, poly::kLog2ERest<T>});
  const Two<T> sum = FastTwoSum(d.exponent, log2.high);
  return WithLogSpecials(x, sum.high + (sum.low + log2.low));
}

/// log10(x). -inf at +-0, NaN below.
template <class T>
SHOAL_MATH_INLINE T Log10(T x) {
  const auto d = Decompose(x);
  const Two<T> log = LogOfMantissa(d.mantissa - T{1});
  const Two<T> log10 = LooseProduct(log, Two<T>{poly::kLog10E<T>, poly::kLog10ERest<T>});
  const Two<T> sum = FastTwoSum(d.exponent * poly::kLog10Of2High<T>, log10.high);
  const T rest = Fma(d.exponent, poly::kLog10Of2Low<T>, log10.low);
  return WithLogSpecials(x, sum.high + (sum.low + rest));
}

/// ln(2^exponent (1 + x)) for x > -1.
///
/// u = 1 + x is rounded; what that lost, c, is added as c / u. Near 1 that quotient has to be
/// precise only as far as u is: 1 - f + f^2 stands for 1 / (1 + f).
template <class T>
SHOAL_MATH_INLINE T Log1pOfSum(Two<T> x, T exponent) {
  const Two<T> u = TwoSum(T{1}, x.high);
  const auto d = Decompose(u.high);
  const T f = d.mantissa - T{1};
  // 2^-e, by which u became the mantissa. For huge x there is nothing worth adding.
  const T scale = FromBits<T>(BitsOf(d.mantissa) - BitsOf(u.high) + BitsOf(T{1}));
  const T lost = (u.low + x.low) * scale * Fma(f, f - T{1}, T{1});
  const T e = d.exponent + exponent;
  const Two<T> sum = FastTwoSum(e * poly::kLn2High<T>, f);
  const T rest = Fma(e, poly::kLn2Low<T>, LogTail(f) + (x.high < T(0x1p60) ? lost : T{0}));
  const T result = WithLogSpecials(u.high, sum.high + (sum.low + rest));
  // Where u holds little of x the series x - x^2 / 2 is all there is.
  constexpr T kSmall = sizeof(T) == sizeof(float) ? T(0x1p-14) : T(0x1p-28);
  const T small = x.high + Fma(T(-0.5) * x.high, x.high, x.low);
  return Abs(x.high) < kSmall ? small : result;
}

/// ln(1 + x), also where x is small. -inf at -1, NaN below, x at +-0.
template <class T>
SHOAL_MATH_INLINE T Log1p(T x) {
  const T result = Log1pOfSum(Two<T>{x, T{0}}, T{0});
  return x == T{0} ? x : result;
}

/// ln(x) for a positive, normal x, within 2^-42 of the true one.
SHOAL_MATH_INLINE double LogShort(double x) {
  const auto d = Decompose(x);
  const double f = d.mantissa - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double log = Fma(s * z, poly::LogTailShort(z), s + s);
  return Fma(d.exponent, poly::kLn2<double>, log);
}

}  // namespace shoal::kernels::math
