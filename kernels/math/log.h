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
  constexpr bool kDouble = sizeof(T) == 8;
  const auto d = Decompose(x);
  const T f = d.mantissa - T{1};
  const T ln2_high = kDouble ? T(poly::kLn2High) : T(poly::kLn2HighF);
  const T ln2_low = kDouble ? T(poly::kLn2Low) : T(poly::kLn2LowF);
  const Two<T> sum = FastTwoSum(d.exponent * ln2_high, f);
  const T rest = Fma(d.exponent, ln2_low, LogTail(f));
  return WithLogSpecials(x, sum.high + (sum.low + rest));
}

/// log(m) for m = 1 + f in [sqrt(1/2), sqrt(2)], as a sum of two.
SHOAL_MATH_INLINE Two<double> LogOfMantissa(double f) { return FastTwoSum(f, LogTail(f)); }

/// ln(x) for a positive, normal x, within 2^-42 of the true one.
SHOAL_MATH_INLINE double LogShort(double x) {
  const auto d = Decompose(x);
  const double f = d.mantissa - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  return Fma(d.exponent, poly::kLn2, Fma(s * z, poly::LogTailShort(z), s + s));
}

/// log2(x). Exact for powers of two; -inf at +-0, NaN below.
SHOAL_MATH_INLINE double Log2(double x) {
  const auto d = Decompose(x);
  const Two<double> log = LogOfMantissa(d.mantissa - 1.0);
  const Two<double> log2 = TwoProduct(log, Two<double>{poly::kLog2E, poly::kLog2ERest});
  const Two<double> sum = FastTwoSum(d.exponent, log2.high);
  return WithLogSpecials(x, sum.high + (sum.low + log2.low));
}
SHOAL_MATH_INLINE float Log2(float x) {
  const double wide = x;
  const auto d = Decompose(wide);
  const double f = d.mantissa - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double log = Fma(s * z, poly::LogTailShort(z), s + s);
  return WithLogSpecials(x, static_cast<float>(Fma(log, poly::kLog2E, d.exponent)));
}

/// log10(x). -inf at +-0, NaN below.
SHOAL_MATH_INLINE double Log10(double x) {
  const auto d = Decompose(x);
  const Two<double> log = LogOfMantissa(d.mantissa - 1.0);
  const Two<double> log10 = TwoProduct(log, Two<double>{poly::kLog10E, poly::kLog10ERest});
  const Two<double> sum = FastTwoSum(d.exponent * poly::kLog10Of2High, log10.high);
  const double rest = Fma(d.exponent, poly::kLog10Of2Low, log10.low);
  return WithLogSpecials(x, sum.high + (sum.low + rest));
}
SHOAL_MATH_INLINE float Log10(float x) {
  return WithLogSpecials(x, static_cast<float>(LogShort(double{x}) * poly::kLog10E));
}

/// ln(2^exponent (1 + x)) for x > -1 as a sum of two.
///
/// u = 1 + x is rounded; what that lost, c, is added as c / u. Near 1 that quotient has to be
/// precise only as far as u is: 1 - f + f^2 stands for 1 / (1 + f).
SHOAL_MATH_INLINE double Log1pOfSum(Two<double> x, double exponent) {
  const Two<double> u = TwoSum(1.0, x.high);
  const auto d = Decompose(u.high);
  const double f = d.mantissa - 1.0;
  // 2^-e, by which u became the mantissa. For huge x there is nothing worth adding.
  const double scale = FromBits<double>(BitsOf(d.mantissa) - BitsOf(u.high) + BitsOf(1.0));
  const double lost = (u.low + x.low) * scale * Fma(f, f - 1.0, 1.0);
  const double e = d.exponent + exponent;
  const Two<double> sum = FastTwoSum(e * poly::kLn2High, f);
  const double rest = Fma(e, poly::kLn2Low, LogTail(f) + (x.high < 0x1p60 ? lost : 0.0));
  const double result = WithLogSpecials(u.high, sum.high + (sum.low + rest));
  // Where u holds little of x the series x - x^2 / 2 is all there is.
  const double small = x.high + Fma(-0.5 * x.high, x.high, x.low);
  return Abs(x.high) < 0x1p-28 ? small : result;
}

/// ln(1 + x), also where x is small. -inf at -1, NaN below, x at +-0.
SHOAL_MATH_INLINE double Log1p(double x) {
  const double result = Log1pOfSum({x, 0.0}, 0.0);
  return x == 0.0 ? x : result;
}
SHOAL_MATH_INLINE float Log1p(float x) {
  const double wide = x;
  // 1 + x would lose the tail of a small x: there x - x^2 / 2 is as good as the logarithm.
  const double small = Fma(-0.5 * wide, wide, wide);
  const float result = static_cast<float>(Abs(x) < 0x1p-20F ? small : LogShort(1.0 + wide));
  const float checked = WithLogSpecials(1.0F + x, result);
  return Abs(x) < 0x1p-20F ? static_cast<float>(small) : checked;
}

}  // namespace shoal::kernels::math
