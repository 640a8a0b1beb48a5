#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/exp.h"
#include "kernels/math/log.h"
#include "kernels/math/polynomials.h"

// Hyperbolic functions and their inverses.
namespace shoal::kernels::math {

/// sinh and cosh of a magnitude n ln(2) + r, from c = (2^n + 2^-n) / 2 and s = (2^n - 2^-n) / 2:
///   sinh = s cosh(r) + c sinh(r),  cosh = c cosh(r) + s sinh(r).
/// With n = 0 the first is sinh(r) to the bit: nothing cancels where the magnitude is small.
template <class T>
struct HyperbolicParts {
  Two<T> c;  ///< Of n, or of 64 if that is less.
  Two<T> s;
  T r;
  T sinh_rest;  ///< sinh(r) = r + sinh_rest.
  T cosh_rest;  ///< cosh(r) = 1 + cosh_rest.
  T scale;      ///< What n has beyond 64, as a power of two.
};
template <class T>
SHOAL_MATH_INLINE HyperbolicParts<T> SplitForHyperbolic(T magnitude) {
  const auto x = ReduceByLn2(magnitude);
  const Bits<T> n = x.n_value > T{64} ? 64 : x.n;
  const T up = T(0.5) * PowerOfTwo<T>(n);
  const T down = T(0.5) * PowerOfTwo<T>(-n);
  const T z = x.high * x.high;
  return {FastTwoSum(up, down),
          FastTwoSum(up, -down),
          x.high,
          Fma(x.high * z, poly::SinhTail(z), x.low),
          Fma(x.high, x.low, z * Fma(z, poly::CoshTail(z), T(0.5))),
          PowerOfTwo<T>(x.n - n)};
}

/// a cosh(r) + b sinh(r), where a is 0 or the larger term.
template <class T>
SHOAL_MATH_INLINE T HyperbolicSum(const HyperbolicParts<T>& p, Two<T> a, Two<T> b) {
  const Two<T> product = TwoProduct(b.high, p.r);
  const Two<T> sum = FastTwoSum(a.high, product.high);
  const T low = Fma(b.low, p.r, a.low + product.low);
  const T small = Fma(a.high, p.cosh_rest, b.high * p.sinh_rest);
  return (sum.high + (sum.low + (low + small))) * p.scale;
}

/// |x|, or a magnitude from which on sinh and cosh overflow.
template <class T>
SHOAL_MATH_INLINE T MagnitudeForHyperbolic(T x) {
  constexpr T kBound = sizeof(T) == sizeof(float) ? T{100} : T{715};
  const T magnitude = Abs(x);
  return magnitude > kBound ? kBound : magnitude;
}

/// sinh(x). x at +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Sinh(T x) {
  const auto p = SplitForHyperbolic(MagnitudeForHyperbolic(x));
  return FlipSign(HyperbolicSum(p, p.s, p.c), x);
}

/// cosh(x). 1 at +-0, even to the bit.
template <class T>
SHOAL_MATH_INLINE T Cosh(T x) {
  const auto p = SplitForHyperbolic(MagnitudeForHyperbolic(x));
  return HyperbolicSum(p, p.c, p.s);
}

/// tanh(x) = E / (E + 2) with E = e^2|x| - 1. x at +-0, +-1 at infinity, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Tanh(T x) {
  constexpr T kOneFrom = sizeof(T) == sizeof(float) ? T{10} : T{20};
  const T magnitude = Abs(x);
  const auto e = Expm1Parts(T{2} * (magnitude > kOneFrom ? kOneFrom : magnitude));
  const T power = PowerOfTwo<T>(e.n);
  const Two<T> expm1 = {e.value.high * power, e.value.low * power};
  const Two<T> sum = TwoSum(T{2}, expm1.high);
  return FlipSign(Sum(Quotient(expm1, FastTwoSum(sum.high, sum.low + expm1.low))), x);
}

/// Beyond it the square of a number is not changed by adding 1.
template <class T>
inline constexpr T kSquaresHideOne = sizeof(T) == sizeof(float) ? T(0x1p14) : T(0x1p28);

/// asinh(x) = ln(1 + a + a^2 / (1 + sqrt(1 + a^2))) for a = |x|, and ln(2a) where a is large. x at
/// +-0, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Asinh(T x) {
  const T magnitude = Abs(x);
  const bool far = magnitude > kSquaresHideOne<T>;
  const T a = far ? T{0} : magnitude;
  const Two<T> square = TwoProduct(a, a);
  const Two<T> one_more = TwoSum(T{1}, square.high);
  const Two<T> root = SquareRoot(Two<T>{one_more.high, one_more.low + square.low});
  const Two<T> denominator = FastTwoSum(root.high, T{1});
  const Two<T> quotient = Quotient(square, Two<T>{denominator.high, denominator.low + root.low});
  const Two<T> sum = FastTwoSum(a, quotient.high);
  const Two<T> less = TwoSum(magnitude, T{-1});
  const Two<T> argument = {far ? less.high : sum.high, far ? less.low : sum.low + quotient.low};
  const T log = Log1pOfSum(argument, far ? T{1} : T{0});
  return FlipSign(magnitude == T{0} ? T{0} : log, x);
}

/// acosh(x) = ln(1 + t + sqrt(t (t + 2))) for t = x - 1, and ln(2x) where x is large. NaN below 1.
template <class T>
SHOAL_MATH_INLINE T Acosh(T x) {
  const bool far = x > kSquaresHideOne<T>;
  const Two<T> t = TwoSum(x, T{-1});
  const Two<T> two_more = TwoSum(t.high, T{2});
  const Two<T> square = LooseProduct(t, Two<T>{two_more.high, two_more.low + t.low});
  const Two<T> root = SquareRoot(square);
  const Two<T> sum = TwoSum(t.high, root.high);
  const Two<T> argument = {far ? t.high : sum.high, far ? t.low : sum.low + (t.low + root.low)};
  const T log = Log1pOfSum(argument, far ? T{1} : T{0});
  const T inside = x == T{1} ? T{0} : log;
  return x >= T{1} ? inside : kNaN<T>;
}

/// atanh(x) = ln(1 + 2a / (1 - a)) / 2 for a = |x|. +-inf at +-1, NaN beyond, odd to the bit.
template <class T>
SHOAL_MATH_INLINE T Atanh(T x) {
  const T a = Abs(x);
  const Two<T> quotient = Quotient(Two<T>{a + a, T{0}}, TwoSum(T{1}, -a));
  const T log = T(0.5) * Log1pOfSum(quotient, T{0});
  const T inside = a == T{0} ? T{0} : log;
  const T outside = a == T{1} ? kInfinity<T> : kNaN<T>;
  return FlipSign(a < T{1} ? inside : outside, x);
}

}  // namespace shoal::kernels::math
