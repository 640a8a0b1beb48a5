#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/exp.h"
#include "kernels/math/log.h"
#include "kernels/math/polynomials.h"

// x^y = e^(y ln|x|), with a sign. For a double the exponent reaches 745 and its error becomes the
// result's relative error, so ln|x| is computed to 2^-64: the first two terms of its series in sums
// of two doubles.
namespace shoal::kernels::math {

/// ln(x) for positive finite x, within 2^-64 of the true one. The second part may be far more than
/// an ulp of the first: nobody needs it to be less, so no sum on the way is put in order.
SHOAL_MATH_INLINE Two<double> LogLong(double x) {
  const auto d = Decompose(x);
  const double f = d.mantissa - 1.0;
  const Two<double> s = Quotient(Two<double>{f, 0.0}, FastTwoSum(2.0, f));
  const Two<double> z = LooseProduct(s, s);
  // 2/3 + z p(z), of which only the first term needs its second half.
  const Two<double> sum = FastTwoSum(poly::kTwoThirds<double>, z.high * poly::LogTailLong(z.high));
  const Two<double> factor = {sum.high, sum.low + poly::kTwoThirdsRest<double>};
  const Two<double> rest = LooseProduct(s, LooseProduct(z, factor));
  const Two<double> log = FastTwoSum(s.high + s.high, rest.high);
  const double log_low = log.low + (s.low + s.low + rest.low);
  const Two<double> all = FastTwoSum(d.exponent * poly::kLn2High<double>, log.high);
  return {all.high, all.low + Fma(d.exponent, poly::kLn2Low<double>, log_low)};
}

/// |x|^y where neither special cases nor signs matter.
SHOAL_MATH_INLINE double PowOfMagnitude(double magnitude, double y) {
  const bool regular = (magnitude > 0.0) & (magnitude < kInfinity<double>);
  const Two<double> log = LogLong(magnitude);
  // ln(0) = -inf; of infinity and NaN the logarithm is the number itself.
  const double irregular = magnitude == 0.0 ? -kInfinity<double> : magnitude;
  const double log_high = regular ? log.high : irregular;
  const double product = y * log_high;
  const double low = Fma(y, log.low, Fma(y, log.high, -product));
  // Where the result overflows or vanishes the low part may have overflowed too.
  const bool useful = regular & (Abs(product) < 2000.0);
  return ExpOfSum(Two<double>{product, useful ? low : 0.0});
}
SHOAL_MATH_INLINE float PowOfMagnitude(float magnitude, float y) {
  const bool regular = (magnitude > 0.0F) & (magnitude < kInfinity<float>);
  const float irregular = magnitude == 0.0F ? -kInfinity<float> : magnitude;
  const double log = regular ? LogShort(double{magnitude}) : double{irregular};
  return static_cast<float>(ExpShort(ClampForExp(double{y} * log, -200.0, 200.0)));
}

/// 2^fraction bits: from here on every number is an integer.
template <class T>
inline constexpr T kIntegersFrom = static_cast<T>(Bits<T>{1} << FormatOf<T>::kFractionBits);

/// Is x an integer? True for infinities.
template <class T>
SHOAL_MATH_INLINE bool IsInteger(T x) {
  const T magnitude = Abs(x);
  const T rounded = (magnitude + kIntegersFrom<T>)-kIntegersFrom<T>;
  return (magnitude >= kIntegersFrom<T>) | (rounded == magnitude);
}

/// x^y with C99's special cases: 1^y = x^0 = 1 even for NaN; (-1)^+-inf = 1; a negative x with y
/// not an integer gives NaN; the result has x's sign if y is an odd integer.
template <class T>
SHOAL_MATH_INLINE T Pow(T x, T y) {
  const T magnitude = PowOfMagnitude(Abs(x), y);
  // Odd: an integer below 2^(fraction bits + 1) whose half is none.
  const bool odd = IsInteger(y) & !IsInteger(y * T{0.5}) & (Abs(y) < T{2} * kIntegersFrom<T>);
  const T with_sign = odd ? FlipSign(magnitude, x) : magnitude;
  const bool no_root = (x < T{0}) & (x > -kInfinity<T>)&!IsInteger(y);
  const T result = no_root ? kNaN<T> : with_sign;
  const bool is_one = (x == T{1}) | (y == T{0}) | ((x == T{-1}) & (Abs(y) == kInfinity<T>));
  return is_one ? T{1} : result;
}

}  // namespace shoal::kernels::math
