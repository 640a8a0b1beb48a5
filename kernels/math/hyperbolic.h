#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/exp.h"
#include "kernels/math/log.h"
#include "kernels/math/polynomials.h"

// Hyperbolic functions and their inverses. Floats are computed in double.
namespace shoal::kernels::math {

/// sinh and cosh of a magnitude a = n ln(2) + r are sums over e^a and e^-a:
///   sinh(a) = up cosh(r) + down... with c = (2^n + 2^-n) / 2, s = (2^n - 2^-n) / 2:
///   sinh(a) = s cosh(r) + c sinh(r),  cosh(a) = c cosh(r) + s sinh(r).
/// With n = 0 the first is sinh(r) to the bit: nothing cancels where a is small.
template <class Result>
struct HyperbolicParts {
  double c, c_low;  ///< Of n, or of 64 if that is less.
  double s, s_low;
  double r, sinh_rest;  ///< sinh(r) = r + sinh_rest.
  double cosh_rest;     ///< cosh(r) = 1 + cosh_rest.
  double scale;         ///< What n has beyond 64, as a power of two.
};
template <class Result>
SHOAL_MATH_INLINE HyperbolicParts<Result> SplitForHyperbolic(double magnitude) {
  const auto x = ReduceByLn2(magnitude);
  const bool far = x.n_value > 64.0;
  const uint64_t n = far ? 64 : x.n;
  const double up = 0.5 * PowerOfTwo<double>(n);
  const double down = 0.5 * PowerOfTwo<double>(-n);
  const double c = up + down;
  const double s = up - down;
  const double z = x.high * x.high;
  if constexpr (sizeof(Result) == sizeof(float)) {
    return {c,
            0.0,
            s,
            0.0,
            x.high,
            x.high * z * poly::SinhTailShort(z),
            z * Fma(z, poly::CoshTailShort(z), 0.5),
            PowerOfTwo<double>(x.n - n)};
  } else {
    return {c,
            (up - c) + down,
            s,
            (up - s) - down,
            x.high,
            Fma(x.high * z, poly::SinhTail(z), x.low),
            Fma(x.high, x.low, z * Fma(z, poly::CoshTail(z), 0.5)),
            PowerOfTwo<double>(x.n - n)};
  }
}

/// a + a_low + b r + (a cosh_rest + b sinh_rest) as c and s take either place, |a| >= |b r| or a =
/// 0.
template <class Result>
SHOAL_MATH_INLINE double HyperbolicSum(const HyperbolicParts<Result>& p, Two<double> a,
                                       Two<double> b) {
  const double small = Fma(a.high, p.cosh_rest, b.high * p.sinh_rest);
  if constexpr (sizeof(Result) == sizeof(float)) {
    return a.high + Fma(b.high, p.r, small);
  } else {
    const Two<double> product = TwoProduct(b.high, p.r);
    const Two<double> sum = FastTwoSum(a.high, product.high);
    const double low = Fma(b.low, p.r, a.low + product.low);
    return (sum.high + (sum.low + (low + small))) * p.scale;
  }
}

/// A magnitude beyond which sinh and cosh overflow, and tanh is 1, is as good as any.
template <class Result>
SHOAL_MATH_INLINE double MagnitudeForHyperbolic(Result x) {
  constexpr double kBound = sizeof(Result) == sizeof(float) ? 100.0 : 715.0;
  const double magnitude = Abs(double{x});
  return magnitude > kBound ? kBound : magnitude;
}

/// sinh(x). x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Sinh(T x) {
  const auto p = SplitForHyperbolic<T>(MagnitudeForHyperbolic(x));
  const double sum = HyperbolicSum(p, Two<double>{p.s, p.s_low}, Two<double>{p.c, p.c_low});
  return FlipSign(static_cast<T>(sum * (sizeof(T) == sizeof(float) ? p.scale : 1.0)), x);
}

/// cosh(x). 1 at +-0, even to the bit.
template <class T>
SHOAL_MATH_INLINE T Cosh(T x) {
  const auto p = SplitForHyperbolic<T>(MagnitudeForHyperbolic(x));
  const double sum = HyperbolicSum(p, Two<double>{p.c, p.c_low}, Two<double>{p.s, p.s_low});
  return static_cast<T>(sum * (sizeof(T) == sizeof(float) ? p.scale : 1.0));
}

/// tanh(x) = E / (E + 2) with E = e^2x - 1. x at +-0, +-1 at infinity, odd to the bit.
SHOAL_MATH_INLINE double Tanh(double x) {
  const double magnitude = Abs(x);
  const auto e = Expm1Parts(2.0 * (magnitude > 20.0 ? 20.0 : magnitude));
  const double power = PowerOfTwo<double>(e.n);
  const Two<double> expm1 = {e.value.high * power, e.value.low * power};
  const Two<double> sum = TwoSum(2.0, expm1.high);
  return FlipSign(Sum(Quotient(expm1, FastTwoSum(sum.high, sum.low + expm1.low))), x);
}
SHOAL_MATH_INLINE float Tanh(float x) {
  const double magnitude = Abs(double{x});
  const auto p = SplitForHyperbolic<float>(magnitude > 20.0 ? 20.0 : magnitude);
  const double sine = HyperbolicSum(p, Two<double>{p.s, 0.0}, Two<double>{p.c, 0.0});
  const double cosine = HyperbolicSum(p, Two<double>{p.c, 0.0}, Two<double>{p.s, 0.0});
  return FlipSign(static_cast<float>(sine / cosine), x);
}

/// asinh(x) = ln(1 + a + a^2 / (1 + sqrt(1 + a^2))) for a = |x|. x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Asinh(T x) {
  const double magnitude = Abs(double{x});
  // ln(2a) from where 1 + a^2 = a^2 on; squares of much larger numbers would overflow.
  const bool far = magnitude > 0x1p28;
  const double a = far ? 0.0 : magnitude;
  const Two<double> square = TwoProduct(a, a);
  const Two<double> one_more = TwoSum(1.0, square.high);
  const Two<double> root = SquareRoot(FastTwoSum(one_more.high, one_more.low + square.low));
  const Two<double> below = FastTwoSum(root.high, 1.0);
  const Two<double> quotient = Quotient(square, FastTwoSum(below.high, below.low + root.low));
  const Two<double> sum = FastTwoSum(a, quotient.high);
  const Two<double> less = TwoSum(magnitude, -1.0);
  const Two<double> argument = {far ? less.high : sum.high,
                                far ? less.low : sum.low + quotient.low};
  const double log = Log1pOfSum(argument, far ? 1.0 : 0.0);
  return FlipSign(static_cast<T>(magnitude == 0.0 ? 0.0 : log), x);
}

/// acosh(x) = ln(1 + t + sqrt(t (t + 2))) for t = x - 1. NaN below 1.
template <class T>
SHOAL_MATH_INLINE T Acosh(T x) {
  const double wide = x;
  const bool far = wide > 0x1p28;
  const Two<double> t = TwoSum(far ? 1.0 : wide, -1.0);
  const Two<double> two_more = TwoSum(t.high, 2.0);
  const Two<double> square = TwoProduct(t, Two<double>{two_more.high, two_more.low + t.low});
  const Two<double> root = SquareRoot(square);
  const Two<double> sum = TwoSum(t.high, root.high);
  const double low = sum.low + (t.low + (square.high == 0.0 ? 0.0 : root.low));
  const Two<double> less = TwoSum(wide, -1.0);
  const Two<double> argument = {far ? less.high : sum.high, far ? less.low : low};
  const double log = Log1pOfSum(argument, far ? 1.0 : 0.0);
  const double inside = wide == 1.0 ? 0.0 : log;
  return static_cast<T>(wide >= 1.0 ? inside : kNaN<double>);
}

/// atanh(x) = ln(1 + 2a / (1 - a)) / 2 for a = |x|. +-inf at +-1, NaN beyond, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Atanh(T x) {
  const double a = Abs(double{x});
  const Two<double> quotient = Quotient(Two<double>{a + a, 0.0}, TwoSum(1.0, -a));
  const double log = 0.5 * Log1pOfSum(quotient, 0.0);
  const double inside = a == 0.0 ? 0.0 : log;
  const double outside = a == 1.0 ? kInfinity<double> : kNaN<double>;
  return FlipSign(static_cast<T>(a < 1.0 ? inside : outside), x);
}

}  // namespace shoal::kernels::math
