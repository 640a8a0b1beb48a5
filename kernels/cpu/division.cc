// Division: true, and floored with its remainder.
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/division.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

// Smith's method, as NumPy: scaled by the larger part of the divisor, so that squares of its parts
// do not overflow. (R. L. Smith, Algorithm 116, CACM 5(8), 1962.)
template <class T>
SHOAL_INLINE Complex<T> Quotient(Complex<T> x, Complex<T> y) {
  const bool by_real = std::fabs(y.re) >= std::fabs(y.im);
  const T large = by_real ? y.re : y.im;
  const T small = by_real ? y.im : y.re;
  const T ratio = small / large;
  const T scale = T{1} / (large + small * ratio);
  const T re = by_real ? x.re + x.im * ratio : x.re * ratio + x.im;
  const T im = by_real ? MinusUnfused(x.im, x.re * ratio) : MinusUnfused(x.im * ratio, x.re);
  const bool zero = y.re == 0 && y.im == 0;
  const T divisor = std::fabs(y.re);
  return {zero ? x.re / divisor : re * scale, zero ? x.im / divisor : im * scale};
}

struct Divide : Plain<Divide> {
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x, T y) {
    return x / y;
  }
  template <class T>
  SHOAL_INLINE static Complex<T> Call(Complex<T> x, Complex<T> y) {
    return Quotient(x, y);
  }
};

// Quotients of integers through floats, which vectorise: exact, because a quotient of integers of n
// bits is at least 2^-n away from a whole number that it is not, and the float has more bits than
// that for it.
template <class T>
using QuotientFloat = std::conditional_t<(sizeof(T) < 4), float, double>;

template <std::integral T>
SHOAL_INLINE T FloorQuotient(T x, T y) {
  using F = QuotientFloat<T>;
  const F quotient = std::floor(static_cast<F>(x) / static_cast<F>(y == 0 ? T{1} : y));
  if constexpr (std::signed_integral<T>) {
    // By -1 the least integer has no quotient: it wraps.
    const auto wrapped = static_cast<T>(Negated(static_cast<Signless<T>>(x)));
    const T other = static_cast<T>(static_cast<int32_t>(y == -1 ? F{0} : quotient));
    return y == 0 ? T{0} : y == -1 ? wrapped : other;
  } else {
    return y == 0 ? T{0} : static_cast<T>(quotient);
  }
}

// Of 64 bits no float is wide enough.
SHOAL_INLINE int64_t FloorQuotient(int64_t x, int64_t y) {
  const int64_t divisor = y == 0 || y == -1 ? 1 : y;
  const int64_t quotient = x / divisor;
  const int64_t rest = x % divisor;
  const int64_t floored = quotient - ((rest != 0 && (rest < 0) != (divisor < 0)) ? 1 : 0);
  const auto wrapped = static_cast<int64_t>(Negated(static_cast<uint64_t>(x)));
  return y == 0 ? 0 : y == -1 ? wrapped : floored;
}
SHOAL_INLINE uint64_t FloorQuotient(uint64_t x, uint64_t y) { return y == 0 ? 0 : x / y; }

template <class T>
struct FloorParts {
  T quotient;
  T rest;
};

// NumPy's: from the exact remainder of the truncated division, corrected to the divisor's sign.
template <std::floating_point T>
SHOAL_INLINE FloorParts<T> FloorDivide2(T x, T y) {
  const T truncated = std::fmod(x, y);
  const bool other_sign = truncated != 0 && (y < 0) != (truncated < 0);
  const T rest = truncated == 0 ? std::copysign(T{0}, y) : other_sign ? truncated + y : truncated;
  const T near = (x - truncated) / y - (other_sign ? T{1} : T{0});  // Whole, but for rounding.
  const T floored = std::floor(near);
  const T whole = near - floored > T{0.5} ? floored + 1 : floored;
  return {near == 0 ? std::copysign(T{0}, x / y) : whole, rest};
}

struct FloorDivide : Plain<FloorDivide> {
  template <std::integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    return FloorQuotient(x, y);
  }
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x, T y) {
    return y == 0 ? x / y : FloorDivide2(x, y).quotient;
  }
};

struct Remainder : Plain<Remainder> {
  template <std::integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    using U = Signless<T>;
    const T product = static_cast<T>(Times(static_cast<U>(FloorQuotient(x, y)), static_cast<U>(y)));
    const T rest = static_cast<T>(Minus(static_cast<U>(x), static_cast<U>(product)));
    return y == 0 ? T{0} : rest;
  }
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x, T y) {
    return FloorDivide2(x, y).rest;
  }
};

#define SHOAL_OPS(X)             \
  X(Divide, "divide")            \
  X(FloorDivide, "floor_divide") \
  X(Remainder, "remainder")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
