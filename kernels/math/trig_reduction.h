#pragma once

#include "kernels/math/bits.h"
#include "kernels/math/polynomials.h"

// |x| = n pi / 2 + r with |r| <= pi / 4, for every x. Two ways with different costs; which of them
// an element goes depends on nothing but the element, so results do not depend on its neighbours.
namespace shoal::kernels::math {

/// Below this magnitude the cheap reduction holds.
inline constexpr double kModerateBound = 0x1p30;

/// n in its low two bits, and r.
struct TrigArgument {
  Two<double> r;
  uint64_t n;
};

/// For 0 <= x < kModerateBound (Cody and Waite, with pi / 2 in three parts of 53 bits). `Result` is
/// float if r needs no second half.
///
/// The first step is exact: x and n (pi / 2) are multiples of ulp(pi / 2) or of ulp(x), and their
/// difference is below 1. A double of this range is no closer to a multiple of pi / 2 than 2^-62;
/// what the third part leaves is 2^-130.
template <class Result>
SHOAL_MATH_INLINE TrigArgument ReduceModerate(double x) {
  const auto n = NearestInteger(x, poly::kTwoOverPi);
  const double rest = Fma(-n.value, poly::kHalfPi, x);
  if constexpr (sizeof(Result) == sizeof(float)) {
    return {{Fma(-n.value, poly::kHalfPiRest, rest), 0.0}, n.bits};
  } else {
    const Two<double> product = TwoProduct(n.value, poly::kHalfPiRest);
    const Two<double> r = TwoSum(rest, -product.high);
    return {{r.high, Fma(-n.value, poly::kHalfPiRest2, r.low - product.low)}, n.bits};
  }
}

/// x 2/pi modulo 4, times 2^190: six words of 32 bits, the lowest first (Payne and Hanek).
///
/// x = m 2^e. Of the bits of 2/pi those that make multiples of 4 are left out, and after them 192
/// are used; times the 53 bits of m, what is left out counts less than 2^-137.
struct TurnWords {
  uint64_t word[6];
};
SHOAL_MATH_INLINE TurnWords MultiplyByTwoOverPi(double x) {
  constexpr uint64_t kLow = 0xffffffff;
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  const uint64_t mantissa = (BitsOf(x) & kFraction) | (kFraction + 1);
  const uint64_t m0 = mantissa & kLow;
  const uint64_t m1 = mantissa >> 32;
  // The table begins with a word of zeros, bit 32 of it being that of weight 1/2. The first bit to
  // use is that of weight 2^(1 - e), e = exponent field - 1075: position e + 30.
  const uint64_t position = (BitsOf(x) >> 52) - (1075 - 30);
  const auto index = static_cast<uint32_t>(position >> 5);
  const uint64_t shift = 32 - (position & 31);
  uint64_t window[6];
  uint64_t above = poly::TwoOverPiWord(index);
  for (uint32_t i = 0; i < 6; ++i) {
    const uint64_t below = poly::TwoOverPiWord(index + i + 1);
    window[5 - i] = (((above << 32) | below) >> shift) & kLow;
    above = below;
  }
  TurnWords turn;
  uint64_t carry = 0;
  uint64_t from_m1 = 0;
  for (int i = 0; i < 6; ++i) {
    const uint64_t from_m0 = m0 * window[i];
    const uint64_t sum = (from_m0 & kLow) + (from_m1 & kLow) + carry;
    turn.word[i] = sum & kLow;
    carry = (sum >> 32) + (from_m0 >> 32) + (from_m1 >> 32);
    from_m1 = m1 * window[i];
  }
  return turn;
}

/// For any x >= kModerateBound; NaN for infinity and NaN.
SHOAL_MATH_INLINE TrigArgument ReduceLarge(double x) {
  // Infinity and NaN would read past the table.
  const bool finite = x < kInfinity<double>;
  const TurnWords turn = MultiplyByTwoOverPi(finite ? x : kModerateBound);
  // The nearest integer, then what is left of the top word: in [-2^29, 2^29) of units of 2^-30.
  constexpr uint64_t kHalf = uint64_t{1} << 29;
  const uint64_t n = (turn.word[5] + kHalf) >> 30;
  const double top = (FromInteger<double>(turn.word[5] + 2 * kHalf - (n << 30)) - 0x1p30) * 0x1p-30;
  // Each word is exact; of their sum whatever cancels is exact too.
  const Two<double> first = TwoSum(top, FromInteger<double>(turn.word[4]) * 0x1p-62);
  const Two<double> last = TwoSum(FromInteger<double>(turn.word[3]) * 0x1p-94,
                                  FromInteger<double>(turn.word[2]) * 0x1p-126);
  const Two<double> sum = TwoSum(first.high, last.high);
  const Two<double> part = FastTwoSum(sum.high, sum.low + (first.low + last.low));
  const Two<double> r = TwoProduct(part, Two<double>{poly::kHalfPi, poly::kHalfPiRest});
  return {{finite ? r.high : kNaN<double>, r.low}, n};
}

}  // namespace shoal::kernels::math
