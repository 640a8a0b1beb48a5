#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// |x| = n pi / 2 + r with |r| <= pi / 4, for every x. Two ways with different costs; which of them
// an element goes depends on nothing but the element, so results do not depend on its neighbours.
namespace shoal::kernels::math {

/// Below this magnitude the cheap reduction holds.
template <class T>
inline constexpr T kModerateBound = sizeof(T) == sizeof(float) ? T(0x1p17) : T(0x1p30);

/// n in its low two bits, and r.
template <class T>
struct TrigArgument {
  Two<T> r;
  Bits<T> n;
};

/// For 0 <= x < kModerateBound (Cody and Waite, with pi / 2 in three full parts).
///
/// The first step is exact: x and n (pi / 2) are multiples of ulp(pi / 2) or of ulp(x), and their
/// difference is below 1. A double of this range is no closer to a multiple of pi / 2 than 2^-62,
/// and what the third part leaves is 2^-130; of floats 2^-30 and 2^-56.
template <class T>
SHOAL_MATH_INLINE TrigArgument<T> ReduceModerate(T x) {
  const auto n = NearestInteger(x, poly::kTwoOverPi<T>);
  const T rest = Fma(-n.value, poly::kHalfPi<T>, x);
  const Two<T> product = TwoProduct(n.value, poly::kHalfPiRest<T>);
  const Two<T> r = TwoSum(rest, -product.high);
  return {{r.high, Fma(-n.value, poly::kHalfPiRest2<T>, r.low - product.low)}, n.bits};
}

/// Digits of 32 bits.
inline constexpr uint64_t kDigitMask = 0xffffffff;

/// 32 bits of 2/pi from bit `shift` (below 32) of a word of the table on.
SHOAL_MATH_INLINE uint64_t TwoOverPiDigit(uint32_t index, uint64_t shift) {
  const uint64_t words =
      (uint64_t{poly::TwoOverPiWord(index)} << 32) | poly::TwoOverPiWord(index + 1);
  return (words >> (32 - shift)) & kDigitMask;
}

/// A digit of a product with a number of two digits, m1 m0.
struct ProductDigit {
  uint64_t digit;
  uint64_t carry;    ///< Into the next digit, of what is above.
  uint64_t from_m1;  ///< This digit of the other factor times m1: belongs to the next one, too.
};
SHOAL_MATH_INLINE ProductDigit NextDigit(const ProductDigit& last, uint64_t factor, uint64_t m0,
                                         uint64_t m1) {
  const uint64_t from_m0 = m0 * factor;
  const uint64_t sum = (from_m0 & kDigitMask) + (last.from_m1 & kDigitMask) + last.carry;
  return {sum & kDigitMask, (sum >> 32) + (from_m0 >> 32) + (last.from_m1 >> 32), m1 * factor};
}

/// x 2/pi modulo 4, for a large x, in units of 2^-126, cut off there: four digits, the lowest first
/// (Payne and Hanek).
///
/// x = m 2^e. Of the bits of 2/pi those that make multiples of 4 are left out, and after them 192
/// are used; times the 53 bits of m, what is left out counts less than 2^-137.
struct Turn {
  uint64_t digit[4];
};
SHOAL_MATH_INLINE Turn TurnOf(double x, bool large) {
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  const uint64_t mantissa = (BitsOf(x) & kFraction) | (kFraction + 1);
  const uint64_t m0 = mantissa & kDigitMask;
  const uint64_t m1 = mantissa >> 32;
  // The table begins with two words of zeros, so its bit 64 is that of weight 1/2. The first bit to
  // use is that of weight 2^(1 - e), e = exponent field - 1075: bit e + 62.
  // All but large numbers would read beside the table: a vector has moderate ones as well. (A mask,
  // because g++ makes a branch of a choice between x and a constant.)
  const uint64_t mask = uint64_t{0} - static_cast<uint64_t>(large);
  const uint64_t position = ((BitsOf(x) >> 52) - (1075 - 62)) & mask;
  const auto index = static_cast<uint32_t>(position >> 5);
  const uint64_t shift = position & 31;
  const auto p0 = NextDigit({}, TwoOverPiDigit(index + 5, shift), m0, m1);
  const auto p1 = NextDigit(p0, TwoOverPiDigit(index + 4, shift), m0, m1);
  const auto p2 = NextDigit(p1, TwoOverPiDigit(index + 3, shift), m0, m1);
  const auto p3 = NextDigit(p2, TwoOverPiDigit(index + 2, shift), m0, m1);
  const auto p4 = NextDigit(p3, TwoOverPiDigit(index + 1, shift), m0, m1);
  const auto p5 = NextDigit(p4, TwoOverPiDigit(index, shift), m0, m1);
  return {{p2.digit, p3.digit, p4.digit, p5.digit}};
}

/// For any x >= kModerateBound<float>; NaN for infinity and NaN.
SHOAL_MATH_INLINE TrigArgument<double> ReduceLarge(double x) {
  const bool large = (x >= double{kModerateBound<float>}) & (x < kInfinity<double>);
  const Turn turn = TurnOf(x, large);
  // The nearest integer, then what is left of the top digit: in [-2^29, 2^29) of units of 2^-30.
  constexpr uint64_t kHalf = uint64_t{1} << 29;
  const uint64_t n = (turn.digit[3] + kHalf) >> 30;
  const double top =
      (FromInteger<double>(turn.digit[3] + 2 * kHalf - (n << 30)) - 0x1p30) * 0x1p-30;
  // Each digit is exact; of their sum whatever cancels is exact too.
  const Two<double> first = TwoSum(top, FromInteger<double>(turn.digit[2]) * 0x1p-62);
  const Two<double> last = TwoSum(FromInteger<double>(turn.digit[1]) * 0x1p-94,
                                  FromInteger<double>(turn.digit[0]) * 0x1p-126);
  const Two<double> sum = TwoSum(first.high, last.high);
  const Two<double> part = FastTwoSum(sum.high, sum.low + (first.low + last.low));
  const Two<double> r =
      LooseProduct(part, Two<double>{poly::kHalfPi<double>, poly::kHalfPiRest<double>});
  return {{large ? r.high : kNaN<double>, r.low}, n};
}
SHOAL_MATH_INLINE TrigArgument<float> ReduceLarge(float x) {
  const auto wide = ReduceLarge(double{x});
  const auto high = static_cast<float>(wide.r.high);
  return {{high, static_cast<float>(wide.r.high - high)}, static_cast<uint32_t>(wide.n)};
}

}  // namespace shoal::kernels::math
