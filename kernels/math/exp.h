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
SHOAL_MATH_INLINE ExpArgument<double> ReduceByLn2(double x) {
  const auto n = NearestInteger(x, poly::kLog2E);
  // Exact: both terms are multiples of ulp(ln 2) or of ulp(x), and the difference is small.
  const double rest = Fma(-n.value, poly::kLn2, x);
  const double high = Fma(-n.value, poly::kLn2Rest, rest);
  return {high, Fma(-n.value, poly::kLn2Rest, rest - high), n.bits, n.value};
}
SHOAL_MATH_INLINE ExpArgument<float> ReduceByLn2(float x) {
  const auto n = NearestInteger(x, poly::kLog2EF);
  const float rest = Fma(-n.value, poly::kLn2F, x);
  const float high = Fma(-n.value, poly::kLn2RestF, rest);
  return {high, Fma(-n.value, poly::kLn2RestF, rest - high), n.bits, n.value};
}

/// e^(high + low) - 1 as a sum of two, for |high| <= ln(2) / 2. The second is not yet small against
/// the first: adding 1 to `high` makes room for it.
template <class T>
SHOAL_MATH_INLINE Two<T> Expm1Reduced(T high, T low) {
  return {high, Fma(high * high, poly::ExpTail(high), low)};
}

/// e^(high + low).
template <class T>
SHOAL_MATH_INLINE T ExpReduced(T high, T low) {
  const Two<T> expm1 = Expm1Reduced(high, low);
  const Two<T> sum = FastTwoSum(T{1}, expm1.high);
  return sum.high + (sum.low + expm1.low);
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

/// e^(x + low) for a `low` of at most a few ulps of x; x as in Exp.
SHOAL_MATH_INLINE double ExpOfSum(double x, double low) {
  const auto r = ReduceByLn2(ClampForExp(x));
  const Two<double> sum = TwoSum(r.high, low);
  return Scale(ExpReduced(sum.high, sum.low + r.low), r.n);
}

/// e^x for a result of float's precision: x of 42 bits or more, |x| <= 1000 or NaN, the result
/// within 2^-36 of the true one.
SHOAL_MATH_INLINE double ExpShort(double x) {
  const auto n = NearestInteger(x, poly::kLog2E);
  const double r = Fma(-n.value, poly::kLn2, x);
  const double power = Fma(r * r, poly::ExpTailShort(r), 1.0 + r);
  return power * PowerOfTwo<double>(n.bits);
}

/// e^x. e^-inf = 0, e^inf = inf. Subnormal results are rounded once more: half an ulp.
template <class T>
SHOAL_MATH_INLINE T Exp(T x) {
  const auto r = ReduceByLn2(ClampForExp(x));
  return Scale(ExpReduced(r.high, r.low), r.n);
}

/// 2^x. The integer part is taken off exactly; the rest times ln(2) is e's power.
template <class T>
SHOAL_MATH_INLINE T Exp2(T x) {
  constexpr bool kDouble = sizeof(T) == 8;
  const T clamped = ClampForExp(x, kDouble ? T(-1080) : T(-155), kDouble ? T(1025) : T(129));
  const auto n = NearestInteger(clamped, T{1});
  const T fraction = clamped - n.value;
  const T ln2 = kDouble ? T(poly::kLn2) : T(poly::kLn2F);
  const T ln2_rest = kDouble ? T(poly::kLn2Rest) : T(poly::kLn2RestF);
  const Two<T> r = TwoProduct(fraction, ln2);
  return Scale(ExpReduced(r.high, Fma(fraction, ln2_rest, r.low)), n.bits);
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
  const Two<T> raw = Expm1Reduced(r.high, r.low);
  const Two<T> expm1 = FastTwoSum(raw.high, raw.low);
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
