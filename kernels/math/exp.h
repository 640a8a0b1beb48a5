#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// Exponentials. x = n ln(2) + r with |r| <= ln(2) / 2, and e^x = 2^n e^r; e^r is a polynomial whose
// first two terms are exact.
namespace shoal::kernels::math {

/// x = n ln(2) + high + low.
template <class T>
struct ExpArgument {
  T high;
  T low;
  Bits<T> n;
  T n_value;
};

/// For |x| below 2^11 (float: 2^8).
template <class T>
SHOAL_MATH_INLINE ExpArgument<T> ReduceByLn2(T x) {
  const auto n = NearestInteger(x, poly::kLog2E<T>);
  // Exact: both terms are multiples of ulp(ln 2) or of ulp(x), and the difference is small.
  const T rest = Fma(-n.value, poly::kLn2<T>, x);
  const T high = Fma(-n.value, poly::kLn2Rest<T>, rest);
  return {high, Fma(-n.value, poly::kLn2Rest<T>, rest - high), n.bits, n.value};
}

/// The same for x.high + x.low, whatever there is in x.low: it may be much more than an ulp.
template <class T>
SHOAL_MATH_INLINE ExpArgument<T> ReduceByLn2(Two<T> x) {
  const auto n = NearestInteger(x.high, poly::kLog2E<T>);
  const T rest = Fma(-n.value, poly::kLn2<T>, x.high);
  const Two<T> sum = FastTwoSum(rest, Fma(-n.value, poly::kLn2Rest<T>, x.low));
  return {sum.high, sum.low, n.bits, n.value};
}

/// e^(high + low), for |high| <= ln(2) / 2, as a sum of two: 1 + high is exact, what follows small.
template <class T>
SHOAL_MATH_INLINE Two<T> ExpReduced(T high, T low) {
  const T tail = Fma(high * high, Fma(high, poly::ExpTail(high), T(0.5)), low);
  const Two<T> sum = FastTwoSum(T{1}, high);
  return {sum.high, sum.low + tail};
}

/// e^(high + low) - 1 as a sum of two. Its last place may be far below that of 1, so here high^2 /
/// 2 is exact as well.
template <class T>
SHOAL_MATH_INLINE Two<T> Expm1Reduced(T high, T low) {
  const Two<T> square = TwoProduct(high, high);
  const T rest = Fma(high * square.high, poly::ExpTail(high), Fma(T(0.5), square.low, low));
  const Two<T> sum = FastTwoSum(high, T(0.5) * square.high);
  return {sum.high, sum.low + rest};
}

/// x, or the bound beyond which e^x is 0 or infinite anyway. A NaN stays.
template <class T>
SHOAL_MATH_INLINE T ClampForExp(T x, T low, T high) {
  const T clamped = x < low ? low : x;
  return clamped > high ? high : clamped;
}

/// The argument of Exp, cut to what makes a difference.
template <class T>
SHOAL_MATH_INLINE T ClampForExp(T x) {
  constexpr bool kDouble = sizeof(T) == 8;
  return ClampForExp(x, kDouble ? T(-760) : T(-110), kDouble ? T(720) : T(100));
}

/// e^(x.high + x.low), x.high as in Exp.
template <class T>
SHOAL_MATH_INLINE T ExpOfSum(Two<T> x) {
  const auto r = ReduceByLn2(Two<T>{ClampForExp(x.high), x.low});
  return Scale(Sum(ExpReduced(r.high, r.low)), r.n);
}

/// e^x for a result of float's precision: x of 42 bits or more, |x| <= 1000 or NaN, the result
/// within 2^-36 of the true one.
SHOAL_MATH_INLINE double ExpShort(double x) {
  const auto n = NearestInteger(x, poly::kLog2E<double>);
  const double r = Fma(-n.value, poly::kLn2<double>, x);
  const double power = Fma(r * r, Fma(r, poly::ExpTailShort(r), 0.5), 1.0 + r);
  return power * PowerOfTwo<double>(n.bits);
}

/// e^x. e^-inf = 0, e^inf = inf. Subnormal results are rounded once more: half an ulp.
template <class T>
SHOAL_MATH_INLINE T Exp(T x) {
  const auto r = ReduceByLn2(ClampForExp(x));
  return Scale(Sum(ExpReduced(r.high, r.low)), r.n);
}

/// 2^x. The integer part is taken off exactly; the rest times ln(2) is e's power.
template <class T>
SHOAL_MATH_INLINE T Exp2(T x) {
  constexpr bool kDouble = sizeof(T) == 8;
  const T clamped = ClampForExp(x, kDouble ? T(-1080) : T(-155), kDouble ? T(1025) : T(129));
  const auto n = NearestInteger(clamped, T{1});
  const T fraction = clamped - n.value;
  const Two<T> r = TwoProduct(fraction, poly::kLn2<T>);
  const T low = Fma(fraction, poly::kLn2Rest<T>, r.low);
  return Scale(Sum(ExpReduced(r.high, low)), n.bits);
}

/// e^x - 1 as a sum of two, for x of at most float's or double's ln(max) + 1, times 2^-n.
///
/// With n = 0 (x near 0) it is the polynomial alone; else 2^n (e^r - 1) + (2^n - 1), where the
/// second term dominates and loses nothing.
template <class T>
struct ScaledExpm1 {
  Two<T> value;
  Bits<T> n;
};
template <class T>
SHOAL_MATH_INLINE ScaledExpm1<T> Expm1Parts(T x) {
  const auto r = ReduceByLn2(x);
  const Two<T> expm1 = Expm1Reduced(r.high, r.low);
  // 1 - 2^-n, which is exact unless n is so large that its second half matters little.
  const T power = r.n_value > T{60} ? T{0} : PowerOfTwo<T>(-r.n);
  const T one = T{1} - power;
  const T one_low = (T{1} - one) - power;
  const Two<T> sum = TwoSum(one, expm1.high);
  return {FastTwoSum(sum.high, sum.low + (one_low + expm1.low)), r.n};
}

/// e^x - 1, also where x is small. -1 at -inf, x at +-0.
template <class T>
SHOAL_MATH_INLINE T Expm1(T x) {
  constexpr bool kDouble = sizeof(T) == 8;
  // Below the bound the result is -1 to the last bit.
  const T clamped = ClampForExp(x, kDouble ? T(-40) : T(-20), kDouble ? T(710) : T(89));
  const auto parts = Expm1Parts(clamped);
  const T result = Scale(Sum(parts.value), parts.n);
  return x == T{0} ? x : result;
}

}  // namespace shoal::kernels::math
